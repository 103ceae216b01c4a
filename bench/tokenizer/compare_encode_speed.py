#!/usr/bin/env python3
"""Encoding speed of one thread: ours, tiktoken's and Hugging Face tokenizers', on the same documents, in one run.

    pip install tokenizers tiktoken numpy
    python bench/tokenizer/compare_encode_speed.py --bench build/cpu/bin/encode_bench --tokenizers ../shared/data/tokenizers \\
        --text English=../shared/data/text/novels_en --text Chinese=../shared/data/text/zh_songci

GPT-2's tokenizer, which all three read. The programs take turns; a time is CPU time of the thread, the best of the rounds, and for
ours also the first round of a process, when its cache holds the vocabulary alone («cold»). tiktoken and Hugging Face are called
in the fastest way they have (ids into an array; batches without offsets). Fails if the programs give different numbers of ids.
"""

import argparse
import base64
import json
import os
import pathlib
import subprocess
import sys
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

import tiktoken  # noqa: E402
from tiktoken_ext import openai_public  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402


def documents_of(data, size):
    documents, begin = [], 0
    while begin < len(data):
        end = data.find(b"\n", begin + size - 1) + 1 if size else len(data)
        end = end or len(data)
        documents.append(data[begin:end].decode())
        begin = end
    return documents


def timed(encode, documents):
    start = time.thread_time()
    tokens = encode(documents)
    return time.thread_time() - start, tokens


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default="build/cpu/bin/encode_bench")
    parser.add_argument("--tokenizers", default="../shared/data/tokenizers", type=pathlib.Path)
    parser.add_argument("--text", action="append", required=True, help="NAME=FILE or NAME=FOLDER; repeatable")
    parser.add_argument("--document-bytes", type=int, default=4096, help="0: files are not cut")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()

    ranks_file = options.tokenizers / "r50k_base.tiktoken"
    ranks = {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, open(ranks_file, "rb"))}
    theirs = tiktoken.Encoding("r50k", pat_str=openai_public.r50k_pat_str, mergeable_ranks=ranks, special_tokens={})
    hf = Tokenizer.from_file(str(options.tokenizers / "gpt2_hf_tokenizer.json"))
    hf.encode_special_tokens = True
    others = {
        "tiktoken": lambda texts: sum(len(theirs.encode_to_numpy(text, disallowed_special=())) for text in texts),
        "HF": lambda texts: sum(len(one) for one in hf.encode_batch_fast(texts, add_special_tokens=False)),
    }
    print(f"{'text':<9} {'MB':>6} {'ours':>8} {'(cold)':>8} {'tiktoken':>9} {'HF':>6}  MB/s | {'tiktoken':>8} {'(cold)':>7} {'HF':>6} {'(cold)':>7}  times")
    for name, _, path in (text.partition("=") for text in options.text):
        root = pathlib.Path(path)
        files = [root] if root.is_file() else sorted(file for file in root.rglob("*") if file.is_file())
        documents = [document for file in files for document in documents_of(file.read_bytes(), options.document_bytes)]
        command = [options.bench, str(ranks_file), str(options.document_bytes), "2", *map(str, files)]
        best, counts = {}, {}
        for _ in range(options.rounds):
            ours = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            for who, (seconds, tokens) in {"ours": (ours["best"], ours["tokens"]), "cold": (ours["first"], ours["tokens"]),
                                           **{who: timed(encode, documents) for who, encode in others.items()}}.items():
                best[who] = min(best.get(who, seconds), seconds)
                counts[who] = tokens
        rate = {who: ours["bytes"] / seconds / 1e6 for who, seconds in best.items()}
        print(f"{name:<9} {ours['bytes'] / 1e6:>6.1f} {rate['ours']:>8.1f} {rate['cold']:>8.1f} {rate['tiktoken']:>9.2f} {rate['HF']:>6.2f}       |"
              f" {rate['ours'] / rate['tiktoken']:>8.1f} {rate['cold'] / rate['tiktoken']:>7.1f} {rate['ours'] / rate['HF']:>6.1f} {rate['cold'] / rate['HF']:>7.1f}", flush=True)
        if len(set(counts.values())) != 1:
            sys.exit(f"different numbers of ids: {counts}")


if __name__ == "__main__":
    main()
