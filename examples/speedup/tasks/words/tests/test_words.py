import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import words


def test_count():
    assert words.count("a b a c a b") == [["a", 3], ["b", 2], ["c", 1]]


def test_count_of_nothing():
    assert words.count("") == []


def test_mark():
    assert words.mark("the cat sat", ["cat"]) == "the *cat* sat"


def test_mark_takes_whole_words():
    assert words.mark("concatenate", ["cat"]) == "concatenate"
