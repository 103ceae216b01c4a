"""The models that tools/check_exchange.py compares: every family and every kind of rotary scaling.

Some million parameters each. Windows and original contexts are far shorter than the sequences, heads have the widths
that GPU kernels are made for and others.
"""
import torch
import transformers as hf

VOCAB, T, B, STEPS = 384, 96, 2, 50
ORIGINAL = 32  # context before scaling
WINDOW = 24


def rope(kind="default", theta=10000.0, **more):
    return {"rope_type": kind, "rope_theta": theta, **more}


def shape(dim, heads, kv_heads, **more):
    return {"vocab_size": VOCAB, "hidden_size": dim, "intermediate_size": 2 * dim, "num_hidden_layers": 4,
            "num_attention_heads": heads, "num_key_value_heads": kv_heads, "max_position_embeddings": 128,
            "tie_word_embeddings": False, "rope_parameters": rope(), "bos_token_id": 0, "eos_token_id": 1,
            "pad_token_id": None, **more}


def llama(dim, heads, kv_heads, **more):
    return hf.LlamaConfig(**shape(dim, heads, kv_heads, **more))


def cases():
    yarn = {"factor": 4.0, "original_max_position_embeddings": ORIGINAL}
    llama3 = rope("llama3", 500000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                  original_max_position_embeddings=ORIGINAL)
    return {
        "llama2": llama(256, 4, 4, rms_norm_eps=1e-5),
        "llama3": llama(192, 6, 2, rope_parameters=llama3, rms_norm_eps=1e-5),
        "llama_bias": llama(160, 4, 2, attention_bias=True, mlp_bias=True),  # heads of 40
        "llama_linear": llama(128, 4, 4, rope_parameters=rope("linear", factor=4.0)),
        "llama_dynamic": llama(128, 4, 2, rope_parameters=rope("dynamic", factor=4.0), max_position_embeddings=ORIGINAL),
        "llama_yarn": llama(192, 3, 1, rope_parameters=rope("yarn", **yarn)),
        "llama_yarn_factor": llama(128, 2, 1, rope_parameters=rope("yarn", **yarn, attention_factor=1.3, beta_fast=8.0,
                                                                   beta_slow=0.5)),
        "smollm2": llama(192, 3, 1, tie_word_embeddings=True, rope_parameters=rope(theta=100000.0), rms_norm_eps=1e-5),
        "mistral": hf.MistralConfig(**shape(128, 2, 1, head_dim=128), sliding_window=WINDOW),
        "qwen2": hf.Qwen2Config(**shape(192, 3, 1), use_sliding_window=True, sliding_window=WINDOW, max_window_layers=2),
        "qwen3": hf.Qwen3Config(**shape(128, 4, 2, head_dim=128)),
        "qwen3_yarn": hf.Qwen3Config(**shape(128, 4, 2, head_dim=64, rope_parameters=rope("yarn", 1000000.0, **yarn))),
        "olmo2": hf.Olmo2Config(**shape(192, 4, 2)),  # heads of 48
        "gemma2": hf.Gemma2Config(**shape(128, 4, 2, tie_word_embeddings=True, head_dim=64), sliding_window=WINDOW,
                                  query_pre_attn_scalar=48, attn_logit_softcapping=10.0, final_logit_softcapping=12.0),
        "gpt2": hf.GPT2Config(vocab_size=VOCAB, n_positions=128, n_embd=192, n_layer=4, n_head=3, resid_pdrop=0.0,
                              embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=0, eos_token_id=1),
    }


def rope_kind(config):
    parameters = getattr(config, "rope_parameters", None)
    if parameters is None:
        return "learned"
    return parameters["rope_type"] + (" with factor" if parameters.get("attention_factor") else "")


# How far weights are from the usual small noise. Peaked: queries and keys point at few tokens (the largest weight of
# attention is 0.2 to 0.55 on average), norms are spread over [0.5, 1.5], biases are as large as what they are added to;
# an error anywhere is seen, and training makes rounding grow. Moderate: less of all that, as in a trained model.
KINDS = {"peaked": {"query_key": 1.4, "matrix": 1.0, "norm": 0.5, "bias": 0.3},
         "moderate": {"query_key": 0.8, "matrix": 0.6, "norm": 0.2, "bias": 0.05}}


def fill(model, kind, seed=1):
    """Weights of a kind, the same for every run."""
    gain = KINDS[kind]
    generator = torch.Generator().manual_seed(seed)
    counts_from_one = "Gemma" in type(model).__name__
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            if name.endswith("bias"):
                parameter.copy_(gain["bias"] * noise)
            elif parameter.dim() == 1:
                spread = gain["norm"] * (2 * torch.rand(parameter.shape, generator=generator) - 1)
                parameter.copy_(spread if counts_from_one else 1 + spread)
                if "q_norm" in name or "k_norm" in name:  # these alone decide how peaked attention is
                    parameter.mul_(gain["query_key"])
            elif "embed" in name or "wte" in name or "wpe" in name:
                parameter.copy_((parameter.shape[1] ** -0.5 if model.config.tie_word_embeddings else 0.5) * noise)
            else:
                is_conv1d = "GPT2" in type(model).__name__ and "lm_head" not in name  # (in, out)
                inputs = parameter.shape[0] if is_conv1d else parameter.shape[1]
                wide = any(part in name for part in ("q_proj", "k_proj", "c_attn"))
                parameter.copy_((gain["query_key"] if wide else gain["matrix"]) / inputs**0.5 * noise)
