"""What an answer of a provider may be: it is read by the process that holds the keys.

A model of today writes 128,000 tokens at most. Each takes up to 9 bytes (two characters, escaped), and a value with its
comma takes two of them.
"""

from __future__ import annotations

ANSWER_LIMIT = 4_000_000
"""Bytes of an answer, unpacked; characters of what a stream's events make together."""
STREAM_LIMIT = 32_000_000
"""Bytes of a stream of events, most of which are around the words: one of 128,000 tokens has about 30 MB."""
MOST_VALUES = 65_000
"""Values of an answer's JSON, or of an event's; of what a stream's events make; of all arguments that come as texts."""
MOST_LINES = 1_000_000
"""Lines of a stream: three for each token, and some that say nothing."""
