#!/usr/bin/env python3
"""The logits of given ids from Hugging Face's transformers, as `ingot checkpoint logits` writes them.

    tools/hf_logits.py FOLDER --ids ids.txt --out theirs.safetensors
    tools/hf_logits.py FOLDER --ids ids.txt --compare ours.safetensors

With --compare the largest difference is printed relative to the largest logit, and one above
--tolerance fails. Everything is computed in fp32, whatever the weights are stored in. Under dynamic
rotary scaling, where frequencies follow the length so far, tokens come one by one, as generated.
Needs torch, transformers and safetensors.
"""
import argparse
import re
import sys

import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM


def load(folder, device="cpu"):
    model = AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager"
    )
    return model.to(device).eval()


def logits_of(model, ids):
    """(T, V), on the CPU."""
    ids = torch.tensor([ids], device=model.device)
    rope = getattr(model.config, "rope_parameters", None) or {}
    with torch.no_grad():
        if rope.get("rope_type") != "dynamic":
            return model(ids, use_cache=False).logits[0].float().cpu()
        rows, cache = [], None
        for t in range(ids.shape[1]):
            step = model(ids[:, t : t + 1], past_key_values=cache, use_cache=True)
            rows.append(step.logits[0])
            cache = step.past_key_values
        return torch.cat(rows).float().cpu()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", help="Hugging Face folder")
    parser.add_argument("--ids", required=True, help="text file of ids of tokens")
    parser.add_argument("--out", help="safetensors file to write")
    parser.add_argument("--compare", help="safetensors file of `ingot checkpoint logits`")
    parser.add_argument("--tolerance", type=float, default=1e-5)
    args = parser.parse_args()
    with open(args.ids) as file:
        ids = [int(word) for word in re.findall(r"\d+", file.read())]
    logits = logits_of(load(args.folder), ids)
    if args.out:
        save_file({"logits": logits.contiguous()}, args.out)
    if args.compare:
        ours = load_file(args.compare)["logits"]
        if ours.shape != logits.shape:
            sys.exit(f"shapes {tuple(ours.shape)} and {tuple(logits.shape)} differ")
        relative = ((ours - logits).abs().max() / logits.abs().max()).item()
        print(f"largest difference: {relative:.3g} of the largest logit {logits.abs().max():.4g}")
        if not relative <= args.tolerance:
            sys.exit(f"more than {args.tolerance}")


if __name__ == "__main__":
    main()
