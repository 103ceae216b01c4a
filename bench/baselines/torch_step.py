"""A training step in PyTorch on one GPU, the peer of `ingot bench train`: torch.compile, SDPA, fused AdamW.

    python bench/baselines/torch_step.py --preset llama_500m --batch 32 --seq 2048
    python bench/baselines/torch_step.py --preset llama_500m --batch 32 --seq 2048 --precision fp8
    python bench/baselines/torch_step.py --preset llama_7b --batch 4 --seq 2048 --params bf16

One case a call. Prints the figures and, last, one line of JSON.
"""
import time

START = time.monotonic()  # importing PyTorch is part of the time to the first step

import argparse
import contextlib
import json
import sys

import torch
import torch.nn as nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from llama import PRESETS, Llama, adamw, median

E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2


def quantize(x, dtype, rowwise):
    """x (R, K) in 8 bits and the F32 factors that undo its scale: one for all, or (R, 1)."""
    top = torch.finfo(dtype).max
    largest = x.abs().amax(dim=-1, keepdim=True) if rowwise else x.abs().amax()
    scale = top / largest.float().clamp(min=1e-12)
    return (x.float() * scale).clamp(-top, top).to(dtype), scale.reciprocal()


def scaled_gemm(a, b, fast_accumulation):
    """a (M, K) times b (N, K) transposed, each with its factors, as BF16 (M, N)."""
    (a8, a_scale), (b8, b_scale) = a, b
    return torch._scaled_mm(a8, b8.t(), scale_a=a_scale, scale_b=b_scale.t() if b_scale.dim() else b_scale,
                            out_dtype=torch.bfloat16, use_fast_accum=fast_accumulation)


class TensorwiseGemm(torch.autograd.Function):
    """One scale a tensor: what the forward pass quantized serves the backward pass, transposed."""

    @staticmethod
    def forward(ctx, x, w):
        (x8, x_scale), (w8, w_scale) = quantize(x, E4M3, False), quantize(w, E4M3, False)
        ctx.save_for_backward(x8, x_scale, w8, w_scale)
        return scaled_gemm((x8, x_scale), (w8, w_scale), True)

    @staticmethod
    def backward(ctx, dy):
        x8, x_scale, w8, w_scale = ctx.saved_tensors
        dy8, dy_scale = quantize(dy, E5M2, False)
        dx = scaled_gemm((dy8, dy_scale), (w8.t().contiguous(), w_scale), False)
        dw = scaled_gemm((dy8.t().contiguous(), dy_scale), (x8.t().contiguous(), x_scale), False)
        return dx, dw


class RowwiseGemm(torch.autograd.Function):
    """A scale for each row along the summed dimension, so each GEMM quantizes its operands anew."""

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return scaled_gemm(quantize(x, E4M3, True), quantize(w, E4M3, True), True)

    @staticmethod
    def backward(ctx, dy):
        x, w = ctx.saved_tensors
        transposed = lambda t: quantize(t.t().contiguous(), E4M3, True)
        dx = scaled_gemm(quantize(dy, E4M3, True), transposed(w), False)
        dw = scaled_gemm(transposed(dy), transposed(x), False)
        return dx, dw


def fp8_linear(gemm):
    class Fp8Linear(nn.Linear):
        def forward(self, x):
            y = gemm.apply(x.flatten(0, -2).bfloat16(), self.weight.bfloat16())
            return y.unflatten(0, x.shape[:-1])

    return Fp8Linear


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", required=True, choices=PRESETS)
    parser.add_argument("--batch", type=int, required=True, help="sequences a step")
    parser.add_argument("--seq", type=int, required=True, help="tokens a sequence")
    parser.add_argument("--precision", choices=("bf16", "fp8"), default="bf16", help="of the layers' GEMMs")
    parser.add_argument("--fp8-scaling", choices=("tensorwise", "rowwise"), default="tensorwise")
    parser.add_argument("--params", choices=("fp32", "bf16"), default="fp32",
                        help="fp32: F32 parameters under bf16 autocast; bf16: everything in bf16, moments too")
    parser.add_argument("--attention", choices=("cudnn", "flash", "any"), default="cudnn")
    parser.add_argument("--eager", action="store_true", help="without torch.compile")
    parser.add_argument("--steps", type=int, default=8, help="timed steps; the median counts")
    parser.add_argument("--warmup", type=int, default=2, help="untimed steps after the first")
    return parser.parse_args()


def run(args):
    device = torch.device("cuda")
    torch.set_float32_matmul_precision("high")
    torch.manual_seed(0)
    gemm = {"tensorwise": TensorwiseGemm, "rowwise": RowwiseGemm}[args.fp8_scaling]
    linear = fp8_linear(gemm) if args.precision == "fp8" else nn.Linear
    shape = PRESETS[args.preset]
    with device:
        model = Llama(shape, args.seq, linear, stream=torch.bfloat16)
    if args.params == "bf16":
        for p in model.parameters():
            p.data = p.data.bfloat16()
    optimizer = adamw(model, lr=3e-4)
    forward = model if args.eager else torch.compile(model)
    tokens = torch.randint(0, shape.vocab, (args.steps, args.batch, args.seq + 1), device=device)

    def step(i):
        batch = tokens[i % args.steps]
        with torch.autocast("cuda", torch.bfloat16, enabled=args.params == "fp32"):
            loss = forward(batch[:, :-1].contiguous(), batch[:, 1:].contiguous())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.detach()

    backends = {"cudnn": [SDPBackend.CUDNN_ATTENTION], "flash": [SDPBackend.FLASH_ATTENTION]}
    with sdpa_kernel(backends[args.attention]) if args.attention in backends else contextlib.nullcontext():
        step(0)
        torch.cuda.synchronize()
        first = time.monotonic() - START
        for i in range(args.warmup):
            step(i)
        torch.cuda.synchronize()
        times = []
        for i in range(args.steps):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            loss = step(i)
            end.record()
            torch.cuda.synchronize()
            times.append(begin.elapsed_time(end))
    ms = median(times)
    return {"tok_s": round(args.batch * args.seq / ms * 1e3), "step_ms": round(ms, 2),
            "peak_gib": round(torch.cuda.max_memory_allocated() / 2**30, 2),
            "reserved_gib": round(torch.cuda.max_memory_reserved() / 2**30, 2),
            "first_step_s": round(first, 1), "loss": round(loss.item(), 4),
            "parameters": sum(p.numel() for p in model.parameters())}


def main():
    args = arguments()
    if not torch.cuda.is_available():
        sys.exit("expected an NVIDIA GPU, got none that PyTorch can use; torch_step_cpu.py is the CPU's baseline")
    case = vars(args) | {"torch": torch.__version__, "cudnn": torch.backends.cudnn.version(),
                         "gpu": torch.cuda.get_device_name()}
    print(f"PyTorch {case['torch']}, cuDNN {case['cudnn']}, {case['gpu']}", flush=True)
    try:
        result = run(args)
    except torch.OutOfMemoryError as error:
        print(json.dumps(case | {"error": str(error).splitlines()[0]}))
        sys.exit(1)
    print(f"{args.preset}, B {args.batch}, T {args.seq}, {args.precision}: {result['tok_s']:,} tok/s, "
          f"{result['step_ms']} ms a step, peak {result['peak_gib']} GiB, first step after {result['first_step_s']} s")
    print(json.dumps(case | result))


if __name__ == "__main__":
    main()
