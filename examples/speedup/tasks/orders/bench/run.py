"""Seconds of each function, the fastest of three, in times.json."""

import json
import sys
from pathlib import Path
from timeit import repeat

sys.path.insert(0, str(Path(__file__).parents[1]))

import orders

NAMES = [f"customer {number * 7919 % 900}" for number in range(1500)]
ORDERS = [(f"customer {number * 7919 % 120}", number % 97) for number in range(4000)]

times = {
    "orders.time_unique(1500)": min(repeat(lambda: orders.unique(NAMES), number=1, repeat=3)),
    "orders.time_totals(4000)": min(repeat(lambda: orders.totals(ORDERS), number=1, repeat=3)),
}
Path("times.json").write_text(json.dumps(times))
