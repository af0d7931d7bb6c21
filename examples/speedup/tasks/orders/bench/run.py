"""Seconds of each function, the fastest of five, in times.json."""

import json
import sys
from pathlib import Path
from timeit import repeat

sys.path.insert(0, str(Path(__file__).parents[1]))

import orders

NAMES = [f"customer {number * 7919 % 40}" for number in range(10_000)]
ORDERS = [(f"customer {number * 7919 % 15}", number % 97) for number in range(10_000)]

times = {
    "orders.time_unique(10000)": min(repeat(lambda: orders.unique(NAMES), number=1, repeat=5)),
    "orders.time_totals(10000)": min(repeat(lambda: orders.totals(ORDERS), number=1, repeat=5)),
}
Path("times.json").write_text(json.dumps(times))
