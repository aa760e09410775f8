"""`python -m indexer` is `letopis build` by another name: the nightly job alone."""

from __future__ import annotations

import sys

from service.cli import main

if __name__ == "__main__":
    sys.exit(main(["build", *sys.argv[1:]]))
