"""`python -m mvrbm`: the command line."""

import sys

from mvrbm.cli import main

if __name__ == "__main__":
    sys.exit(main())
