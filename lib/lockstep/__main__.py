"""``python -m lockstep``: the command line where the package is not installed."""

import sys

from lockstep.cli import main

sys.exit(main())
