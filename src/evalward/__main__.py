"""`python -m evalward`."""

from evalward.entry import main

main()
