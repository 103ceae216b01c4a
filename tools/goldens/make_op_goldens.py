#!/usr/bin/env python3
"""Makes tests/golden/ops/<case>.safetensors: inputs, outputs and gradients of every op case as
PyTorch has them.

    python tools/goldens/make_op_goldens.py        # needs torch, numpy, safetensors

Inputs and cotangents are drawn by numpy's PCG64 from a seed made of the case's name, rounded to
float32 and stored; the op runs in float64 on them, autograd gives the gradients, and results are
stored rounded to float32. Names are the case's own: x, y, d.x, d.y. Integer inputs are stored as
float32 too. The reference is written with PyTorch's own functions where it has one (rms_norm,
scaled_dot_product_attention, cross_entropy, AdamW), and else as Hugging Face transformers has it.
The committed files were made with torch 2.15.0 (CPU).
"""

import math
import pathlib
import shutil
import zlib

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.numpy import save_file

OUT = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/ops"
EPS = 1e-5


class Case:
    """Draws inputs, runs `compute(inputs) -> outputs` in float64 and stores all of it."""

    def __init__(self, name):
        self.name = name
        self.rng = np.random.Generator(np.random.PCG64(zlib.crc32(name.encode())))
        self.stored = {}
        self.inputs = {}

    def normal(self, name, *shape, scale=1.0, grad=True):
        values = (self.rng.standard_normal(shape) * scale).astype(np.float32)
        return self.given(name, values, grad)

    def given(self, name, values, grad=False):
        values = np.ascontiguousarray(values, dtype=np.float32)
        self.stored[name] = values
        tensor = torch.tensor(values, dtype=torch.float64, requires_grad=grad)
        self.inputs[name] = tensor
        return tensor

    def integers(self, name, high, *shape):
        return self.given(name, self.rng.integers(0, high, shape)).long()

    def statistic(self, name, value):
        """An output that no gradient goes through."""
        self.stored[name] = value.detach().numpy().astype(np.float32)

    def finish(self, **outputs):
        """Stores the outputs; with cotangents and gradients where an input wants one."""
        wanted = {k: v for k, v in self.inputs.items() if v.requires_grad}
        total = 0.0
        for name, value in outputs.items():
            self.stored[name] = value.detach().numpy().astype(np.float32)
            if wanted:
                cotangent = self.rng.standard_normal(value.shape).astype(np.float32)
                self.stored["d." + name] = cotangent
                total = total + (value * torch.tensor(cotangent, dtype=torch.float64)).sum()
        if wanted:
            for name, grad in zip(wanted, torch.autograd.grad(total, list(wanted.values()))):
                self.stored["d." + name] = grad.numpy().astype(np.float32)
        contiguous = {k: np.ascontiguousarray(v) for k, v in self.stored.items()}
        save_file(contiguous, OUT / f"{self.name}.safetensors", {"torch": torch.__version__})


def matmul():
    for name, n, rows, columns in (("matmul_n3_r13_c21", 3, 13, 21), ("matmul_n19_r9_c14", 19, 9, 14)):
        c = Case(name)
        c.finish(y=F.linear(c.normal("x", n, columns), c.normal("w", rows, columns)))

    c = Case("matmul_added_n5_r7_c6")
    x, w, addend = c.normal("x", 5, 6), c.normal("w", 7, 6), c.normal("addend", 5, 7)
    c.finish(y=F.linear(x, w) + addend)


def attention():
    def run(name, shape, causal=True, window=0, scale=None, documents=None, softcap=0.0):
        c = Case(name)
        B, Tq, Tk, H, G, D = shape
        q = c.normal("q", B, Tq, H, D)
        k, v = c.normal("k", B, Tk, G, D), c.normal("v", B, Tk, G, D)
        key = torch.arange(Tk)
        query = torch.arange(Tk - Tq, Tk)[:, None]
        mask = torch.ones(B, Tq, Tk, dtype=torch.bool)
        if causal:
            mask &= key <= query
        if window:
            mask &= key > query - window
        if documents is not None:
            starts = c.given("document_start", np.array(documents).reshape(B, Tq))
            mask &= key >= starts[..., None]
        heads = [t.transpose(1, 2) for t in (q, k, v)]  # (B, H, T, D)
        out = F.scaled_dot_product_attention(*heads, attn_mask=mask[:, None], scale=scale,
                                             enable_gqa=True)
        scores = heads[0] @ heads[1].repeat_interleave(H // G, dim=1).transpose(-1, -2)
        scores = scores * (scale or D**-0.5)
        if softcap:
            scores = softcap * torch.tanh(scores / softcap)
        scores = scores.masked_fill(~mask[:, None], -torch.inf)
        if softcap:  # which scaled_dot_product_attention does not know
            out = scores.softmax(-1) @ heads[2].repeat_interleave(H // G, dim=1)
        c.statistic("lse", torch.logsumexp(scores, dim=-1))
        c.finish(out=out.transpose(1, 2))

    run("attention_causal_b2_t7_h2_g2_d6", (2, 7, 7, 2, 2, 6))
    run("attention_grouped_b1_t9_h4_g2_d5", (1, 9, 9, 4, 2, 5))
    run("attention_full_b1_tq4_tk7_h2_g2_d3", (1, 4, 7, 2, 2, 3), causal=False)
    run("attention_decode_b2_tq3_tk8_h2_g1_d4", (2, 3, 8, 2, 1, 4))
    run("attention_window3_b1_t11_h2_g2_d4", (1, 11, 11, 2, 2, 4), window=3)
    run("attention_scaled_b1_t5_h1_g1_d17", (1, 5, 5, 1, 1, 17), scale=0.3)
    run("attention_softcap_b1_t9_h2_g1_d6", (1, 9, 9, 2, 1, 6), window=4, softcap=1.5)
    run("attention_documents_b2_t9_h2_g1_d4", (2, 9, 9, 2, 1, 4),
        documents=[0, 0, 0, 3, 3, 5, 5, 5, 5, 0, 1, 1, 1, 1, 1, 1, 7, 8])


def lm_head():
    def run(name, targets, V, C, z_loss=0.0, softcap=0.0):
        c = Case(name)
        N = len(targets) if targets else 7
        h, w = c.normal("h", N, C), c.normal("w", V, C)
        if targets:
            targets = c.given("targets", np.array(targets)).long()
        else:
            targets = c.integers("targets", V, N)
        logits = F.linear(h, w)
        if softcap:
            logits = softcap * torch.tanh(logits / softcap)
        losses = F.cross_entropy(logits, targets, ignore_index=-1, reduction="none")
        losses = losses + z_loss * torch.logsumexp(logits, -1).square() * (targets != -1)
        c.statistic("losses", losses)
        c.finish(loss=losses.sum().reshape(1))

    ignoring = [3, -1, 22, 0, 7]
    run("lm_head_ignore_n5_v23_c9", ignoring, 23, 9)
    run("lm_head_zloss_n7_v19_c6_chunk3", None, 19, 6, z_loss=0.02)
    run("lm_head_softcap_n5_v23_c9", ignoring, 23, 9, z_loss=0.01, softcap=4.0)
    # A head in shards computes the same from the same.
    for what in ("ignore_n5_v23_c9", "softcap_n5_v23_c9"):
        shutil.copy(OUT / f"lm_head_{what}.safetensors", OUT / f"lm_head_shards_{what}.safetensors")


def embedding():
    c = Case("embedding_n13_v7_c20")
    tokens = c.integers("tokens", 7, 13)
    table = c.normal("table", 7, 20)
    c.finish(out=F.embedding(tokens, table))

    c = Case("embedding_add_n9_v5_c13")
    tokens, places = c.integers("tokens", 5, 9), c.integers("places", 5, 9)
    table, positions = c.normal("table", 5, 13), c.normal("positions", 5, 13)
    c.finish(out=F.embedding(tokens, table) + F.embedding(places, positions))


def bias():
    for name, n, width in (("bias_n5_r21", 5, 21), ("bias_n70_r3", 70, 3)):
        c = Case(name)
        c.finish(y=c.normal("x", n, width) + c.normal("bias", width))


def axpy():
    c = Case("axpy_n5_c21")
    c.finish(out=1.75 * c.normal("x", 5, 21) + c.normal("y", 5, 21))


def layer_norm():
    for name, n, width in (("layer_norm_n6_c20", 6, 20), ("layer_norm_n70_c9", 70, 9)):
        c = Case(name)
        x, w, b = c.normal("x", n, width), c.normal("weight", width), c.normal("bias", width)
        c.finish(y=F.layer_norm(x, (width,), w, b, EPS))

    c = Case("layer_norm_residual_n5_c37")
    x, w, b = c.normal("x", 5, 37), c.normal("weight", 37), c.normal("bias", 37)
    c.finish(y=F.layer_norm(x, (37,), w, b, EPS), stream=x)


def rms_norm():
    for name, n, width in (("rms_norm_n6_c20", 6, 20), ("rms_norm_n70_c9", 70, 9)):
        c = Case(name)
        x, w = c.normal("x", n, width), c.normal("weight", width)
        c.finish(y=F.rms_norm(x, (width,), w, EPS))

    c = Case("rms_norm_residual_n5_c37")
    x, w = c.normal("x", 5, 37), c.normal("weight", 37)
    c.finish(y=F.rms_norm(x, (37,), w, EPS), stream=x)

    c = Case("rms_norm_heads_n5_h3_d12")
    rows, w = c.normal("rows", 5, 60), c.normal("weight", 12)
    c.finish(y=F.rms_norm(rows[:, 12:48].reshape(5, 3, 12), (12,), w, EPS))


def mlp():
    c = Case("mlp_n5_c6_f7")
    x, up, down = c.normal("x", 5, 6), c.normal("w_up", 14, 6), c.normal("w_down", 6, 7)
    gate_up = F.linear(x, up)
    act = F.silu(gate_up[:, :7]) * gate_up[:, 7:]
    c.statistic("gate_up", gate_up)
    c.statistic("act", act)
    c.finish(y=F.linear(act, down))


def linear_rope():
    c = Case("linear_rope_b2_t3_c5_h2_g1_d4")
    y = F.linear(c.normal("x", 6, 5), c.normal("w", 12, 5)).reshape(2, 3, 3, 4)
    frequencies = 1.0 / 10000.0 ** (torch.arange(0, 4, 2, dtype=torch.float64) / 4)
    turned = rotate(y[:, :, :2], torch.arange(3).expand(2, 3), frequencies, interleaved=False)
    c.finish(y=torch.cat((turned, y[:, :, 2:]), dim=2).reshape(6, 12))


def attention_rope():
    def run(name, shape, interleaved=False, positions=None):
        c = Case(name)
        B, T, H, G, D = shape
        q, k, v = (c.normal(n, B, T, heads, D) for n, heads in (("q", H), ("k", G), ("v", G)))
        frequencies = 1.0 / 10000.0 ** (torch.arange(0, D, 2, dtype=torch.float64) / D)
        places = torch.arange(T).expand(B, T)
        if positions is not None:
            places = c.given("positions", np.array(positions).reshape(B, T)).long()
        q, k = (rotate(x, places, frequencies, interleaved) for x in (q, k))
        c.statistic("q_turned", q)
        c.statistic("k_turned", k)
        heads = [t.transpose(1, 2) for t in (q, k, v)]  # (B, H, T, D)
        out = F.scaled_dot_product_attention(*heads, is_causal=True, enable_gqa=True)
        c.finish(out=out.transpose(1, 2))

    run("attention_rope_half_b2_t7_h4_g2_d6", (2, 7, 4, 2, 6))
    run("attention_rope_positions_b2_t5_h2_g1_d10", (2, 5, 2, 1, 10), interleaved=True,
        positions=[0, 1, 2, 0, 1, 7, 39, 0, 1, 2])


def llama3_frequencies(plain, factor, low, high, old_context):
    """_compute_llama3_parameters of Hugging Face transformers, in float64."""
    wavelen = 2 * torch.pi / plain
    scaled = torch.where(wavelen > old_context / low, plain / factor, plain)
    smooth = (old_context / wavelen - low) / (high - low)
    smoothed = (1 - smooth) * scaled / factor + smooth * scaled
    is_medium = ~(wavelen < old_context / high) * ~(wavelen > old_context / low)
    return torch.where(is_medium, smoothed, scaled)


def yarn_frequencies(plain, theta, factor, slow, fast, old_context):
    """_compute_yarn_parameters of Hugging Face transformers, in float64."""
    D = 2 * len(plain)
    turning = lambda turns: D * math.log(old_context / (turns * 2 * math.pi)) / (2 * math.log(theta))
    low, high = max(math.floor(turning(fast)), 0), min(math.ceil(turning(slow)), D - 1)
    ramp = ((torch.arange(D // 2, dtype=torch.float64) - low) / (high - low)).clamp(0, 1)
    return plain / factor * ramp + plain * (1 - ramp)


def rotate(x, positions, frequencies, interleaved):
    """x (B, T, H, D), positions (B, T): Hugging Face's rotate_half form, or Meta's complex one."""
    angles = positions[..., None].double() * frequencies  # (B, T, D/2)
    if interleaved:
        pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
        turned = pairs * torch.polar(torch.ones_like(angles), angles)[:, :, None]
        return torch.view_as_real(turned).flatten(3)
    angles = torch.cat((angles, angles), dim=-1)[:, :, None]
    first, second = x.chunk(2, dim=-1)
    return x * angles.cos() + torch.cat((-second, first), dim=-1) * angles.sin()


def rope():
    def run(name, shape, interleaved=False, theta=10000.0, llama3=None, positions=None, factor=1.0,
            dynamic=None, yarn=None, amplitude=1.0):
        c = Case(name)
        B, T, _, D = shape
        x = c.normal("x", *shape)
        if dynamic:  # factor, length, context before
            factor_, length, old = dynamic
            theta *= (factor_ * length / old - (factor_ - 1)) ** (D / (D - 2))
        frequencies = 1.0 / theta ** (torch.arange(0, D, 2, dtype=torch.float64) / D) / factor
        if yarn:
            frequencies = yarn_frequencies(frequencies, theta, *yarn)
        if llama3:
            frequencies = llama3_frequencies(frequencies, *llama3)
        if positions is None:
            places = torch.arange(T).expand(B, T)
        else:
            places = c.given("positions", np.array(positions).reshape(B, T)).long()
        c.finish(y=amplitude * rotate(x, places, frequencies, interleaved))

    run("rope_half_b2_t5_h3_d20", (2, 5, 3, 20))
    run("rope_interleaved_b2_t5_h2_d42", (2, 5, 2, 42), interleaved=True)
    run("rope_llama3_b1_t6_h2_d12", (1, 6, 2, 12), theta=100.0, llama3=(8.0, 1.0, 4.0, 100))
    run("rope_linear_b1_t6_h2_d12", (1, 6, 2, 12), factor=4.0)
    run("rope_dynamic_b1_t6_h2_d12", (1, 6, 2, 12), dynamic=(2.0, 40, 16))
    yarn = dict(theta=100.0, yarn=(8.0, 0.5, 4.0, 64))
    run("rope_yarn_b1_t6_h2_d12", (1, 6, 2, 12), amplitude=0.1 * math.log(8.0) + 1, **yarn)
    run("rope_yarn_factor_b1_t6_h2_d12", (1, 6, 2, 12), amplitude=1.3, **yarn)
    run("rope_positions_b2_t5_h2_d16", (2, 5, 2, 16), interleaved=True,
        positions=[0, 1, 2, 0, 1, 7, 39, 0, 1, 2])


def activation():
    c = Case("swiglu_n5_f21")
    gate_up = c.normal("gate_up", 5, 42, scale=2.0)
    gate, up = gate_up.chunk(2, dim=-1)
    c.finish(out=F.silu(gate) * up)

    c = Case("geglu_n5_f21")
    gate, up = c.normal("gate_up", 5, 42, scale=2.0).chunk(2, dim=-1)
    c.finish(out=F.gelu(gate, approximate="tanh") * up)

    c = Case("gelu_n5_f21")
    c.finish(out=F.gelu(c.normal("x", 5, 21, scale=2.0), approximate="tanh"))

    c = Case("relu_squared_n5_f21")
    c.finish(out=F.relu(c.normal("x", 5, 21)).square())


def adamw():
    c = Case("adamw_10_steps_n37")
    param = c.normal("param", 37, grad=False)
    grads = c.normal("grads", 10, 37, grad=False)

    def run(dtype):
        p = torch.nn.Parameter(param.to(dtype, copy=True))
        opt = torch.optim.AdamW([p], lr=1e-2, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1,
                                foreach=False, fused=False)
        for grad in grads:
            p.grad = grad.to(dtype)
            opt.step()
        return p, opt.state[p]["exp_avg"], opt.state[p]["exp_avg_sq"]

    p, m, v = run(torch.float64)
    # The same in float32, which the float32 kernel must match to the last bits.
    for name, value in zip(("f32.master", "f32.m", "f32.v"), run(torch.float32)):
        c.stored[name] = value.detach().numpy()
    c.finish(master=p, weight=p, m=m, v=v)


def muon():
    c = Case("muon_n37")
    param, momentum, grad = (c.normal(name, 37, grad=False) for name in ("param", "momentum", "grad"))
    m = momentum.lerp(0.5 * grad, 0.1)
    u = (0.5 * grad).lerp(m, 0.9)
    u = u / (1.01 * u.norm() + 1e-7)
    master = 0.75 * param - 2.0 * u
    c.finish(master=master, m=m, u=u)

    c = Case("muon_polynomial_s9")
    gram, square = (c.normal(name, 9, 9, grad=False) for name in ("gram", "square"))
    c.finish(out=3.5 * torch.eye(9, dtype=torch.float64) - 2.5 * gram + 0.5 * square)


def reduce():
    c = Case("sum_n101")
    x = c.normal("x", 101, grad=False)
    c.finish(sums=torch.stack((x.sum(), x.square().sum())))

    c = Case("cast_n77")
    x = c.normal("x", 77, scale=3.0, grad=False).float()
    narrow = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16,
              "f8e4m3": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2}
    c.finish(**{name: x.to(dtype).double() for name, dtype in narrow.items()})


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    for make in (matmul, bias, axpy, embedding, rms_norm, layer_norm, rope, attention,
                 attention_rope, activation, mlp,
                 linear_rope, lm_head, adamw, muon, reduce):
        make()
    size = sum(f.stat().st_size for f in OUT.glob("*.safetensors"))
    print(f"{len(list(OUT.glob('*.safetensors')))} files, {size} bytes, torch {torch.__version__}")
