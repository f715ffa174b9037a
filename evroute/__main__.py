"""``python -m evroute``: the command line."""

from evroute.cli import main

if __name__ == "__main__":
    main()
