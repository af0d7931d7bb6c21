"""Rows of a CSV table, and total and average of every column that holds numbers only."""

import csv
import sys
from pathlib import Path


def numbers(values):
    """The values as numbers; none where one of them is not a number."""
    try:
        return [float(value) for value in values]
    except ValueError:
        return []


def main(file):
    """Print the report as Markdown."""
    with Path(file).open(newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    print(f"{len(rows)} rows\n\n| column | total | average |\n|:---|---:|---:|")
    for column in rows[0] if rows else []:
        found = numbers(row[column] for row in rows)
        if found:
            print(f"| {column} | {sum(found):g} | {sum(found) / len(found):g} |")


main(sys.argv[1])
