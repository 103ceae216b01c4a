#!/usr/bin/env python3
"""Makes tests/golden/tokenizer/split.jsonl: texts and the sizes of their pieces under each pattern, as
two regex engines agree on them.

    python tools/goldens/make_split_goldens.py     # needs regex, tiktoken (made with 2026.11.9, 0.14.0)

The patterns are the published ones (docs/tokenizer.md), matched by Python's `regex`. tiktoken's engine
is asked too: given every piece as a token of its own, it must give back exactly these tokens.
Texts are drawn from characters that the patterns treat differently, with a fixed seed. Characters
whose class changed after Unicode 16 are not among them, since `regex` is newer.
"""

import json
import pathlib
import random

import regex
import tiktoken

OUT = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/tokenizer/split.jsonl"

CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
PATTERNS = {
    "gpt2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "cl100k": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    "llama3": CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + SPACES,
    "qwen2": CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + SPACES,
    "o200k": rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{CONTRACTIONS}?|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{CONTRACTIONS}?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|" + SPACES,
    "nanochat": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
}
# `regex` lets $ match before a last line break, as Python does; Rust's does not.
PYTHON = {name: pattern.replace("$", r"\Z") for name, pattern in PATTERNS.items()}

LETTERS = ["a", "b", "s", "t", "d", "m", "l", "r", "e", "v", "x", "A", "S", "L", "E", "Z", "é", "É", "ß", "ſ", "K", "ж", "Ж", "ǅ",
           "ʰ", "ª", "你", "好", "の", "カ", "한", "ا", "ש", "क", "𝐀", "𐐷", "Ⴀ", "ა"]
NUMBERS = ["0", "1", "9", "٣", "१", "½", "²", "Ⅷ", "㊿", "𝟘"]
SPACES_TOO = [" ", " ", " ", "\n", "\r", "\t", "\v", "\f", "\u0085", "\u00a0", "\u1680", "\u2003", "\u2028", "\u202f", "\u3000"]
OTHERS = ["'", "'", "'", "’", "\"", ".", ",", "/", "/", "-", "_", "(", "<", "|", "$", "，", "。", "“", "—", "€", "😀", "\u001c", "\u200b",
          "\u200d", "\u0000", "\ufeff", "\U0010ffff"]
MARKS = ["\u0301", "\u0308", "ा", "\u20dd", "\u05b4"]
WORDS = ["don't", "I'LL", "we'Ve", "HTTPServer's", "fooBar", "x's", "'re", "'Ll", "'ſ", "  ", "   ", "\n\n", "\r\n", " \n ", "//\n", "/*", "123456",
         "!!!", "...", "Hello", " world", "中文ABC", "ABC中文", "使用Python编程", "aB", "ABc", "\t\t", "    ", "“Hi”", "it’s"]


def text_of(rng, longest):
    kinds = rng.choices([LETTERS, NUMBERS, SPACES_TOO, OTHERS, MARKS, WORDS], weights=[rng.random() for _ in range(6)], k=rng.randint(1, longest))
    return "".join(rng.choice(kind) * rng.choice((1, 1, 1, 1, 2, 3)) for kind in kinds)


def main():
    rng = random.Random(20250114)
    texts = [text_of(rng, 4) for _ in range(300)] + [text_of(rng, 14) for _ in range(400)] + [text_of(rng, 120) for _ in range(60)]
    sizes = [{} for _ in texts]
    for name in PATTERNS:
        all_pieces = [[m[0].encode() for m in regex.finditer(PYTHON[name], text)] for text in texts]
        ranks = {bytes([byte]): byte for byte in range(256)}
        for pieces in all_pieces:
            for piece in pieces:
                ranks.setdefault(piece, len(ranks))
        tokens = tiktoken.Encoding(name, pat_str=PATTERNS[name], mergeable_ranks=ranks, special_tokens={})
        for text, pieces, into in zip(texts, all_pieces, sizes):
            assert b"".join(pieces) == text.encode(), (name, text)
            assert tokens.encode_ordinary(text) == [ranks[piece] for piece in pieces], (name, text, pieces)
            into[name] = [len(piece) for piece in pieces]
    OUT.parent.mkdir(parents=True, exist_ok=True)
    with open(OUT, "w", encoding="ascii") as file:
        for text, into in zip(texts, sizes):
            file.write(json.dumps({"text": text, **into}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
