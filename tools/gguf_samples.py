#!/usr/bin/env python3
"""Small models and tokenizers as Hugging Face folders, for tools/gguf_check.py.

    tools/gguf_samples.py OUT [NAME=FILE…]

OUT/models has what the goldens of tests/golden/hf have not, or not alone: tied heads, biases, windows, scalings.
OUT/tokenizers has a tiny model with each tokenizer of tests/golden/tokenizer/pipelines.jsonl and each FILE, which is a
tokenizer.json or a SentencePiece .model. Several of both are such that the export must refuse them.
Needs torch and transformers 5.
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools/goldens"))
import make_exchange_goldens as goldens  # noqa: E402
from transformers import AutoModelForCausalLM  # noqa: E402

SHAPE = goldens.SHAPE


def yarn(**more):
    return goldens.rope("yarn", factor=4.0, original_max_position_embeddings=16, **more)


def llama3():
    return goldens.rope(
        "llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=16)


def gemma2(**more):
    own = dict(head_dim=8, query_pre_attn_scalar=8, sliding_window=8)
    caps = dict(attn_logit_softcapping=5.0, final_logit_softcapping=6.0)
    return goldens.Gemma2Config(**{**SHAPE, **own, **caps, **more})


def llama(**more):
    return goldens.LlamaConfig(**{**SHAPE, **more})


def qwen3(**more):
    return goldens.Qwen3Config(**SHAPE, head_dim=12, **more)


MODELS = {
    "llama_bias": llama(attention_bias=True, mlp_bias=True),
    "llama_head_dim": llama(head_dim=8),
    "llama_tied": llama(tie_word_embeddings=True),
    "llama_wide": llama(hidden_size=64, intermediate_size=96),  # whole blocks of Q8_0
    "llama_yarn_32": llama(head_dim=32, rope_parameters=yarn()),
    "llama_yarn_factor": llama(head_dim=32, rope_parameters=yarn(attention_factor=1.5)),
    "llama_yarn_betas": llama(head_dim=32, rope_parameters=yarn(beta_fast=4.0, beta_slow=2.0)),  # refused
    "mistral_no_window": goldens.MistralConfig(**SHAPE, sliding_window=None),
    "mistral_wide_window": goldens.MistralConfig(**SHAPE, sliding_window=64),
    "qwen2_no_window": goldens.Qwen2Config(**SHAPE),
    "qwen2_tied": goldens.Qwen2Config(**SHAPE, tie_word_embeddings=True),
    "qwen3_tied": qwen3(tie_word_embeddings=True),
    "qwen3_yarn": qwen3(rope_parameters=yarn()),
    "qwen3_llama3": qwen3(rope_parameters=llama3()),  # refused
    "qwen3_bias": qwen3(attention_bias=True),  # refused
    "olmo2_linear": goldens.Olmo2Config(**SHAPE, rope_parameters=goldens.rope("linear", factor=2.0)),
    "olmo2_tied": goldens.Olmo2Config(**SHAPE, tie_word_embeddings=True),
    "olmo2_bias": goldens.Olmo2Config(**SHAPE, attention_bias=True),  # refused
    "gpt2_untied": goldens.GPT2Config(
        vocab_size=goldens.VOCAB, n_positions=64, n_embd=16, n_layer=3, n_head=4, n_inner=40, bos_token_id=0,
        eos_token_id=1, tie_word_embeddings=False),
    "gemma2_window": gemma2(),
    "gemma2_wide_window": gemma2(sliding_window=64),
    "gemma2_linear": gemma2(rope_parameters=goldens.rope("linear", factor=2.0)),
    "gemma2_yarn": gemma2(rope_parameters=yarn()),
    "gemma2_27b": gemma2(num_hidden_layers=46, query_pre_attn_scalar=4),
    "gemma2_no_caps": gemma2(attn_logit_softcapping=None, final_logit_softcapping=None),  # refused
    "gemma2_bias": gemma2(attention_bias=True),  # refused
}


def write_with_tokenizer(folder, name, contents, vocab):
    model = AutoModelForCausalLM.from_config(
        llama(vocab_size=vocab, num_hidden_layers=1, tie_word_embeddings=True))
    model.save_pretrained(folder)
    (folder / name).write_bytes(contents)


def vocab_of(tokenizer):
    vocab = tokenizer["model"]["vocab"]
    ids = list(vocab.values()) if isinstance(vocab, dict) else list(range(len(vocab)))
    return max(ids + [added["id"] for added in tokenizer["added_tokens"]]) + 1


def main():
    out = pathlib.Path(sys.argv[1])
    for name, config in MODELS.items():
        goldens.make(name, config, str(out / "models" / name))
    tokenizers = {}
    for line in (ROOT / "tests/golden/tokenizer/pipelines.jsonl").read_text().splitlines():
        golden = json.loads(line)
        if "tokenizer" in golden:
            tokenizers[golden["name"]] = golden["tokenizer"]
    for argument in sys.argv[2:]:
        name, path = argument.split("=", 1)
        if path.endswith(".model"):
            import sentencepiece

            vocab = sentencepiece.SentencePieceProcessor(model_file=path).get_piece_size()
            write_with_tokenizer(out / "tokenizers" / name, "tokenizer.model", pathlib.Path(path).read_bytes(), vocab)
        else:
            tokenizers[name] = json.loads(pathlib.Path(path).read_text())
    for name, tokenizer in tokenizers.items():
        text = json.dumps(tokenizer, ensure_ascii=False).encode()
        write_with_tokenizer(out / "tokenizers" / name, "tokenizer.json", text, vocab_of(tokenizer) + 7)


if __name__ == "__main__":
    main()
