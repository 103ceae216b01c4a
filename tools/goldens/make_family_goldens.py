"""Tiny models of each family in Hugging Face transformers, as golden files for tests/model.

    python tools/goldens/make_family_goldens.py     (torch 2.15, transformers 5.23, safetensors; CPU)

Writes tests/golden/families/<case>.safetensors with the weights ("weight:NAME"), tokens and targets (B, T), the
logits (B, T, V), the loss and its gradient of every parameter ("grad:NAME"), under Ingot's own names and fused
layouts; its metadata has the same model as a TOML section [model] ("model") and transformers' config ("config").
Models compute in float64 as far as transformers lets them. Weights are drawn wide enough for peaked attention, norms
lie away from one and biases away from zero, and sequences go beyond windows and original contexts, so that nothing
that is left out goes unseen.
"""
import json
import pathlib

import torch
import transformers as hf
from safetensors.torch import save_file

OUT = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "families"
B, T, VOCAB, DIM, FFN, LAYERS = 2, 24, 23, 12, 20, 2

# Heads of 6: 4 · 6 is not 12, the width of the stream.
COMMON = dict(vocab_size=VOCAB, hidden_size=DIM, intermediate_size=FFN, num_hidden_layers=LAYERS,
              num_attention_heads=4, num_key_value_heads=2, head_dim=6, max_position_embeddings=64,
              tie_word_embeddings=False, rms_norm_eps=1e-5, attention_dropout=0.0,
              bos_token_id=None, eos_token_id=None, pad_token_id=None)


def rope(kind="default", theta=100.0, **parameters):
    return dict(rope_type=kind, rope_theta=theta, **parameters)


def llama(**changes):
    return hf.LlamaConfig(**{**COMMON, "rope_parameters": rope(), **changes})


def gpt2():
    return hf.GPT2Config(vocab_size=VOCAB, n_positions=64, n_embd=DIM, n_layer=LAYERS, n_head=2, n_inner=FFN,
                         activation_function="gelu_new", resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
                         layer_norm_epsilon=1e-5, bos_token_id=None, eos_token_id=None)


def gemma2():
    return hf.Gemma2Config(**{**COMMON, "tie_word_embeddings": True, "rope_parameters": rope(), "sliding_window": 5,
                              "layer_types": ["sliding_attention", "full_attention"], "query_pre_attn_scalar": 3,
                              "attn_logit_softcapping": 2.0, "final_logit_softcapping": 4.0,
                              "hidden_activation": "gelu_pytorch_tanh"})


# Of each case: transformers' config, and what the section [model] says besides what follows from shapes.
CASES = {
    "llama2": (llama(num_attention_heads=2, num_key_value_heads=2), {}),
    "llama_biases": (llama(attention_bias=True, mlp_bias=True),
                     {"qkv_bias": True, "out_bias": True, "mlp_bias": True}),
    "llama_linear": (llama(rope_parameters=rope("linear", factor=4.0)),
                     {"rope.scaling": "linear", "rope.factor": 4.0}),
    "llama_dynamic": (llama(rope_parameters=rope("dynamic", factor=2.0), max_position_embeddings=8),
                      {"rope.scaling": "dynamic", "rope.factor": 2.0, "rope.original_context": 8}),
    "llama_yarn": (llama(rope_parameters=rope("yarn", factor=8.0, original_max_position_embeddings=8,
                                              beta_fast=1.0, beta_slow=0.1)),
                   {"rope.scaling": "yarn", "rope.factor": 8.0, "rope.original_context": 8,
                    "rope.beta_fast": 1.0, "rope.beta_slow": 0.1}),
    "llama_yarn_factor": (llama(rope_parameters=rope("yarn", factor=8.0, original_max_position_embeddings=8,
                                                     attention_factor=1.5)),
                          {"rope.scaling": "yarn", "rope.factor": 8.0, "rope.original_context": 8,
                           "rope.attention_factor": 1.5}),
    "llama3": (llama(tie_word_embeddings=True,
                     rope_parameters=rope("llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                                          original_max_position_embeddings=16)),
               {"rope.scaling": "llama3", "rope.factor": 8.0, "rope.original_context": 16}),
    "mistral": (hf.MistralConfig(**COMMON, rope_parameters=rope(), sliding_window=5), {"window": 5}),
    "qwen2": (hf.Qwen2Config(**COMMON, rope_parameters=rope(), use_sliding_window=True, sliding_window=5,
                             max_window_layers=1),
              {"qkv_bias": True, "window": 5, "window_layers": "fw"}),
    "qwen3": (hf.Qwen3Config(**COMMON, rope_parameters=rope()), {"qk_norm": True}),
    "olmo2": (hf.Olmo2Config(**COMMON, rope_parameters=rope()),
              {"norm_place": "after", "qk_norm": True, "qk_norm_span": "projection"}),
    "gemma2": (gemma2(), {"norm_place": "both", "activation": "geglu", "embedding_scale": DIM**0.5, "window": 5,
                          "window_layers": "wf", "attn_scale": 3**-0.5, "attn_softcap": 2.0, "softcap": 4.0}),
    "gpt2": (gpt2(), {"positions": "learned", "norm": "layer", "activation": "gelu", "qkv_bias": True,
                      "out_bias": True, "mlp_bias": True}),
}


def model_section(config, more):
    """The same model in Ingot's words."""
    get = lambda *names: next(getattr(config, n) for n in names if getattr(config, n, None) is not None)
    heads = get("num_attention_heads", "n_head")
    section = {"dim": DIM, "layers": LAYERS, "heads": heads,
               "kv_heads": getattr(config, "num_key_value_heads", None) or heads,
               "head_dim": getattr(config, "head_dim", None) or DIM // heads, "ffn": FFN, "vocab": VOCAB,
               "context": 64, "tied": config.tie_word_embeddings,
               "norm_eps": get("rms_norm_eps", "layer_norm_epsilon")}
    if getattr(config, "rope_parameters", None):
        section["rope.theta"] = config.rope_parameters["rope_theta"]
    return "[model]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in {**section, **more}.items())


def draw(model):
    g = torch.Generator().manual_seed(20261118)
    is_gemma = type(model).__name__.startswith("Gemma")
    with torch.no_grad():
        for name, p in model.named_parameters():
            noise = torch.randn(p.shape, generator=g, dtype=torch.float32)
            if name.endswith("bias"):
                p.copy_(0.3 * noise)
            elif p.dim() == 1:  # a norm; Gemma's count from one
                p.copy_(0.3 * noise + (0 if is_gemma else 1))
            elif "embed" in name or "wte" in name or "wpe" in name:
                p.copy_(noise)
            else:
                p.copy_(0.45 * noise)


def layers_in(values, name):
    return sum(name.format(i) in values for i in range(len(values)))


def ingot_names(model, values):
    """values: transformers' name -> tensor; fused and named as Ingot has them. Gradients go the same way."""
    if "transformer.wte.weight" in values:
        return gpt2_names(values)
    is_gemma = type(model).__name__.startswith("Gemma")
    out = {"embedding.weight": values["model.embed_tokens.weight"]}
    plain = {"self_attn.q_norm": "q_norm", "self_attn.k_norm": "k_norm", "self_attn.o_proj": "out",
             "mlp.down_proj": "down", "post_feedforward_layernorm": "mlp_post_norm"}
    before = any("input_layernorm" in n for n in values)
    if before:
        plain["input_layernorm"] = "attn_norm"
    after = any("post_feedforward_layernorm" in n for n in values)
    plain["post_attention_layernorm"] = "attn_post_norm" if after else "mlp_norm"
    plain["pre_feedforward_layernorm"] = "mlp_norm"
    for i in range(layers_in(values, "model.layers.{}.mlp.down_proj.weight")):
        theirs, ours = f"model.layers.{i}.", f"layers.{i}."
        for part in ("weight", "bias"):
            if f"{theirs}self_attn.q_proj.{part}" in values:
                out[f"{ours}qkv.{part}"] = torch.cat([values[f"{theirs}self_attn.{x}_proj.{part}"] for x in "qkv"])
            up = [f"{theirs}mlp.{x}_proj.{part}" for x in ("gate", "up")]  # not every MLP has a gate
            if up[-1] in values:
                out[f"{ours}up.{part}"] = torch.cat([values[name] for name in up if name in values])
            for name, ours_name in plain.items():
                if f"{theirs}{name}.{part}" in values:
                    out[f"{ours}{ours_name}.{part}"] = values[f"{theirs}{name}.{part}"]
    out["final_norm.weight"] = values["model.norm.weight"]
    if "lm_head.weight" in values:
        out["head.weight"] = values["lm_head.weight"]
    return out, {n for n in out if is_gemma and "norm" in n}


def gpt2_names(values):
    out = {"embedding.weight": values["transformer.wte.weight"], "position.weight": values["transformer.wpe.weight"]}
    names = {"ln_1": "attn_norm", "attn.c_attn": "qkv", "attn.c_proj": "out", "ln_2": "mlp_norm", "mlp.c_fc": "up",
             "mlp.c_proj": "down"}
    for i in range(layers_in(values, "transformer.h.{}.mlp.c_proj.weight")):
        for theirs, ours in names.items():
            for part in ("weight", "bias"):
                v = values[f"transformer.h.{i}.{theirs}.{part}"]
                out[f"layers.{i}.{ours}.{part}"] = v.T if v.dim() == 2 else v  # Conv1D has its weight transposed
    for part in ("weight", "bias"):
        out[f"final_norm.{part}"] = values[f"transformer.ln_f.{part}"]
    return out, set()


def make(name, config, more):
    config._attn_implementation = "eager"
    model = hf.AutoModelForCausalLM.from_config(config).double().eval()
    draw(model)
    g = torch.Generator().manual_seed(7)
    tokens = torch.randint(0, VOCAB, (B, T), generator=g)
    targets = torch.randint(0, VOCAB, (B, T), generator=g)
    logits = model(tokens, use_cache=False).logits.double()
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
    loss.backward()
    parameters = dict(model.named_parameters())
    weights, from_one = ingot_names(model, {k: v.detach() for k, v in parameters.items()})
    gradients, _ = ingot_names(model, {k: v.grad for k, v in parameters.items()})
    used = sum(v.numel() for v in weights.values())
    assert used == sum(v.numel() for v in parameters.values()), (name, used)
    out = {f"weight:{k}": (v + 1 if k in from_one else v) for k, v in weights.items()}
    out |= {f"grad:{k}": v for k, v in gradients.items()}
    out = {k: v.float().contiguous().clone() for k, v in out.items()}
    out |= {"tokens": tokens.int(), "targets": targets.int(), "logits": logits.detach().float(),
            "loss": loss.detach().reshape(1)}
    save_file(out, OUT / f"{name}.safetensors",
              metadata={"model": model_section(config, more), "config": config.to_json_string(),
                        "torch": torch.__version__, "transformers": hf.__version__})
    with torch.no_grad():
        attention = model(tokens, output_attentions=True, use_cache=False).attentions[0].max(-1).values.mean()
    print(f"{name}: {used} parameters, loss {loss.item():.4f}, largest logit {logits.abs().max().item():.2f}, "
          f"mean largest weight of attention {attention.item():.2f}")


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    for case, (settings, ours) in CASES.items():
        make(case, settings, ours)
