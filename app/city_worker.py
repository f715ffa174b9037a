"""Loading of a city in a separate process: ``python city_worker.py PLACE NAME``.

It prints the number of each step of `city.STEPS` as the step begins, and at last "done" or, after
"error ", one sentence. The process ends when its input ends: when the server ends or is killed.
"""

import os
import sys
from threading import Thread

from evroute.errors import EvrouteError
from evroute.network import catalog, city

DONE, ERROR = "done", "error "


def main(place: str, name: str) -> None:
    Thread(target=_leave_with_server, daemon=True).start()
    try:
        found = city.look_up(place)
        catalog.keep(city.load(found, name, lambda step: print(step, flush=True)))
        print(DONE, flush=True)
    except (EvrouteError, OSError) as error:
        print(ERROR + " ".join(str(error).split()), flush=True)


def _leave_with_server() -> None:
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
