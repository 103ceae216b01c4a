"""Ten training steps of tiny models in PyTorch, fp32, as golden files for tests/model.

    python tools/goldens/make_model_goldens.py      (torch 2.15, numpy, safetensors; CPU)

Writes tests/golden/model/<case>.safetensors with, for each case: the initial weights ("init:NAME"), the
batches ("tokens", "targets", "document_start": (steps, B, T)), each step's loss ("losses") and global gradient
norm ("norms"), and each step's gradient of every parameter ("grad:STEP:NAME"), all under Ingot's own names
and fused layouts. The model is written here from the papers' formulas, with autograd for the backward.
"""
import math
import pathlib

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

OUT = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "model"
STEPS, B, T = 10, 2, 12
PLAIN = dict(dim=16, layers=2, heads=4, kv_heads=2, head_dim=4, ffn=24, vocab=32, tied=False, relu2=False,
             interleaved=False, llama3=False, qk_norm=False, window=0, softcap=0.0, z_loss=0.0, documents=False)
CASES = {
    "plain": PLAIN,
    "everything": dict(PLAIN, tied=True, relu2=True, interleaved=True, llama3=True, qk_norm=True, window=5,
                       softcap=4.0, z_loss=1e-2, documents=True),
}
LR, BETAS, EPS, DECAY, CLIP, NORM_EPS = 2e-3, (0.9, 0.95), 1e-8, 0.1, 1.0, 1e-5


def parameters(c):
    g = torch.Generator().manual_seed(20261115)
    normal = lambda *shape: torch.randn(*shape, generator=g) * 0.2
    # Norm weights away from 1, so that a norm whose weight is ignored does not pass.
    scale = lambda n: 1 + torch.randn(n, generator=g) * 0.1
    H, G, D, C, Ffn = c["heads"], c["kv_heads"], c["head_dim"], c["dim"], c["ffn"]
    p = {"embedding.weight": normal(c["vocab"], C)}
    for i in range(c["layers"]):
        n = f"layers.{i}."
        p[n + "attn_norm.weight"] = scale(C)
        p[n + "qkv.weight"] = normal((H + 2 * G) * D, C)
        if c["qk_norm"]:
            p[n + "q_norm.weight"], p[n + "k_norm.weight"] = scale(D), scale(D)
        p[n + "out.weight"] = normal(C, H * D)
        p[n + "mlp_norm.weight"] = scale(C)
        p[n + "up.weight"] = normal(Ffn if c["relu2"] else 2 * Ffn, C)
        p[n + "down.weight"] = normal(C, Ffn)
    p["final_norm.weight"] = scale(C)
    if not c["tied"]:
        p["head.weight"] = normal(c["vocab"], C)
    return {k: v.requires_grad_() for k, v in p.items()}


def rms_norm(x, w):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + NORM_EPS) * w


def frequencies(c):
    D = c["head_dim"]
    f = 10000.0 ** (-torch.arange(0, D, 2, dtype=torch.float64) / D)
    if c["llama3"]:  # factor 8, low 1, high 4, original context 16: small, so that every branch is taken
        factor, low, high, context = 8.0, 1.0, 4.0, 16
        wavelength = 2 * math.pi / f
        smooth = ((context / wavelength - low) / (high - low)).clamp(0, 1)
        f = torch.where(wavelength > context / low, f / factor,
                        torch.where(wavelength < context / high, f, (1 - smooth) * f / factor + smooth * f))
    return f


def rotate(x, positions, c):  # x (B, T, H, D), positions (B, T)
    angle = positions[:, :, None, None].double() * frequencies(c)
    cos, sin = angle.cos().float(), angle.sin().float()
    if c["interleaved"]:
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), -1)


def loss_of(p, c, tokens, targets, document_start):
    H, G, D = c["heads"], c["kv_heads"], c["head_dim"]
    t = torch.arange(T)
    positions = t[None, :] - document_start
    visible = (t[None, :, None] >= t[None, None, :]) & (t[None, None, :] >= document_start[:, :, None])
    if c["window"]:
        visible &= t[None, None, :] > t[None, :, None] - c["window"]
    x = p["embedding.weight"][tokens]
    for i in range(c["layers"]):
        n = f"layers.{i}."
        qkv = rms_norm(x, p[n + "attn_norm.weight"]) @ p[n + "qkv.weight"].T
        q, k, v = qkv.view(B, T, H + 2 * G, D).split((H, G, G), 2)
        if c["qk_norm"]:
            q, k = rms_norm(q, p[n + "q_norm.weight"]), rms_norm(k, p[n + "k_norm.weight"])
        q, k = rotate(q, positions, c), rotate(k, positions, c)
        k, v = k.repeat_interleave(H // G, 2), v.repeat_interleave(H // G, 2)
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(D)
        scores = scores.masked_fill(~visible[:, None], float("-inf"))
        attn = torch.einsum("bhqk,bkhd->bqhd", scores.softmax(-1), v).reshape(B, T, H * D)
        x = x + attn @ p[n + "out.weight"].T
        up = rms_norm(x, p[n + "mlp_norm.weight"]) @ p[n + "up.weight"].T
        if c["relu2"]:
            act = F.relu(up).square()
        else:
            gate, value = up.chunk(2, -1)
            act = F.silu(gate) * value
        x = x + act @ p[n + "down.weight"].T
    logits = rms_norm(x, p["final_norm.weight"]) @ p["embedding.weight" if c["tied"] else "head.weight"].T
    if c["softcap"]:
        logits = c["softcap"] * torch.tanh(logits / c["softcap"])
    lse = logits.logsumexp(-1)
    losses = lse - logits.gather(-1, targets.clamp(min=0)[..., None])[..., 0] + c["z_loss"] * lse.square()
    counted = targets >= 0
    return losses[counted].sum() / counted.sum()


def make(name, c):
    p = parameters(c)
    out = {"init:" + k: v.detach().clone() for k, v in p.items()}
    g = torch.Generator().manual_seed(7)
    tokens = torch.randint(0, c["vocab"], (STEPS, B, T), generator=g)
    targets = torch.randint(0, c["vocab"], (STEPS, B, T), generator=g)
    starts = torch.zeros(STEPS, B, T, dtype=torch.long)
    if c["documents"]:
        targets[:, :, 3] = -1  # ignored
        starts[:, 0, 4:] = 4
        starts[:, 1, 7:] = 7
        starts[:, 1, 10:] = 10
    vectors = [v for v in p.values() if v.dim() == 1]
    matrices = [v for v in p.values() if v.dim() > 1]
    opt = torch.optim.AdamW([{"params": matrices, "weight_decay": DECAY}, {"params": vectors, "weight_decay": 0.0}],
                            lr=LR, betas=BETAS, eps=EPS)
    losses, norms = [], []
    for step in range(STEPS):
        loss = loss_of(p, c, tokens[step], targets[step], starts[step])
        opt.zero_grad()
        loss.backward()
        for k, v in p.items():
            out[f"grad:{step}:{k}"] = v.grad.clone()
        norms.append(torch.nn.utils.clip_grad_norm_(list(p.values()), CLIP).item())
        losses.append(loss.item())
        opt.step()
    out |= {"tokens": tokens.int(), "targets": targets.int(), "document_start": starts.int(),
            "losses": torch.tensor(losses, dtype=torch.float64), "norms": torch.tensor(norms, dtype=torch.float64)}
    OUT.mkdir(parents=True, exist_ok=True)
    save_file(out, OUT / f"{name}.safetensors", metadata={"torch": torch.__version__})
    print(name, sum(v.numel() for v in p.values()), "parameters, losses", [round(x, 4) for x in losses])


for case, settings in CASES.items():
    make(case, settings)
