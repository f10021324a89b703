"""``python -m aucbench``."""

import sys

from aucbench.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
