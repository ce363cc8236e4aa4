"""`python -m freehold`: the program."""

import signal
import sys

from . import _native


def main() -> int:
    """Runs the program with the arguments of this process; its exit code."""
    # Ctrl-C ends the program, as it does outside Python.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.main(["freehold", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
