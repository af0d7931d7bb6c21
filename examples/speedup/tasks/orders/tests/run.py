"""The tests, and their counts for whoever reads tests.json."""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import orders


class Orders(unittest.TestCase):
    def test_unique_keeps_the_first_of_each(self):
        assert orders.unique(["pear", "apple", "pear", "fig", "apple"]) == ["pear", "apple", "fig"]

    def test_unique_keeps_the_order_of_many(self):
        names = [f"customer {number * 7 % 50}" for number in range(200)]
        assert orders.unique(names) == names[:50]

    def test_unique_of_nothing(self):
        assert orders.unique([]) == []

    def test_totals_add_up(self):
        assert orders.totals([("ann", 2), ("bob", 5), ("ann", 3)]) == [["ann", 5], ["bob", 5]]


done = unittest.main(exit=False, verbosity=0).result
failed, error, skipped = len(done.failures), len(done.errors), len(done.skipped)
passed = done.testsRun - failed - error - skipped
counts = {"passed": passed, "failed": failed, "error": error, "skipped": skipped, "total": done.testsRun}
Path("tests.json").write_text(json.dumps(counts))
sys.exit(not done.wasSuccessful())
