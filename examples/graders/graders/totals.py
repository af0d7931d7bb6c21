"""Is the total that the task asked for right, whatever it was written as?"""

import csv
import re

from evalward.graders import Grade, Graded


def total_is_right(graded: Graded) -> Grade:
    """Half for the file with one total per customer, half for the sum that was printed."""
    with graded.path("/data/orders.csv").open(encoding="utf-8", newline="") as orders:
        rows = list(csv.DictReader(orders))
    expected: dict[str, float] = {}
    for row in rows:
        expected[row["customer"]] = expected.get(row["customer"], 0.0) + float(row["amount"])
    found = dict(re.findall(r"^(\S+)\s+(\d+(?:\.\d+)?)$", graded.text("totals.txt") or "", re.MULTILINE))
    wrong = [name for name, total in expected.items() if abs(float(found.get(name, "inf")) - total) > 0.005]
    printed = re.findall(r"\d+(?:\.\d+)?", graded.calls[-1].stdout) if graded.calls else []
    summed = any(abs(float(number) - sum(expected.values())) <= 0.005 for number in printed)
    score = 0.5 * (not wrong) + 0.5 * summed
    detail = f"wrong totals: {', '.join(wrong) or 'none'}; the sum was {'' if summed else 'not '}printed"
    return Grade(passed=score == 1.0, score=score, detail=detail)
