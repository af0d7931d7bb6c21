import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import words

TEXT = " ".join(f"word{number * 7919 % 25}" for number in range(6000))
TERMS = [f"word{number}" for number in range(12)]


def test_count(benchmark):
    benchmark(words.count, TEXT)


def test_mark(benchmark):
    benchmark(words.mark, TEXT, TERMS)
