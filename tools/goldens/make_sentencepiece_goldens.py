#!/usr/bin/env python3
"""Makes tests/golden/tokenizer/sentencepiece.txt: what SentencePiece makes of ../shared/data/text.

    python tools/goldens/make_sentencepiece_goldens.py        # needs sentencepiece (0.2.2), xxhash, ../shared

The model is ../shared/data/tokenizers/sentencepiece_test_unigram.model. A line holds: corpus (a folder of
../shared/data/text), what a document is (a file, or a line of one), number of ids, and the XXH64 hash of, for each
document, its ids as little-endian int32 and the decoded text.
"""

import array
import pathlib

import sentencepiece
import xxhash

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared/data"
MODEL = sentencepiece.SentencePieceProcessor(model_file=str(SHARED / "tokenizers/sentencepiece_test_unigram.model"))


def documents(corpus, mode):
    for path in sorted(p for p in (SHARED / "text" / corpus).rglob("*") if p.is_file()):
        data = path.read_bytes()
        if mode == "files":
            yield data
        else:
            yield from data.removesuffix(b"\n").split(b"\n")


def golden(corpus, mode):
    count, state = 0, xxhash.xxh64()
    for document in documents(corpus, mode):
        ids = MODEL.encode(document)
        count += len(ids)
        state.update(array.array("i", ids).tobytes())
        text = MODEL.decode(ids)
        state.update(text if isinstance(text, bytes) else text.encode())
    return count, state.hexdigest()


with open(ROOT / "tests/golden/tokenizer/sentencepiece.txt", "w") as out:
    for corpus in ("novels_en", "zh_d2l", "zh_songci", "ja"):
        for mode in ("files", "lines"):
            print(corpus, mode, *golden(corpus, mode), file=out, flush=True)
