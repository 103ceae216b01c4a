#!/usr/bin/env python3
"""Small models of each family as transformers saves them, and their logits: tests/golden/hf.

    tools/goldens/make_exchange_goldens.py tests/golden/hf [NAME…]

Each folder is what `save_pretrained` writes, with a tokenizer of a few letters, ids.txt and
logits.safetensors. Weights are no small noise, which would hide errors: attention is peaked, norms
are away from one, biases are not zero, and the ids reach beyond every window and original context.
Needs torch and transformers 5.
"""
import json
import os
import sys

import torch
from safetensors.torch import save_file
from transformers import (
    AutoModelForCausalLM,
    Gemma2Config,
    GPT2Config,
    LlamaConfig,
    MistralConfig,
    Olmo2Config,
    Qwen2Config,
    Qwen3Config,
)

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from hf_logits import load, logits_of  # noqa: E402

VOCAB, TOKENS = 48, 40

SHAPE = dict(
    vocab_size=VOCAB, hidden_size=16, intermediate_size=24, num_hidden_layers=3,
    num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64,
    bos_token_id=0, eos_token_id=1, pad_token_id=None,
)


def rope(kind, **more):
    return {"rope_type": kind, "rope_theta": 1000.0, **more}


MODELS = {
    "llama": LlamaConfig(**SHAPE, rms_norm_eps=1e-5),
    "llama_tied_bias": LlamaConfig(
        **SHAPE, tie_word_embeddings=True, attention_bias=True, mlp_bias=True, head_dim=8),
    "llama_linear": LlamaConfig(**SHAPE, rope_parameters=rope("linear", factor=4.0)),
    "llama_yarn": LlamaConfig(
        **SHAPE, rope_parameters=rope("yarn", factor=4.0, original_max_position_embeddings=16)),
    "llama_yarn_factor": LlamaConfig(
        **SHAPE, rope_parameters=rope(
            "yarn", factor=4.0, original_max_position_embeddings=16, attention_factor=1.4,
            beta_fast=4.0, beta_slow=0.5)),
    # Scaling begins beyond max_position_embeddings.
    "llama_dynamic": LlamaConfig(
        **{**SHAPE, "max_position_embeddings": 16}, rope_parameters=rope("dynamic", factor=4.0)),
    "smollm2": LlamaConfig(
        **{**SHAPE, "num_attention_heads": 3, "num_key_value_heads": 1, "hidden_size": 12},
        tie_word_embeddings=True, rms_norm_eps=1e-5, rope_parameters=rope("default"),
        is_llama_config=True, rope_interleaved=False),
    "llama_llama3": LlamaConfig(
        **SHAPE, rope_parameters=rope(
            "llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
            original_max_position_embeddings=16)),
    "mistral": MistralConfig(**SHAPE, sliding_window=8),
    "qwen2": Qwen2Config(
        **SHAPE, use_sliding_window=True, sliding_window=8, max_window_layers=1),
    "qwen3": Qwen3Config(**SHAPE, head_dim=12),
    "olmo2": Olmo2Config(**SHAPE),
    "gpt2": GPT2Config(
        vocab_size=VOCAB, n_positions=64, n_embd=16, n_layer=3, n_head=4, n_inner=40,
        bos_token_id=0, eos_token_id=1),
    "gemma2": Gemma2Config(
        **SHAPE, head_dim=8, query_pre_attn_scalar=20, sliding_window=8,
        attn_logit_softcapping=5.0, final_logit_softcapping=6.0),
}


def fill(model, config, generator):
    from_one = "Gemma" in type(model).__name__

    def noise(tensor, std):
        return torch.randn(tensor.shape, generator=generator) * std

    with torch.no_grad():
        for name, tensor in model.named_parameters():
            is_norm = "norm" in name or ".ln_" in name
            if name.endswith("bias"):
                tensor.copy_(noise(tensor, 0.3))
            elif is_norm:
                tensor.copy_(torch.rand(tensor.shape, generator=generator) + (-0.5 if from_one else 0.5))
            elif any(part in name for part in ("q_proj", "k_proj", "c_attn")):
                tensor.copy_(noise(tensor, 0.4))
            else:
                tensor.copy_(noise(tensor, 0.3))


def write_tokenizer(folder):
    letters = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJK"
    spelt = [c.replace(" ", "Ġ") for c in letters]
    vocab = {"<s>": 0, "</s>": 1, **{c: i + 2 for i, c in enumerate(spelt)}}
    special = [
        {"id": i, "content": t, "single_word": False, "lstrip": False, "rstrip": False,
         "normalized": False, "special": True}
        for i, t in enumerate(["<s>", "</s>"])
    ]
    split = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": special,
        "normalizer": None, "pre_tokenizer": split, "post_processor": None, "decoder": split,
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                  "ignore_merges": False, "vocab": vocab, "merges": []},
    }
    with open(os.path.join(folder, "tokenizer.json"), "w") as file:
        json.dump(tokenizer, file)
    with open(os.path.join(folder, "tokenizer_config.json"), "w") as file:
        json.dump({"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>",
                   "eos_token": "</s>",
                   "chat_template": "{% for m in messages %}{{ m['content'] }}{% endfor %}"}, file)


def make(name, config, folder):
    generator = torch.Generator().manual_seed(sum(map(ord, name)))
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager").eval()
    fill(model, config, generator)
    model = model.to(torch.bfloat16)  # files stay small
    model.config.dtype = torch.bfloat16
    os.makedirs(folder, exist_ok=True)
    # One of them in several files.
    model.save_pretrained(folder, max_shard_size="6KB" if name == "qwen3" else "5GB")
    write_tokenizer(folder)
    ids = torch.randint(0, VOCAB, (TOKENS,), generator=generator)
    with open(os.path.join(folder, "ids.txt"), "w") as file:
        file.write(" ".join(map(str, ids.tolist())) + "\n")
    # Loaded again: a model that was cast to 16 bits has lost bits of its rotary frequencies too.
    saved = load(folder)
    logits = logits_of(saved, ids.tolist())
    save_file({"logits": logits.contiguous()}, os.path.join(folder, "logits.safetensors"))
    print(f"{name}: largest logit {logits.abs().max():.3f}")


def main():
    out, wanted = sys.argv[1], sys.argv[2:]
    for name, config in MODELS.items():
        if not wanted or name in wanted:
            make(name, config, os.path.join(out, name))


if __name__ == "__main__":
    main()
