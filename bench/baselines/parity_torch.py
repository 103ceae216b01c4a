"""The run of `ingot train` again in PyTorch: same initial weights, same tokens in the same order, same AdamW.
Shows that a loss curve is the model's and not the engine's; docs/benchmarks.md has what came out.

    python bench/baselines/parity_torch.py CHECKPOINT TOKENS.bin RUN…   [--steps N] [--device cuda] [--compile]
CHECKPOINT  a checkpoint of one step with optim.lr = 0, which holds the initial weights
TOKENS.bin  the raw u16 file the runs were trained on
RUN         folders of ingot's runs of it, with bf16, fp8 …: optim.schedule.kind = "constant", its unit = "steps", one micro-batch a step
Prints a line for each hundred steps: the mean loss over them in PyTorch and in each run.
"""
import argparse, json, math, pathlib, struct
import numpy as np
import torch, torch.nn.functional as F

M32 = 0xFFFFFFFF


def philox(counter, key):
    """Philox4x32-10 on one counter of four and one key of two words."""
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & M32, (a >> 32) ^ c[3] ^ k[1], a & M32]
        k = [(k[0] + 0x9E3779B9) & M32, (k[1] + 0xBB67AE85) & M32]
    return c


def sample_at(position, n, seed):
    """Which sample stands at `position` of the endless stream: docs/feed.md."""
    epoch, value = divmod(position, n)
    bits = 1
    while bits < 32 and (n - 1) >> (2 * bits):
        bits += 1
    mask = (1 << bits) - 1
    while True:
        left, right = value >> bits, value & mask
        for r in range(8):
            mixed = philox((right & M32, epoch & M32, epoch >> 32, 4 << 8 | r), (seed & M32, seed >> 32))[0]
            left, right = right, left ^ (mixed & mask)
        value = left << bits | right
        if value < n:
            return value


def read_safetensors(path):
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    return {name: np.frombuffer(data, np.float32, offset=8 + length + entry["data_offsets"][0],
                                count=(entry["data_offsets"][1] - entry["data_offsets"][0]) // 4)
            for name, entry in header.items() if name.startswith("weight:")}


def setting(toml, table, key):
    """One value of the resolved config, which lists every setting in its table on a line of its own."""
    here = None
    for line in toml.splitlines():
        if line.startswith("["):
            here = line.strip("[] ")
        elif here == table and line.split("=")[0].strip() == key:
            return line.split("=", 1)[1].split("#")[0].strip().strip('"').replace("_", "")
    raise SystemExit(f"the checkpoint's config has no {table}.{key}")


class Model(torch.nn.Module):
    def __init__(self, config, weights, T, device):
        super().__init__()
        for key in ("dim", "layers", "heads", "kv_heads", "ffn", "vocab"):
            setattr(self, key, int(setting(config, "model", key)))
        self.eps = float(setting(config, "model", "norm_eps"))
        self.hd = int(setting(config, "model", "head_dim"))
        self.tied = setting(config, "model", "tied") == "true"
        hd, shapes = self.hd, {"embedding.weight": (self.vocab, self.dim), "head.weight": (self.vocab, self.dim)}
        for i in range(self.layers):
            shapes |= {f"layers.{i}.qkv.weight": ((self.heads + 2 * self.kv_heads) * hd, self.dim),
                       f"layers.{i}.out.weight": (self.dim, self.heads * hd),
                       f"layers.{i}.up.weight": (2 * self.ffn, self.dim), f"layers.{i}.down.weight": (self.dim, self.ffn)}
        self.w = torch.nn.ParameterDict({
            name.removeprefix("weight:").replace(".", "/"): torch.nn.Parameter(
                torch.tensor(value, device=device).reshape(shapes.get(name.removeprefix("weight:"), (-1,))))
            for name, value in weights.items()})
        theta = float(setting(config, "model.rope", "theta"))
        angle = torch.outer(torch.arange(T).float(), theta ** (-torch.arange(0, hd, 2).float() / hd))
        self.register_buffer("cos", angle.cos().to(device)), self.register_buffer("sin", angle.sin().to(device))

    def forward(self, ids, targets):
        w = lambda name: self.w[name.replace(".", "/")]
        norm = lambda x, name: F.rms_norm(x, (self.dim,), w(name).to(x.dtype), self.eps)
        B, T = ids.shape
        x = F.embedding(ids, w("embedding.weight"))
        if ids.is_cuda:
            x = x.bfloat16()
        def rotate(t):
            a, b = t.float().chunk(2, -1)
            return torch.cat((a * self.cos - b * self.sin, b * self.cos + a * self.sin), -1).to(t.dtype)
        for i in range(self.layers):
            p = f"layers.{i}."
            q, k, v = F.linear(norm(x, p + "attn_norm.weight"), w(p + "qkv.weight")).split(
                [n * self.hd for n in (self.heads, self.kv_heads, self.kv_heads)], -1)
            q, k, v = (t.view(B, T, -1, self.hd).transpose(1, 2) for t in (q, k, v))
            y = F.scaled_dot_product_attention(rotate(q), rotate(k), v, is_causal=True, enable_gqa=self.heads != self.kv_heads)
            x = x + F.linear(y.transpose(1, 2).reshape(B, T, -1), w(p + "out.weight"))
            gate, up = F.linear(norm(x, p + "mlp_norm.weight"), w(p + "up.weight")).chunk(2, -1)
            x = x + F.linear(F.silu(gate) * up, w(p + "down.weight"))
        logits = F.linear(norm(x, "final_norm.weight"), w("embedding.weight" if self.tied else "head.weight"))
        return F.cross_entropy(logits.float().view(B * T, -1), targets.reshape(-1))


def ingot_losses(run):
    records = (json.loads(line[9:]) for line in (pathlib.Path(run) / "ledger.jsonl").read_text().splitlines())
    return [record["loss"] for record in records if record["kind"] == "step"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("checkpoint", type=pathlib.Path), parser.add_argument("tokens"), parser.add_argument("runs", nargs="+")
    parser.add_argument("--steps", type=int, default=1000), parser.add_argument("--device", default="cuda")
    parser.add_argument("--compile", action="store_true")
    args = parser.parse_args()
    config_of = lambda folder: json.loads((folder / "manifest.json").read_text())["checkpoint"]["config"]
    config, run_config = config_of(args.checkpoint), config_of(sorted(pathlib.Path(args.runs[0]).glob("step_*"))[-1])
    get = lambda table, key: setting(run_config, table, key)
    for key, expected in ("kind", "constant"), ("unit", "steps"):
        if get("optim.schedule", key) != expected:
            raise SystemExit(f'expected runs with optim.schedule.{key} = "{expected}", not "{get("optim.schedule", key)}"')
    T, B, seed = int(get("batch", "seq")), int(get("batch", "micro_batch")), int(get("train", "seed"))
    model = Model(config, read_safetensors(args.checkpoint / "rank_0.safetensors"), T, args.device)
    tokens = np.fromfile(args.tokens, np.uint16).astype(np.int64)
    count = (len(tokens) - 1) // T
    decayed = [p for p in model.w.values() if p.dim() > 1]
    rest = [p for p in model.w.values() if p.dim() == 1]
    lr, warmup = float(get("optim", "lr")), int(get("optim.schedule", "warmup"))
    optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": float(get("optim", "weight_decay"))},
                                   {"params": rest, "weight_decay": 0.0}], lr=lr, eps=float(get("optim", "eps")),
                                  betas=(float(get("optim", "beta1")), float(get("optim", "beta2"))))
    forward = torch.compile(model) if args.compile else model
    losses = []
    for step in range(args.steps):
        rows = [sample_at(step * B + b, count, seed) * T for b in range(B)]
        batch = torch.tensor(np.stack([tokens[r:r + T + 1] for r in rows]), device=args.device)
        for group in optimizer.param_groups:
            group["lr"] = lr * min(1.0, (step + 1) / warmup if warmup else 1.0)
        with torch.autocast(args.device, torch.bfloat16, enabled=args.device == "cuda"):
            loss = forward(batch[:, :-1].contiguous(), batch[:, 1:].contiguous())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), float(get("optim", "clip")))
        optimizer.step(), optimizer.zero_grad(set_to_none=True)
        losses.append(loss.detach())
    columns = {"torch": [x.item() for x in losses]} | {run: ingot_losses(run)[:args.steps] for run in args.runs}
    print("step".rjust(6), *(pathlib.Path(name).name.rjust(12) for name in columns))
    block = min(100, args.steps)
    for end in range(block, args.steps + 1, block):
        print(str(end).rjust(6), *(f"{np.mean(values[end - block:end]):12.4f}" for values in columns.values()))
    for name, values in columns.items():
        gap = np.abs(np.array(values[:args.steps]) - np.array(columns["torch"]))
        print(f"{name}: largest step difference from torch {gap.max():.4f}, mean {gap.mean():.5f}, "
              f"first {gap[0]:.2e}, of the last block's mean {np.mean(values[-block:]) / np.mean(columns['torch'][-block:]) - 1:+.4%}")


main()
