#!/usr/bin/env python3
"""Makes tests/golden/tokenizer/encode.txt: hashes of the ids that Hugging Face tokenizers and tiktoken
give for every file of ../shared/data/text and for tests/golden/tokenizer/code.txt.

    python tools/goldens/make_encode_goldens.py        # needs tokenizers, tiktoken, numpy, xxhash

(made with tokenizers 0.23.3, tiktoken 0.14.0). A line is the text's path, then for each tokenizer
the number of ids and the XXH64 of them as little-endian uint32. No text goes into the file.
Special tokens in the text are not looked for, as in our encode(): HF's encode_special_tokens.
"""

import base64
import pathlib

import numpy
import tiktoken
import xxhash
from tiktoken_ext import openai_public
from tokenizers import Tokenizer

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared/data"
OUT = ROOT / "tests/golden/tokenizer/encode.txt"


def hugging_face(name):
    tokenizer = Tokenizer.from_file(str(DATA / "tokenizers" / name))
    tokenizer.encode_special_tokens = True
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids


def ranks_of(name):
    with open(DATA / "tokenizers" / name, "rb") as file:
        return {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, file)}


def rank_merger(name, pattern):
    encoding = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks_of(name), special_tokens={})
    return lambda text: encoding.encode_to_numpy(text, disallowed_special=())


def main():
    tokenizers = {
        name: hugging_face(name)
        for name in ("gpt2_hf_tokenizer.json", "dolma2_hf_tokenizer.json", "gpt_neox_olmo_hf_tokenizer.json", "minimind_6400_hf_tokenizer.json")
    }
    tokenizers["r50k_base.tiktoken"] = rank_merger("r50k_base.tiktoken", openai_public.r50k_pat_str)
    texts = sorted(path for path in (DATA / "text").rglob("*") if path.is_file())
    with open(OUT, "w", encoding="utf-8") as file:
        file.write("# " + " ".join(tokenizers) + "\n")
        for path in [ROOT / "tests/golden/tokenizer/code.txt", *texts]:
            text = path.read_bytes().decode()
            shown = path.relative_to(ROOT if path.is_relative_to(ROOT) else ROOT.parent)
            fields = []
            for encode in tokenizers.values():
                ids = numpy.asarray(encode(text), dtype="<u4")
                fields.append(f"{len(ids)} {xxhash.xxh64(ids.tobytes()).hexdigest()}")
            file.write("\t".join([str(shown), *fields]) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
