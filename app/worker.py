"""A simulation in a separate process: ``python worker.py FOLDER``, with its experiment on stdin.

The server stays quick for every tab, and stopping a simulation loses no finished run. The process
ends when its input ends: when the server ends or is killed. ``.progress.json`` in the folder holds
``{"done": rounds, "total": rounds}`` while it works. The experiment is a line of JSON. The output
is the error that ended the work, if there was one.
"""

import json
import os
import sys
from pathlib import Path
from threading import Thread
from time import monotonic

from evroute.errors import EvrouteError
from evroute.experiments.experiment import Experiment, simulate
from evroute.files import replacing

EVERY_S = 0.5
PROGRESS = ".progress.json"


def main(folder: Path) -> None:
    experiment = Experiment.model_validate_json(sys.stdin.readline())
    Thread(target=_leave_with_server, daemon=True).start()
    written_at = 0.0

    def on_progress(done: int, total: int) -> None:
        nonlocal written_at
        if done == total or monotonic() - written_at > EVERY_S:
            written_at = monotonic()
            with replacing(folder / PROGRESS) as temporary:
                temporary.write_text(json.dumps({"done": done, "total": total}), encoding="utf-8")

    try:
        simulate(experiment, folder, on_progress=on_progress)
    except (EvrouteError, OSError) as error:
        print(error)
    finally:
        (folder / PROGRESS).unlink(missing_ok=True)


def _leave_with_server() -> None:
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
