"""A training step in PyTorch on the CPU, in F32 or under bf16 autocast, the peer of `ingot bench train`; or a whole
small run in F32.

    python bench/baselines/torch_step_cpu.py --preset llama_10m --batch 8 --seq 512 --threads 2 [--compile] [--bf16]
    python bench/baselines/torch_step_cpu.py --shakespeare tiny_shakespeare.txt --threads 2 [--compile]

--shakespeare trains nanoGPT's CPU shape (4 layers of width 128, T 64, batch 12, 2,000 steps of AdamW, lr 1e-3 to
1e-4) on characters; its seconds are the training loop's alone. Prints the figures and, last, one line of JSON.
"""
import time

START = time.monotonic()  # importing PyTorch is part of the time to the first step

import argparse
import json
import math
import pathlib

import torch
import torch.nn as nn

from llama import PRESETS, Llama, Shape, adamw, median


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--preset", choices=PRESETS)
    what.add_argument("--shakespeare", type=pathlib.Path, metavar="TEXT", help="the text file to train on")
    parser.add_argument("--batch", type=int, default=8, help="sequences a step; with --preset")
    parser.add_argument("--seq", type=int, default=512, help="tokens a sequence; with --preset")
    parser.add_argument("--steps", type=int, help="timed steps, of which the median counts (6), or the run's (2,000)")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--compile", action="store_true", help="torch.compile instead of eager")
    parser.add_argument("--bf16", action="store_true", help="under autocast to bf16; with --preset")
    return parser.parse_args()


def train_step(model, forward, optimizer, tokens, targets):
    loss = forward(tokens, targets)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return loss.item()


def bench_step(args):
    shape, steps = PRESETS[args.preset], args.steps or 6
    torch.manual_seed(0)
    model = Llama(shape, args.seq)
    forward = torch.compile(model) if args.compile else model
    forward = torch.autocast("cpu", torch.bfloat16, enabled=args.bf16)(forward)
    optimizer = adamw(model, lr=3e-4)
    tokens = torch.randint(0, shape.vocab, (args.batch, args.seq + 1))
    step = lambda: train_step(model, forward, optimizer, tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous())
    step()
    first = time.monotonic() - START
    step()
    times = []
    for _ in range(steps):
        begin = time.monotonic()
        loss = step()
        times.append(time.monotonic() - begin)
    seconds = median(times)
    return {"tok_s": round(args.batch * args.seq / seconds, 1), "step_ms": round(seconds * 1e3, 1),
            "first_step_s": round(first, 1), "loss": round(loss, 4)}


def learning_rate(step, steps, warmup=100, peak=1e-3, last=1e-4):
    if step < warmup:
        return peak * step / warmup
    return last + (peak - last) * 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, steps - warmup)))


def shakespeare(args):
    text, steps, B, T = args.shakespeare.read_text(encoding="utf-8"), args.steps or 2000, 12, 64
    letters = {letter: i for i, letter in enumerate(sorted(set(text)))}
    ids = torch.tensor([letters[letter] for letter in text])
    held_out = len(ids) // 10
    training, validation = ids[:-held_out], ids[-held_out:]
    torch.manual_seed(0)
    model = Llama(Shape(128, 4, 4, 4, 344, len(letters)), T)
    forward = torch.compile(model) if args.compile else model
    optimizer = adamw(model, lr=1e-3)

    def batch(of):
        rows = of.unfold(0, T + 1, 1)[torch.randint(len(of) - T, (B,))]
        return rows[:, :-1].contiguous(), rows[:, 1:].contiguous()

    forward(*batch(training)).backward()  # compiles, outside the clock
    optimizer.zero_grad(set_to_none=True)
    begin = time.monotonic()
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, steps)
        train_step(model, forward, optimizer, *batch(training))
    seconds = time.monotonic() - begin
    with torch.no_grad():
        losses = [model(*batch(validation)).item() for _ in range(200)]
    return {"steps": steps, "seconds": round(seconds, 1), "step_ms": round(seconds / steps * 1e3, 2),
            "tok_s": round(B * T * steps / seconds), "validation_nats": round(sum(losses) / len(losses), 4)}


def main():
    args = arguments()
    torch.set_num_threads(args.threads)
    case = {"case": args.preset or "shakespeare", "threads": args.threads, "compiled": args.compile, "bf16": args.bf16,
            "torch": torch.__version__, "cpu": torch.backends.cpu.get_cpu_capability()}
    result = shakespeare(args) if args.shakespeare else {"batch": args.batch, "seq": args.seq} | bench_step(args)
    print(", ".join(f"{key} {value}" for key, value in (case | result).items()))
    print(json.dumps(case | result))


if __name__ == "__main__":
    main()
