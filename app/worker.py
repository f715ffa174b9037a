"""A simulation in a process of its own: ``python worker.py EXPERIMENT.toml FOLDER PROGRESS.json``.

So the server stays quick for every tab, and stopping it loses no finished run. The progress file
tells ``{"done": rounds, "total": rounds}``, or ``{"error": sentence}``.
"""

import json
import sys
from pathlib import Path
from time import monotonic

from evroute.errors import EvrouteError
from evroute.experiments.experiment import Experiment, simulate
from evroute.files import replacing

EVERY_S = 0.5


def main(experiment: Path, folder: Path, progress: Path) -> None:
    told_at = 0.0

    def tell(**what: object) -> None:
        with replacing(progress) as temporary:
            temporary.write_text(json.dumps(what), encoding="utf-8")

    def on_progress(done: int, total: int) -> None:
        nonlocal told_at
        if done == total or monotonic() - told_at > EVERY_S:
            told_at = monotonic()
            tell(done=done, total=total)

    try:
        simulate(
            Experiment.model_validate_json(experiment.read_text(encoding="utf-8")),
            folder,
            on_progress=on_progress,
        )
    except (EvrouteError, OSError) as error:
        tell(error=str(error))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
