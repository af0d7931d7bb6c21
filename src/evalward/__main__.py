"""`python -m evalward`."""

from evalward.cli import main

main()
