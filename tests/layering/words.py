"""Finds the private words of words.toml in sources and documents."""

import os
import re
import tomllib

with open(os.path.join(os.path.dirname(__file__), "words.toml"), "rb") as table:
    TABLE = tomllib.load(table)
PATTERNS = [(re.compile(row["pattern"], re.IGNORECASE), row["use"]) for row in TABLE["word"]]
ALLOWED = re.compile(r"([\"`])(?:" + "|".join(TABLE["allowed"]["quoted"]) + r")\1|\b(?:" +
                     "|".join(TABLE["allowed"]["names"]) + r")\b")
WHERE = re.compile(r"^(src|docs)/")


def check_words(path, text):
    """(offset, message) for each private word of a file."""
    if not WHERE.match(path):
        return
    text = ALLOWED.sub(lambda match: " " * len(match[0]), text)
    for pattern, use in PATTERNS:
        for match in pattern.finditer(text):
            yield match.start(), f"«{match[0]}»: the field says {use}"
