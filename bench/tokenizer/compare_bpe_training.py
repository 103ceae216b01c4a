#!/usr/bin/env python3
"""BPE training by `ingot tokenizer train` and by Hugging Face tokenizers on the same files, threads and options.

    python bench/tokenizer/compare_bpe_training.py --ingot build/cpu/ingot --threads 2 FILE…      # needs tokenizers

Prints wall and CPU seconds of both, the best of interleaved rounds, and the ratios; fails if the merges differ. Both
times are those of whole processes, from start to finished tokenizer.json. FILEs are text, a document each (.txt, .md).
"""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

HF = """
import pathlib, sys
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
vocab, out, *files = sys.argv[1:]
tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
trainer = trainers.BpeTrainer(vocab_size=int(vocab), special_tokens=["<|endoftext|>"], show_progress=False,
                              initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
tokenizer.train_from_iterator((pathlib.Path(file).read_bytes().decode("utf-8-sig") for file in files), trainer)
tokenizer.save(out)
"""


def timed(command, threads):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=os.environ | {"RAYON_NUM_THREADS": str(threads)})
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def merges(path):
    return [pair.split(" ") if isinstance(pair, str) else pair for pair in json.load(open(path))["model"]["merges"]]


parser = argparse.ArgumentParser()
parser.add_argument("--ingot", default="build/cpu/ingot")
parser.add_argument("--threads", type=int, default=os.cpu_count())
parser.add_argument("--vocab", type=int, default=32768)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("files", nargs="+")
options = parser.parse_args()

with tempfile.TemporaryDirectory() as folder:
    ours, theirs = str(pathlib.Path(folder) / "ours.json"), str(pathlib.Path(folder) / "theirs.json")
    run_ours = [options.ingot, "tokenizer", "train", "--split", "gpt2", "--vocab", str(options.vocab), "--threads",
                str(options.threads), "--force", "--out", ours, "--input", *options.files]
    run_theirs = [sys.executable, "-c", HF, str(options.vocab), theirs, *options.files]
    times = [(timed(run_ours, options.threads), timed(run_theirs, options.threads)) for _ in range(options.rounds)]
    for i, kind in enumerate(("wall", "CPU")):
        best = [min(round[who][i] for round in times) for who in (0, 1)]
        print(f"{kind}: ours {best[0]:.2f} s, Hugging Face {best[1]:.2f} s, {best[1] / best[0]:.1f} times")
    if merges(ours) != merges(theirs):
        sys.exit("the merges differ")
