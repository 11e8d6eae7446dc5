"""`python -m clinker`: the `clinker` command where the interpreter at hand has it."""

import sys

from clinker.cli.clinker import main

sys.exit(main())
