import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import words

TEXT = " ".join(f"word{number * 7919 % 400}" for number in range(3000))
TERMS = [f"word{number}" for number in range(60)]


def test_count(benchmark):
    benchmark(words.count, TEXT)


def test_mark(benchmark):
    benchmark(words.mark, TEXT, TERMS)
