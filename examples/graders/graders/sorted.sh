#!/bin/sh
# The totals are sorted by customer. Standard input has the trial as JSON; the working folder is a copy of its files.
[ -s totals.txt ] || { echo "there is no totals.txt"; exit 1; }
LC_ALL=C sort -c totals.txt 2>/dev/null || { echo "totals.txt is not sorted"; exit 1; }
echo "sorted"
