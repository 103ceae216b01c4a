#!/usr/bin/env python3
"""The logits of given ids from Hugging Face's transformers, as `ingot checkpoint logits` writes them.

    tools/hf_logits.py FOLDER --ids ids.txt --out theirs.safetensors
    tools/hf_logits.py FOLDER --ids ids.txt --compare ours.safetensors

With --compare the largest difference is printed relative to the largest logit, and one above
--tolerance fails. Everything is computed in fp32, whatever the weights are stored in.
Needs torch, transformers and safetensors.
"""
import argparse
import re
import sys

import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM


def logits_of(folder, ids):
    model = AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager"
    ).eval()
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0].float()  # (T, V)


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
    logits = logits_of(args.folder, ids)
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
