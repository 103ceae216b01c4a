#!/usr/bin/env python3
"""CORE computed a second time over a Hugging Face folder of the Llama family, to compare with
`ingot eval FOLDER --tasks CORE --out items.jsonl` item by item. Shares no code with Ingot.

    core_reference.py FOLDER CORE items.jsonl [--max-items N] [--tasks a,b] [--transformers TOKENS [--threads N]]

The forward pass is numpy, one prompt after the other; with --transformers it is that of transformers, in batches of
prompts of similar length, of at most TOKENS padded tokens, with logits only where tokens are scored. Prints each
task's right answers and the seconds that its forward passes took, and every item whose verdict differs, with the gap
in nats that decided it; ends with 1 if one differs by more than --tie. Needs numpy, and for a tokenizer.json
tokenizers (pip install numpy tokenizers, or torch transformers); a tokenizer.bin of llama2.c is read here.
"""

import argparse
import collections
import json
import pathlib
import random
import re
import struct
import sys
import time

import numpy as np

ANSWER = "\nAnswer: "
# label: file, type, shots, delimiter
TASKS = {
    "arc_easy": ("arc_easy", "mc", 10, ANSWER),
    "arc_challenge": ("arc_challenge", "mc", 10, ANSWER),
    "copa": ("copa", "mc", 0, " "),
    "piqa": ("piqa", "mc", 10, ANSWER),
    "openbook_qa": ("openbook_qa", "mc", 0, " "),
    "lambada_openai": ("lambada_openai", "lm", 0, " "),
    "winograd": ("winograd_wsc", "schema", 0, " "),
    "bigbench_dyck_languages": ("bigbench_dyck_languages", "lm", 10, " "),
    "bigbench_operators": ("bigbench_operators", "lm", 10, " "),
    "bigbench_repeat_copy_logic": ("bigbench_repeat_copy_logic", "lm", 10, " "),
    "boolq": ("boolq", "mc", 10, ANSWER),
}


def read_safetensors(path):
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + size]).items():
        if name == "__metadata__":
            continue
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        raw = data[begin:end]
        if entry["dtype"] == "BF16":
            values = (np.frombuffer(raw, np.uint16).astype(np.uint32) << 16).view(np.float32)
        else:
            values = np.frombuffer(raw, {"F32": np.float32, "F16": np.float16}[entry["dtype"]]).astype(np.float32)
        tensors[name] = values.reshape(entry["shape"])
    return tensors


class Llama2cTokenizer:
    """llama2.c's: merges the neighbours of the best score, again and again, behind a space."""

    def __init__(self, path):
        data = path.read_bytes()
        at, self.ids, self.scores = 4, {}, []
        while at < len(data):
            score, size = struct.unpack_from("<fi", data, at)
            self.ids.setdefault(data[at + 8 : at + 8 + size], len(self.scores))
            self.scores.append(score)
            at += 8 + size
        # No piece reaches over a space, so that words are encoded one by one.
        assert all(b" " not in piece[1:] for piece in self.ids if not piece.startswith(b"<"))
        self.known = {}

    def encode(self, text):
        return [i for word in re.findall(" [^ ]*", " " + text) for i in self.word(word)] if text else []

    def word(self, word):
        if word in self.known:
            return self.known[word]
        pieces = []
        for character in word:
            data = character.encode()
            pieces += [data] if data in self.ids else [bytes([b]) for b in data]
        parts = [(piece, self.ids[piece] if len(piece) != 1 or piece in self.ids else piece[0] + 3) for piece in pieces]
        while True:
            best, place = -1e10, None
            for i in range(len(parts) - 1):
                merged = self.ids.get(parts[i][0] + parts[i + 1][0])
                if merged is not None and self.scores[merged] > best:
                    best, place = self.scores[merged], i
            if place is None:
                break
            piece = parts[place][0] + parts[place + 1][0]
            parts[place : place + 2] = [(piece, self.ids[piece])]
        return self.known.setdefault(word, [i for _, i in parts])


def tokenizer_of(folder):
    if (folder / "tokenizer.bin").exists():
        return Llama2cTokenizer(folder / "tokenizer.bin").encode
    import tokenizers  # of other models alone

    read = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    return lambda text: read.encode(text, add_special_tokens=False).ids


class Llama:
    """The forward pass in float32."""

    def __init__(self, folder):
        config = json.loads((folder / "config.json").read_text())
        self.heads = config["num_attention_heads"]
        self.kv_heads = config.get("num_key_value_heads") or self.heads
        self.width = config.get("head_dim") or config["hidden_size"] // self.heads
        self.layers, self.eps = config["num_hidden_layers"], config["rms_norm_eps"]
        self.theta = config.get("rope_theta") or config["rope_parameters"]["rope_theta"]
        self.weights = {name.removeprefix("model."): w for name, w in
                        read_safetensors(folder / "model.safetensors").items()}
        self.head = self.weights.get("lm_head.weight", self.weights["embed_tokens.weight"])

    def norm(self, x, name):
        return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + self.eps) * self.weights[name]

    def rotated(self, x):  # (T, H, D): the halves of a head are the pairs
        half = self.width // 2
        frequencies = self.theta ** (-np.arange(half) * 2.0 / self.width)
        angles = np.arange(len(x))[:, None] * frequencies
        cos, sin = (f(angles).astype(np.float32)[:, None] for f in (np.cos, np.sin))
        a, b = x[..., :half], x[..., half:]
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    def losses(self, asked):
        """What losses_of() says of each sequence (ids, first): of the ids from `first` on."""
        return [losses_of(self.logits(ids[:-1], first - 1), ids[first:]) for ids, first in asked]

    def logits(self, ids, first):
        """(T − first, V), of the tokens from `first` on."""
        w, count = self.weights, len(ids)
        x = w["embed_tokens.weight"][ids]
        future = np.triu(np.full((count, count), -np.inf, np.float32), 1)
        for layer in range(self.layers):
            at = f"layers.{layer}."
            h = self.norm(x, at + "input_layernorm.weight")
            q, k, v = (h @ w[f"{at}self_attn.{p}_proj.weight"].T for p in "qkv")
            q = self.rotated(q.reshape(count, self.heads, self.width))
            k = self.rotated(k.reshape(count, self.kv_heads, self.width))
            v = v.reshape(count, self.kv_heads, self.width)
            out = np.empty_like(q)
            for head in range(self.heads):
                group = head * self.kv_heads // self.heads
                scores = q[:, head] @ k[:, group].T / np.float32(np.sqrt(self.width)) + future
                scores = np.exp(scores - scores.max(-1, keepdims=True))
                out[:, head] = (scores / scores.sum(-1, keepdims=True)) @ v[:, group]
            x = x + out.reshape(count, -1) @ w[at + "self_attn.o_proj.weight"].T
            h = self.norm(x, at + "post_attention_layernorm.weight")
            gate, up = (h @ w[f"{at}mlp.{p}_proj.weight"].T for p in ("gate", "up"))
            x = x + (gate / (1 + np.exp(-gate)) * up) @ w[at + "mlp.down_proj.weight"].T
        return (self.norm(x[first:], "norm.weight") @ self.head.T).astype(np.float64)


class Transformers:
    """The same by transformers in float32. Padding is on the right, where no token sees it."""

    def __init__(self, folder, batch_tokens, threads):
        import torch
        import transformers

        torch.set_num_threads(threads)
        self.torch, self.batch_tokens = torch, batch_tokens
        self.model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()

    def losses(self, asked):
        torch, found = self.torch, [None] * len(asked)
        waiting = sorted(range(len(asked)), key=lambda i: -len(asked[i][0]))
        with torch.inference_mode():
            while waiting:
                width = len(asked[waiting[0]][0]) - 1
                count = max(1, self.batch_tokens // max(width, 1))
                batch, waiting = waiting[:count], waiting[count:]
                ids = torch.zeros((len(batch), max(width, 1)), dtype=torch.long)
                for row, i in enumerate(batch):
                    ids[row, : len(asked[i][0]) - 1] = torch.tensor(asked[i][0][:-1])
                hidden = self.model.model(input_ids=ids, use_cache=False).last_hidden_state
                for row, i in enumerate(batch):
                    of, first = asked[i]
                    logits = self.model.lm_head(hidden[row, first - 1 : len(of) - 1])
                    found[i] = losses_of(logits.double().numpy(), of[first:])
        return found


def prompts_of(kind, delimiter, shots, item):
    """The prompts of an item behind its examples."""
    before = ""
    for example in shots:
        if kind == "mc":
            before += example["query"] + delimiter + example["choices"][example["gold"]]
        elif kind == "schema":
            before += example["context_options"][example["gold"]] + delimiter + example["continuation"]
        else:
            before += example["context"].strip() + delimiter + example["continuation"]
        before += "\n\n"
    if kind == "mc":
        return [before + item["query"] + delimiter + choice for choice in item["choices"]]
    if kind == "schema":
        return [before + option + delimiter + item["continuation"] for option in item["context_options"]]
    context = before + item["context"].strip() + delimiter
    return [context.strip(), context + item["continuation"]]


def common(lists):
    count = 0
    while all(len(ids) > count and ids[count] == lists[0][count] for ids in lists):
        count += 1
    return count


def losses_of(logits, targets):
    """Of each target its loss, and by how much its logit is above the largest other one."""
    rows = np.arange(len(targets))
    right = logits[rows, targets]
    top = logits.max(-1)
    losses = top + np.log(np.exp(logits - top[:, None]).sum(-1)) - right
    others = logits.copy()
    others[rows, targets] = -np.inf
    return losses, right - others.max(-1)


def asked_of(kind, lists):
    """The sequences to score, as (ids, first); None where nothing is left to score."""
    if kind == "lm":
        without, whole = lists
        return [(whole, len(without)) if len(without) < len(whole) and whole[: len(without)] == without else None]
    if kind == "mc":
        starts = [common(lists)] * len(lists)
    else:
        suffix = common([ids[::-1] for ids in lists])
        starts = [len(ids) - suffix for ids in lists]
    return [(ids, start) if start < len(ids) else None for ids, start in zip(lists, starts)]


def judged(kind, item, scored):
    """(verdict, mean losses, the gap that decided) from what losses_of() said, or None, of each sequence."""
    if kind == "lm":
        if scored[0] is None:
            return False, None, np.inf
        losses, margins = scored[0]
        # The verdict turns where the smallest margin changes its sign.
        return bool(margins.min() > 0), [losses.mean()], abs(margins.min())
    means = [np.inf if one is None else one[0].mean() for one in scored]
    least, second = sorted(means)[:2]
    return means.index(least) == item["gold"], means, second - least


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("core", type=pathlib.Path)
    parser.add_argument("items", type=pathlib.Path, help="what ingot eval wrote as --out")
    parser.add_argument("--max-items", type=int, default=0)
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--transformers", type=int, default=0, metavar="TOKENS")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--tie", type=float, default=1e-3, help="nats below which a verdict is a near-tie")
    options = parser.parse_args()

    theirs = collections.defaultdict(dict)
    for line in options.items.read_text().splitlines():
        item = json.loads(line)
        theirs[item["task"]][item["line"]] = item
    encode = tokenizer_of(options.model)
    bos = json.loads((options.model / "config.json").read_text())["bos_token_id"]
    model = Llama(options.model) if not options.transformers else Transformers(
        options.model, options.transformers, options.threads)

    bad = ties = compared = 0
    widest = 0.0
    for label in options.tasks.split(","):
        file, kind, shots, delimiter = TASKS[label]
        with open(options.core / f"{file}.jsonl", encoding="utf-8") as lines:
            examples = [json.loads(line.strip()) for line in lines]
        for number, example in enumerate(examples):
            example["line"] = number
        random.Random(1337).shuffle(examples)
        if options.max_items:
            examples = examples[: options.max_items]
        items = []
        for place, item in enumerate(examples):
            pool = [p for p in range(len(examples)) if p != place]
            drawn = random.Random(1234 + place).sample(pool, shots) if shots else []
            prompts = prompts_of(kind, delimiter, [examples[p] for p in drawn], item)
            items.append(asked_of(kind, [[bos] + encode(prompt) for prompt in prompts]))
        begin = time.perf_counter()
        answers = iter(model.losses([one for asked in items for one in asked if one]))
        seconds = time.perf_counter() - begin
        right = right_there = 0
        for item, asked in zip(examples, items):
            correct, losses, gap = judged(kind, item, [next(answers) if one else None for one in asked])
            other = theirs[label].get(item["line"])
            if other is None:
                sys.exit(f"{label}, line {item['line']}: not in {options.items}")
            compared += 1
            right += correct
            right_there += other["correct"]
            if losses and len(losses) != len(other["losses"]):
                bad += 1
                print(f"{label}, line {item['line']}: {len(losses)} losses here, {len(other['losses'])} there")
            for mine, their in zip(losses or [], other["losses"]):
                if np.isfinite(mine) != (their is not None):
                    bad += 1
                    print(f"{label}, line {item['line']}: nothing to score on one side alone")
                elif np.isfinite(mine):
                    widest = max(widest, abs(mine - their))
            if correct != other["correct"]:
                is_tie = gap < options.tie
                ties += is_tie
                bad += not is_tie
                print(f"{label}, line {item['line']}: {'near-tie' if is_tie else 'DIFFERS'}, gap {gap:.2e}")
        print(f"{label}: {right} of {len(examples)} right here, {right_there} there; {seconds:.2f} s", flush=True)
    print(f"{compared} items, {bad} differ, {ties} near-ties; largest difference of a mean loss {widest:.2e}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
