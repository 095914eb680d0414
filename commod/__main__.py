"""``python -m commod``."""

import sys

from commod.cli import main

if __name__ == "__main__":
    sys.exit(main())
