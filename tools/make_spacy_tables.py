"""Writes src/ingest/clean/splitters/spacy_data.inc: the tables of spaCy's rule-based English tokenizer.

usage: make_spacy_tables.py >src/ingest/clean/splitters/spacy_data.inc      (needs spacy 3.8; MIT licence)

Characters get one bit per class of the affix rules; the classes are spaCy's own regular expressions,
asked about every code point. Exceptions are written as their pieces with a tab between them; those that
a last pass looks for across token boundaries follow as the tokens they would be without exceptions.
"""

import re
import sys

import spacy
from spacy.lang import char_classes as classes
from spacy.symbols import ORTH

SUFFIX_BEFORE_DOT = "[0-9{al}{e}{p}(?:{q})]".format(
    al=classes.ALPHA_LOWER, e=r"%²\-\+", q=classes.CONCAT_QUOTES, p=classes.PUNCT)


def single(pieces):
    """A regular expression of the pieces that are one character."""
    return "|".join(piece for piece in pieces if len(re.sub(r"\\(.)", r"\1", piece)) == 1)


# In the order of SpacyClass in spacy_affixes.h.
CLASSES = [
    ("alpha", f"[{classes.ALPHA}]"),
    ("lower", f"[{classes.ALPHA_LOWER}]"),
    ("upper", f"[{classes.ALPHA_UPPER}]"),
    ("icon", classes.LIST_ICONS[0]),
    ("quote", f"[{classes.CONCAT_QUOTES}]"),
    ("before_final_dot", SUFFIX_BEFORE_DOT),
    ("prefix", "|".join(["§", "%", "=", "—", "–", single(classes.LIST_PUNCT), "…", single(classes.LIST_QUOTES),
                         single(classes.LIST_CURRENCY), classes.LIST_ICONS[0]])),
    ("suffix", "|".join([single(classes.LIST_PUNCT), "…", single(classes.LIST_QUOTES), classes.LIST_ICONS[0],
                         "—", "–"])),
    ("currency", single(classes.LIST_CURRENCY)),
    ("host", "[A-Za-z0-9\u00a1-\uffff]"),
]


def literal(text):
    return '"' + "".join(
        {'"': '\\"', "\\": "\\\\", "\t": "\\t", "\n": "\\n", "?": "\\?"}.get(char, char) for char in text) + '"'


def emit(name, kind, items):
    print(f"constexpr {kind} {name}[] = {{")
    line = ""
    for item in items:
        if len(line) + len(item) > 100:
            print(line)
            line = ""
        line += item + ","
    print(line + "};")


def without_special_cases(tokenizer, text):
    """What the affix rules alone make of `text`: those of another tokenizer without rules."""
    bare = spacy.tokenizer.Tokenizer(
        tokenizer.vocab, rules={}, prefix_search=tokenizer.prefix_search, suffix_search=tokenizer.suffix_search,
        infix_finditer=tokenizer.infix_finditer, url_match=tokenizer.url_match)
    return [token.text for token in bare(text)]


def main():
    if not spacy.__version__.startswith("3.8."):
        sys.exit(f"expected spacy 3.8, got {spacy.__version__}")
    tokenizer = spacy.blank("en").tokenizer
    patterns = [re.compile(pattern) for _, pattern in CLASSES]
    runs = []
    for code in range(0x110000):
        char = chr(code)
        bits = sum((pattern.fullmatch(char) is not None) << bit for bit, pattern in enumerate(patterns))
        if not runs or runs[-1][1] != bits:
            runs.append((code, bits))
    print(f"// Made by tools/make_spacy_tables.py from spaCy {spacy.__version__} (MIT licence). Do not edit.")
    emit("kClassRuns", "text::CodePointRun<uint16_t>", [f"{{{code:#x},{bits}}}" for code, bits in runs])
    # The alternation is searched at the end of a chunk, so its order does not matter.
    emit("kUnits", "std::string_view", [literal(unit) for unit in sorted(set(classes.LIST_UNITS))])
    rules = {text: [piece[ORTH] for piece in pieces] for text, pieces in tokenizer.rules.items()}
    assert all("\t" not in text or text == "\t" for text in rules)
    visible = {text: pieces for text, pieces in sorted(rules.items()) if not text.isspace()}
    emit("kExceptions", "std::string_view", [literal("\t".join(pieces)) for pieces in visible.values()])
    sequences = set()
    for text in visible:
        if tokenizer.find_prefix(text) or tokenizer.find_suffix(text) or tokenizer.find_infix(text):
            sequences.add(tuple(without_special_cases(tokenizer, text)))
    emit("kSequences", "std::string_view", [literal("\t".join(tokens)) for tokens in sorted(sequences)])


if __name__ == "__main__":
    main()
