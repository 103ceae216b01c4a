#!/usr/bin/env python3
"""Makes tests/golden/tokenizer/bpe_trainer.txt: what Hugging Face's BpeTrainer learns from ../shared/data/text.

    python tools/goldens/make_bpe_trainer_goldens.py        # needs tokenizers (0.23.3), xxhash, ../shared

A line holds: corpus (a folder or file of ../shared/data/text, whose files are the documents in the order of their
paths), vocabulary size, min_frequency, max_token_length (0: none), number of merges, and the XXH64 hash of
the merges, each as three little-endian int32: left id, right id, id. One special token, <|endoftext|>; all 256 bytes; GPT-2's split.
"""

import json
import pathlib
import struct

import xxhash
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXT = ROOT.parent / "shared/data/text"
CASES = [
    ("novels_en", 32768, 0, 0),
    ("zh_d2l", 32768, 0, 0),
    ("zh_d2l", 60000, 2, 8),
    ("ja", 32768, 0, 0),
    ("ja", 300000, 0, 0),
]


def documents(corpus):
    for path in sorted(p for p in (TEXT / corpus).rglob("*") if p.is_file()):
        yield path.read_bytes().decode()


def merges(corpus, vocab, min_frequency, max_length):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    limit = {"max_token_length": max_length} if max_length else {}
    trainer = trainers.BpeTrainer(vocab_size=vocab, min_frequency=min_frequency, special_tokens=["<|endoftext|>"],
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False, **limit)
    tokenizer.train_from_iterator(documents(corpus), trainer)
    model = json.loads(tokenizer.to_str())["model"]
    ids = model["vocab"]
    return b"".join(struct.pack("<3i", ids[a], ids[b], ids[a + b]) for a, b in model["merges"])


with open(ROOT / "tests/golden/tokenizer/bpe_trainer.txt", "w") as out:
    for case in CASES:
        learnt = merges(*case)
        print(*case, len(learnt) // 12, xxhash.xxh64_hexdigest(learnt), file=out, flush=True)
