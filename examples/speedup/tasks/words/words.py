"""What a reader asks of a text."""

import re


def count(text):
    """How often each word comes, the most frequent first, those of equal number in the order of the text."""
    words = text.split()
    seen = []
    for word in words:
        if word not in seen:
            seen.append(word)
    return sorted(([word, words.count(word)] for word in seen), key=lambda pair: -pair[1])


def mark(text, terms):
    """The text with asterisks around each of the terms, wherever it stands as a whole word."""
    for term in terms:
        text = re.sub(rf"\b{re.escape(term)}\b", f"*{term}*", text)
    return text
