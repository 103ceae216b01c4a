#!/usr/bin/env python3
"""How far logits in F32 are from exact ones, here and in transformers, whatever the order of their sums.

    tools/exchange_check/rounding.py build/cpu/ingot [NAME…]

For models of tests/golden/hf that are Llama's: the largest difference of a logit, relative to the largest logit,
  ours, theirs  from the same model in F64; then (median, largest) of RUNS runs of each whose hidden and inner channels
                stand in another order: the same model, but other sums
  apart         of ours from theirs; then of those runs of transformers from its own logits
Needs torch and transformers.
"""
import copy
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

import torch
from safetensors.torch import load_file

from theirs import apart, plain_fp32

TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.append(TOOLS)
from hf_logits import load, logits_of  # noqa: E402

GOLDEN = os.path.join(TOOLS, "..", "tests", "golden", "hf")
NAMES = ["llama", "llama_linear", "llama_yarn", "llama_yarn_factor", "llama_dynamic"]
RUNS = 40


def frequencies(config, tokens):
    """Angle per position (tokens, head_dim / 2), and what cosines and sines are multiplied by."""
    rope, half = config.rope_parameters, config.head_dim // 2
    pair = torch.arange(half, dtype=torch.float64)
    theta, kind, factor = rope["rope_theta"], rope["rope_type"], rope.get("factor", 1.0)
    plain, amplitude = (theta ** (-pair / half)).repeat(tokens, 1), 1.0
    if kind == "linear":
        plain /= factor
    if kind == "dynamic":
        for t in range(config.max_position_embeddings, tokens):
            reach = factor * (t + 1) / config.max_position_embeddings - (factor - 1)
            plain[t] = (theta * reach ** (half / (half - 1))) ** (-pair / half)
    if kind == "yarn":
        def pair_that_turns(turns):
            return half * math.log(rope["original_max_position_embeddings"] / (turns * 2 * math.pi)) / math.log(theta)
        low = max(0, math.floor(pair_that_turns(rope.get("beta_fast") or 32)))
        high = min(2 * half - 1, math.ceil(pair_that_turns(rope.get("beta_slow") or 1)))
        stretched = ((pair - low) / (high - low if high > low else 0.001)).clamp(0, 1)
        plain = plain / factor * stretched + plain * (1 - stretched)
        amplitude = rope.get("attention_factor") or 0.1 * math.log(factor) + 1
    return plain, amplitude


def exact_logits(model, ids):
    """(T, V) in F64 from the model's weights."""
    c, w = model.config, {name: p.detach().double() for name, p in model.named_parameters()}
    tokens, half = len(ids), c.head_dim // 2
    plain, amplitude = frequencies(c, tokens)
    angle = torch.arange(tokens, dtype=torch.float64)[:, None] * plain
    cos, sin = amplitude * torch.cos(angle)[:, None], amplitude * torch.sin(angle)[:, None]  # (T, 1, D/2)

    def norm(x, name):
        return x / torch.sqrt((x * x).mean(-1, keepdim=True) + c.rms_norm_eps) * w[name]

    def heads(x, name):  # (T, H, D)
        return (x @ w[name].T).view(tokens, -1, c.head_dim)

    def rotated(x):
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    x = w["model.embed_tokens.weight"][torch.tensor(ids)]
    hidden = torch.full((tokens, tokens), -math.inf, dtype=torch.float64).triu(1)
    group = c.num_attention_heads // c.num_key_value_heads
    for i in range(c.num_hidden_layers):
        at = f"model.layers.{i}."
        h = norm(x, at + "input_layernorm.weight")
        q = rotated(heads(h, at + "self_attn.q_proj.weight"))
        k = rotated(heads(h, at + "self_attn.k_proj.weight")).repeat_interleave(group, 1)
        v = heads(h, at + "self_attn.v_proj.weight").repeat_interleave(group, 1)
        scores = torch.einsum("thd,shd->hts", q, k) / math.sqrt(c.head_dim) + hidden
        mixed = torch.einsum("hts,shd->thd", scores.softmax(-1), v).reshape(tokens, -1)
        x = x + mixed @ w[at + "self_attn.o_proj.weight"].T
        h = norm(x, at + "post_attention_layernorm.weight")
        gate = torch.nn.functional.silu(h @ w[at + "mlp.gate_proj.weight"].T)
        x = x + gate * (h @ w[at + "mlp.up_proj.weight"].T) @ w[at + "mlp.down_proj.weight"].T
    return norm(x, "model.norm.weight") @ w["lm_head.weight"].T


def shuffled(model, generator):
    model, c = copy.deepcopy(model), model.config
    hidden = torch.randperm(c.hidden_size, generator=generator)
    inner = torch.randperm(c.intermediate_size, generator=generator)
    into = ("embed_tokens", "q_proj", "k_proj", "v_proj", "gate_proj", "up_proj", "lm_head")
    with torch.no_grad():
        for name, p in model.named_parameters():
            part = name.split(".")[-2]
            if part in ("gate_proj", "up_proj"):
                p.copy_(p[inner])
            if part == "down_proj":
                p.copy_(p[:, inner])
            p.copy_(p[:, hidden] if part in into else p[hidden])
    return model


def ours_of(ingot, model, folder):
    with tempfile.TemporaryDirectory() as work:
        copy.deepcopy(model).to(torch.bfloat16).save_pretrained(work)  # its weights are bf16
        for name in ("tokenizer.json", "tokenizer_config.json"):
            shutil.copy(os.path.join(folder, name), work)
        out = os.path.join(work, "logits.safetensors")
        subprocess.run([ingot, "checkpoint", "logits", work, "--ids", os.path.join(folder, "ids.txt"), "--out", out],
                       check=True, stdout=subprocess.DEVNULL)
        return load_file(out)["logits"].double()


def main():
    ingot, names = sys.argv[1], sys.argv[2:] or NAMES
    plain_fp32()
    torch.set_num_threads(1)
    print(f"{'':20}{'ours':>8}{'shuffled':>16}{'theirs':>8}{'shuffled':>16}{'apart':>8}{'shuffled':>16}")
    for name in names:
        folder = os.path.join(GOLDEN, name)
        with open(os.path.join(folder, "ids.txt"), encoding="utf-8") as file:
            ids = list(map(int, file.read().split()))
        model = load(folder)
        exact, theirs, ours = exact_logits(model, ids), logits_of(model, ids).double(), ours_of(ingot, model, folder)
        generator = torch.Generator().manual_seed(1)
        models = [shuffled(model, generator) for _ in range(RUNS)]
        runs = [logits_of(m, ids).double() for m in models]
        our_runs = [ours_of(ingot, m, folder) for m in models]

        def spread(of, expected):
            found = [apart(run, expected) for run in of]
            return f"{statistics.median(found):8.1e}{max(found):8.1e}"
        print(f"{name:20}{apart(ours, exact):8.1e}{spread(our_runs, exact)}{apart(theirs, exact):8.1e}"
              f"{spread(runs, exact)}{apart(ours, theirs):8.1e}{spread(runs, theirs)}", flush=True)


if __name__ == "__main__":
    main()
