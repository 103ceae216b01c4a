"""Replies of a Llama in Hugging Face transformers on one GPU, the peer of `ingot bench decode --weights bf16`.

    python bench/baselines/torch_decode.py --preset llama_1b --batch 1 64 256 --prompt 512 --tokens 128

LlamaForCausalLM with drawn weights in bf16, a static cache and a compiled step that also samples (temperature 0.8,
top-k 40), as its documentation advises for speed. Prints a line for each batch size and, last, one line of JSON.
"""
import argparse
import json
import sys
import time

import torch
import transformers
from transformers import LlamaConfig, LlamaForCausalLM, StaticCache

from llama import PRESETS, median


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="llama_1b", choices=PRESETS)
    parser.add_argument("--batch", type=int, nargs="+", default=[1], help="replies that are written at once")
    parser.add_argument("--prompt", type=int, default=512, help="tokens of each prompt")
    parser.add_argument("--tokens", type=int, default=128, help="new tokens of each reply")
    parser.add_argument("--rounds", type=int, default=3, help="timed rounds, after one that compiles and one that warms up")
    parser.add_argument("--mode", default="reduce-overhead", help="of torch.compile")
    parser.add_argument("--device", default="cuda")
    return parser.parse_args()


def model_of(shape, context, device):
    config = LlamaConfig(hidden_size=shape.dim, num_hidden_layers=shape.layers, num_attention_heads=shape.heads,
                         num_key_value_heads=shape.kv_heads, intermediate_size=shape.ffn, vocab_size=shape.vocab,
                         head_dim=shape.head_width, tie_word_embeddings=shape.tied, max_position_embeddings=context)
    config._attn_implementation = "sdpa"
    torch.set_default_dtype(torch.bfloat16)
    with torch.device(device):
        return LlamaForCausalLM(config).eval()


def sample(logits):
    """(B, V) → (B, 1): temperature 0.8, top-k 40, without waiting for the device."""
    values, ids = logits.topk(40)
    weights = torch.softmax(values.float() / 0.8, dim=-1)
    drawn = (weights / torch.empty_like(weights).exponential_(1)).argmax(dim=-1, keepdim=True)
    return ids.gather(-1, drawn)


def measure(model, args, batch):
    vocab, length = model.config.vocab_size, args.prompt + args.tokens
    cache = StaticCache(config=model.config, max_cache_len=length)
    sync = torch.cuda.synchronize if args.device == "cuda" else (lambda: None)

    def step(ids, positions):
        out = model(input_ids=ids, position_ids=positions, past_key_values=cache, use_cache=True, logits_to_keep=1)
        return sample(out.logits[:, -1])

    compiled = torch.compile(step, mode=args.mode)
    prompts, replies = [], []
    for number in range(args.rounds + 2):  # one compiles, one warms up
        cache.reset()
        ids = torch.randint(0, vocab, (batch, args.prompt), device=args.device)
        sync()
        start = time.monotonic()
        token = step(ids, torch.arange(args.prompt, device=args.device).unsqueeze(0))
        sync()
        began = time.monotonic()
        position = torch.full((1, 1), args.prompt, device=args.device)
        for _ in range(args.tokens - 1):
            torch.compiler.cudagraph_mark_step_begin()
            token = compiled(token, position).clone()
            position += 1
            token.cpu()  # a reply is read token by token
        sync()
        if number > 1:
            prompts.append(began - start)
            replies.append((time.monotonic() - began) / (args.tokens - 1))
    return {"batch": batch, "step_ms": round(median(replies) * 1e3, 3), "tok_s": round(batch / median(replies), 1),
            "prompt_tok_s": round(batch * args.prompt / median(prompts)), "first_token_ms": round(median(prompts) * 1e3, 1)}


def main():
    args = arguments()
    if args.device == "cuda" and not torch.cuda.is_available():
        sys.exit("expected an NVIDIA GPU, got none that PyTorch can use")
    torch.manual_seed(0)
    model = model_of(PRESETS[args.preset], args.prompt + args.tokens, args.device)
    results = []
    with torch.inference_mode():
        for batch in args.batch:
            torch._dynamo.reset()
            start = time.monotonic()
            results.append(measure(model, args, batch))
            print(f"{args.preset}, {batch} replies: {results[-1]['tok_s']:,} tok/s, {results[-1]['step_ms']} ms a step, "
                  f"first token after {results[-1]['first_token_ms']} ms; took {time.monotonic() - start:.0f} s", flush=True)
    print(json.dumps(vars(args) | {"torch": torch.__version__, "transformers": transformers.__version__,
                                   "results": results}))


if __name__ == "__main__":
    main()
