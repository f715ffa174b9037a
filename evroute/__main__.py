"""``python -m evroute`` and the program ``evroute``: the command line.

Nothing is imported before `main` runs. So an interrupt while modules load is one line, too, and
processes that start afresh, which import this module again, load no command.
"""

import gc
import sys


def main() -> None:
    """Run the command line (`evroute.cli.main`) and end this process."""
    try:
        from evroute.cli import main as run

        run()
    except KeyboardInterrupt:
        print("evroute: interrupted", file=sys.stderr)
        sys.exit(130)
    finally:
        # Python ends by the signal after an interrupt within exec, as while a dataclass is made,
        # until it runs another text
        eval("0")
        gc.freeze()  # else Python looks for cycles among all objects at its end: 0.2 to 0.6 s


if __name__ == "__main__":
    main()
