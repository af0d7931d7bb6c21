"""Orders that were read, measured by metrics that need no model."""

import pytest
from deepeval import assert_test
from deepeval.metrics import ExactMatchMetric, PatternMatchMetric
from deepeval.test_case import LLMTestCase
from orders import read_order

CASES = {
    "one-line": ("Order A-1203: 2 lamps, please.", "A-1203 lamp 2"),
    "in-words": ("I'd like two bulbs more for order B-2210.", "B-2210 bulb 2"),
    "late": ("B-7781 isn't here yet. It was 1 cable.", "B-7781 cable 1"),
    "polite": ("Dear team, could you add 3 bulbs to A-9921? Thanks!", "A-9921 bulb 3"),
    "three-cables": ("Where are my three cables (order C-4410)?", "C-4410 cable 3"),
    "shouting": ("A-5512!!! 4 lamps!!! NOW", "A-5512 lamp 4"),
}


@pytest.mark.parametrize("case", CASES)
def test_orders(case):
    mail, expected = CASES[case]
    test_case = LLMTestCase(name=case, input=mail, actual_output=read_order(mail), expected_output=expected)
    assert_test(test_case, [ExactMatchMetric(), PatternMatchMetric(r"[A-Z]-\d{4} \w+ \w+")])
