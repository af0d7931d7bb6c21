"""GitHub's own evaluators, in our words: a question to the judge about one property of the answer, on a scale to 5."""

from __future__ import annotations

from collections.abc import Mapping

from evalward.suites.prompt.file import EvaluatorChoice, LlmEvaluator

WORDS_VERSION = 1  # of all questions below: cases that use one are others with other words

_SCALE = [EvaluatorChoice(choice=str(grade), score=(grade - 1) / 4) for grade in range(1, 6)]
_ASKED = "What was asked:\n{{input}}\n\n"
_EXPECTED = "The answer that was expected:\n{{expected}}\n\n"
_SOURCE = "The source that the answer has to keep to:\n{{expected}}\n\n"
_ANSWER = "The answer:\n{{completion}}\n"


def _scale(question: str, *shown: str) -> LlmEvaluator:
    return LlmEvaluator(prompt=f"{question}\n\n{''.join(shown)}{_ANSWER}", choices=_SCALE)


BUILT_IN: Mapping[str, LlmEvaluator] = {
    "github/similarity": _scale(
        "Does the answer say the same as the expected one? Wording doesn't count, content does. 5: the same in all "
        "that matters; 4: small differences; 3: about half agrees; 2: little agrees; 1: something else.",
        _ASKED,
        _EXPECTED,
    ),
    "github/relevance": _scale(
        "Does the answer deal with what was asked? 5: all of it, correct, with useful context; 4: all of it, correct; "
        "3: a part is missing; 2: it tries, and is wrong; 1: it is about something else.",
        _ASKED,
    ),
    "github/coherence": _scale(
        "Do the answer's parts follow from each other, so that a reader can go along? 5: a clear line throughout; "
        "4: easy to follow; 3: with jumps that the reader has to bridge; 2: fragments; 1: no connection at all.",
        _ASKED,
    ),
    "github/fluency": _scale(
        "Is the answer well written: grammar, choice of words, sentences that read smoothly? What it says doesn't "
        "count. 5: flawless and rich; 4: good, hardly an error; 3: understandable, plain, some errors; 2: many errors; "
        "1: barely language.",
    ),
    "github/groundedness": _scale(
        "Does the answer say only what the source bears out, and all that was asked for? 5: complete, nothing beyond "
        "the source; 4: correct, something is missing; 3: it contradicts the source in places; 2: on the subject, but "
        "no answer; 1: nothing to do with the source.",
        _SOURCE,
        _ASKED,
    ),
}
"""By what `uses` says."""
