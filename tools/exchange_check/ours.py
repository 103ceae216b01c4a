"""The program: its commands, and what they leave behind."""
import json
import os
import subprocess
import sys

import numpy
import torch
from safetensors.torch import load_file

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "goldens"))
import make_exchange_goldens  # noqa: E402
import make_family_goldens  # noqa: E402

write_tokenizer = make_exchange_goldens.write_tokenizer
ingot_names = make_family_goldens.ingot_names
SEED = 1337


class Program:
    def __init__(self, path, device, threads):
        self.path, self.device, self.threads = path, device, threads

    def run(self, *arguments):
        done = subprocess.run([self.path, *arguments], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(arguments)}: {done.stderr.strip()}")

    def import_folder(self, folder, out):
        self.run("checkpoint", "import", folder, "--out", out)

    def export(self, checkpoint, out):
        self.run("checkpoint", "export", checkpoint, "--to", "hf", "--out", out)

    def logits(self, checkpoint, ids, out):
        with open(out + ".ids", "w", encoding="utf-8") as file:
            file.write(" ".join(map(str, ids)))
        self.run("checkpoint", "logits", checkpoint, "--ids", out + ".ids", "--out", out, "--force",
                 "--device", self.device, "--threads", str(self.threads))
        return load_file(out)["logits"]

    def train(self, init, run, tokens, steps, batch, settings):
        """Losses of the steps, from the run's ledger."""
        values = {"train.init": init, "train.steps": steps, "train.precision": "fp32", "train.seed": SEED,
                  "data.train": tokens, "data.valid": tokens, "data.valid_in_train": True, "train.eval_tokens": 1, "batch.micro_batch": batch[0], "batch.seq": batch[1],
                  "optim.schedule.kind": "constant", "optim.schedule.unit": "steps", "checkpoint.dir": run,
                  "system.device": self.device, "system.threads": self.threads, **settings}
        with open(run + ".toml", "w", encoding="utf-8") as file:
            file.writelines(f"{key} = {json.dumps(value)}\n" for key, value in values.items())
        self.run("train", run + ".toml")
        with open(os.path.join(run, "ledger.jsonl"), encoding="utf-8") as file:
            records = [json.loads(line[9:]) for line in file]
        return torch.tensor([r["loss"] for r in records if r["kind"] == "step"], dtype=torch.float64)

    def gradients(self, init, run, tokens, batch):
        """Loss and gradients of the first step: with beta1 0 the first moment is the gradient."""
        losses = self.train(init, run, tokens, 1, batch, {"optim.beta1": 0, "optim.clip": 0})
        entries = load_file(os.path.join(run, "step_00000001", "rank_0.safetensors"))
        name = "moment1:"
        return losses[0].item(), {key.removeprefix(name): value for key, value in entries.items() if key.startswith(name)}


def philox(counter, key):
    """Philox4x32-10; the first word."""
    a, b, c, d = counter
    k, l = key
    for _ in range(10):
        low, high = a * 0xD2511F53, c * 0xCD9E8D57
        a, b, c, d = (high >> 32) ^ b ^ k, high & 0xFFFFFFFF, (low >> 32) ^ d ^ l, low & 0xFFFFFFFF
        k, l = (k + 0x9E3779B9) & 0xFFFFFFFF, (l + 0xBB67AE85) & 0xFFFFFFFF
    return a


def sample_at(position, count, seed=SEED):
    """Which of `count` samples stands at a position of the first epoch (src/core/random/permutation.h)."""
    bits = 1
    while (count - 1) >> (2 * bits):
        bits += 1
    mask, value = (1 << bits) - 1, position
    while True:
        left, right = value >> bits, value & mask
        for turn in range(8):
            left, right = right, left ^ (philox((right, 0, 0, 4 << 8 | turn), (seed, 0)) & mask)
        value = left << bits | right
        if value < count:
            return value


def write_tokens(path, vocab, batch, steps):
    """A token file with a sample for each row of each step, and the batches in the order of training (B, T + 1)."""
    (B, T), random = batch, numpy.random.default_rng(7)
    tokens = [0]
    for jump in random.random(B * T * steps) < 0.1:  # a text with a rule that can be learnt, and some surprises
        tokens.append(int(random.integers(vocab)) if jump else (5 * tokens[-1] + 17) % vocab)
    numpy.array(tokens, dtype=numpy.uint16).tofile(path)
    order = [sample_at(i, B * steps) for i in range(B * steps)]
    rows = torch.tensor([tokens[s * T:s * T + T + 1] for s in order])
    return list(rows.reshape(steps, B, T + 1))
