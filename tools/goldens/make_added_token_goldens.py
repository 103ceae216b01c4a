#!/usr/bin/env python3
"""Makes tests/golden/tokenizer/added_tokens.jsonl: texts with added tokens in them, and the ids that
Hugging Face tokenizers gives, with special tokens found in the text and without.

    python tools/goldens/make_added_token_goldens.py      # needs tokenizers (made with 0.23.3)

The tokenizer has the 256 bytes as ids 0 to 255 and one merge, " a" = 256; added tokens follow.
"""

import json
import pathlib
import random

from tokenizers import Tokenizer

OUT = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/tokenizer/added_tokens.jsonl"
CONTENTS = ["<s>", "<|end|>", "<|end|>x", "  ", "    ", "\n\n", "a a", "e\u0301", "E\u0301!", "|||X|||", "你", "[A]"]
PARTS = CONTENTS + [" ", " ", "\t", "\u3000", "a", "b", "é", "|", "<", "e", "\u0301", "É", "_", "1", ".", "中", "\u0327", "<|", "|>", "\u1100\u1161"]
FLAGS = ("special", "normalized", "lstrip", "rstrip", "single_word")


def spelling(byte):
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in plain]
    return chr(byte if byte in plain else 0x100 + others.index(byte))


def tokenizer_json(added, nfc):
    vocab = {spelling(byte): byte for byte in range(256)} | {"Ġa": 256}
    return json.dumps({
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added,
        "normalizer": {"type": "NFC"} if nfc else None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "post_processor": None, "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
                  "fuse_unk": False, "byte_fallback": False, "ignore_merges": False, "vocab": vocab, "merges": [["Ġ", "a"]]},
    })


def main():
    rng = random.Random(7)
    with open(OUT, "w", encoding="ascii") as file:
        for _ in range(60):
            contents = rng.sample(CONTENTS, rng.randint(1, 5))
            # HF skips a special match without looking for another inside it; ours has no such match.
            special = rng.random() < 0.5
            added = []
            for content in contents:
                token = {"id": 257 + len(added), "content": content, **{name: rng.random() < 0.3 for name in FLAGS}}
                token["special"] = special
                added.append(token)
            nfc = rng.random() < 0.5
            tokenizer = Tokenizer.from_str(tokenizer_json(added, nfc))
            cases = []
            for _ in range(10):
                text = "".join(rng.choice(PARTS + contents * 4) for _ in range(rng.randint(1, 12)))
                tokenizer.encode_special_tokens = True
                plain = tokenizer.encode(text, add_special_tokens=False).ids
                tokenizer.encode_special_tokens = False
                cases.append({"text": text, "ids": plain, "with_specials": tokenizer.encode(text, add_special_tokens=False).ids})
            file.write(json.dumps({"nfc": nfc, "added": added, "cases": cases}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
