"""Models of Ingot's presets (Llama, Qwen3, OLMo-2) in plain PyTorch, as a user of PyTorch would write them."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass(frozen=True)
class Shape:
    dim: int
    layers: int
    heads: int
    kv_heads: int
    ffn: int
    vocab: int
    tied: bool = False
    head_dim: int = 0  # dim / heads
    qk_norm: str = ""  # over each "head", or the whole "projection"
    norm_after: bool = False  # on a branch's output instead of its input

    @property
    def head_width(self):
        return self.head_dim or self.dim // self.heads


PRESETS = {
    "llama_10m": Shape(256, 8, 8, 8, 768, 8192),
    "debug_120m": Shape(768, 12, 12, 12, 2048, 8192),
    "llama_124m": Shape(768, 12, 12, 12, 2048, 50304, tied=True),
    "llama_500m": Shape(1280, 24, 20, 20, 3456, 32000),
    "llama_1b": Shape(2048, 16, 32, 8, 8192, 128256, tied=True),
    "llama_7b": Shape(4096, 32, 32, 32, 11008, 32000),
    "qwen3_0.6b": Shape(1024, 28, 16, 8, 3072, 151936, tied=True, head_dim=128, qk_norm="head"),
    "olmo2_1b": Shape(2048, 16, 16, 16, 8192, 100352, qk_norm="projection", norm_after=True),
}


class Norm(nn.Module):
    """RMSNorm that keeps the residual stream's dtype whatever the weight's is."""

    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return F.rms_norm(x, self.weight.shape, self.weight.to(x.dtype), 1e-5)


class Layer(nn.Module):
    def __init__(self, shape, linear):
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = shape.heads, shape.kv_heads, shape.head_width
        self.norm_after = shape.norm_after
        self.attention_norm, self.mlp_norm = Norm(shape.dim), Norm(shape.dim)
        self.qkv = linear(shape.dim, (shape.heads + 2 * shape.kv_heads) * self.head_dim, bias=False)
        self.out = linear(shape.heads * self.head_dim, shape.dim, bias=False)
        self.norm_of_heads, self.norm_of_projection = shape.qk_norm == "head", shape.qk_norm == "projection"
        if shape.qk_norm:
            q, k = (self.head_dim * (n if self.norm_of_projection else 1) for n in (self.heads, self.kv_heads))
            self.q_norm, self.k_norm = Norm(q), Norm(k)
        self.up = linear(shape.dim, 2 * shape.ffn, bias=False)
        self.down = linear(shape.ffn, shape.dim, bias=False)

    def forward(self, x, cos, sin):
        B, T, C = x.shape
        widths = [n * self.head_dim for n in (self.heads, self.kv_heads, self.kv_heads)]
        q, k, v = self.qkv(x if self.norm_after else self.attention_norm(x)).split(widths, dim=-1)
        if self.norm_of_projection:
            q, k = self.q_norm(q), self.k_norm(k)
        q, k, v = (part.view(B, T, -1, self.head_dim).transpose(1, 2) for part in (q, k, v))
        if self.norm_of_heads:
            q, k = self.q_norm(q), self.k_norm(k)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=self.heads != self.kv_heads)
        y = self.out(y.transpose(1, 2).reshape(B, T, -1))
        x = x + (self.attention_norm(y) if self.norm_after else y)
        gate, up = self.up(x if self.norm_after else self.mlp_norm(x)).chunk(2, dim=-1)
        y = self.down(F.silu(gate) * up)
        return x + (self.mlp_norm(y) if self.norm_after else y)


def rotate(x, cos, sin):
    """RoPE, half-split, in F32."""
    first, second = x.float().chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1).to(x.dtype)


class Llama(nn.Module):
    def __init__(self, shape, seq, linear=nn.Linear, stream=torch.float32):
        """`linear` makes the layers' matrices, `stream` is the residual stream's dtype."""
        super().__init__()
        self.stream = stream
        self.embedding = nn.Embedding(shape.vocab, shape.dim)
        self.layers = nn.ModuleList(Layer(shape, linear) for _ in range(shape.layers))
        self.final_norm = Norm(shape.dim)
        self.head = nn.Linear(shape.dim, shape.vocab, bias=False)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=0.02)
        if shape.tied:
            self.head.weight = self.embedding.weight
        head_dim = shape.head_width
        frequency = 10000.0 ** (-torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim)
        angle = torch.outer(torch.arange(seq, dtype=torch.float64), frequency)
        self.register_buffer("cos", angle.cos().float(), persistent=False)
        self.register_buffer("sin", angle.sin().float(), persistent=False)

    def forward(self, tokens, targets):
        """Mean cross-entropy in nats."""
        x = self.embedding(tokens).to(self.stream)
        for layer in self.layers:
            x = layer(x, self.cos, self.sin)
        logits = self.head(self.final_norm(x)).float()
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def adamw(model, lr):
    """Fused AdamW as Ingot's recipes set it: matrices decay, norms do not."""
    matrices = [p for p in model.parameters() if p.dim() > 1]
    norms = [p for p in model.parameters() if p.dim() <= 1]
    return torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1}, {"params": norms, "weight_decay": 0.0}],
                             lr=lr, betas=(0.9, 0.95), fused=True)


def median(values):
    return sorted(values)[len(values) // 2]
