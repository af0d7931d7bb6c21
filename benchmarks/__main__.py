"""`python -m benchmarks [PART …]`: all parts, or those named."""

from __future__ import annotations

import argparse
import sys
import time

from benchmarks.measure import table
from benchmarks.parts import PARTS


def main() -> None:
    """Print a table for each part."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"any of: {', '.join(PARTS)}")
    names = parser.parse_args().parts or list(PARTS)
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        parser.error(f"there is no part {', '.join(unknown)}; known: {', '.join(PARTS)}")
    began = time.monotonic()
    for name in names:
        title, measure = PARTS[name]
        print(table(f"{title} [{name}]", measure()))
        sys.stdout.flush()
    print(f"{time.monotonic() - began:.0f} s in all")


if __name__ == "__main__":
    main()
