#!/usr/bin/env python3
"""How fast `ingot checkpoint import` takes a large folder, beside reading the same files.

    bench/import_rate.py --ingot build/cpu/ingot --work DIR [--layers 32] [--rounds 3] [--out DIR…]

Makes a Llama of 7B parameters in bf16 (fewer with fewer layers) in DIR as Hugging Face has it, 13.5 GB in three files.
Then, in rounds, since a disk's rate changes by the minute: reads its files, with one thread and with eight, writes as
much in four files side by side, and imports it into each --out, every time from a disk whose cache was emptied (needs
root). A row for each: MB/s of every round, the median, its share of the faster reading's median, resident memory at
most. An import cannot be faster than the disk that it writes to.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import statistics
import struct
import subprocess
import sys
import time

DIM, FFN, HEADS, VOCAB = 4096, 11008, 32, 32000
BLOCK = 4 << 20


def tensors(layers):
    yield "model.embed_tokens.weight", [VOCAB, DIM]
    for i in range(layers):
        layer = f"model.layers.{i}."
        for name in "qkvo":
            yield f"{layer}self_attn.{name}_proj.weight", [DIM, DIM]
        for name in ("gate", "up"):
            yield f"{layer}mlp.{name}_proj.weight", [FFN, DIM]
        yield f"{layer}mlp.down_proj.weight", [DIM, FFN]
        for name in ("input", "post_attention"):
            yield f"{layer}{name}_layernorm.weight", [DIM]
    yield "model.norm.weight", [DIM]
    yield "lm_head.weight", [VOCAB, DIM]


def size(shape):
    total = 2
    for n in shape:
        total *= n
    return total


def write_folder(folder, layers):
    folder.mkdir(parents=True)
    # Bit 6 of the upper byte is clear: no value is NaN or infinite.
    block = os.urandom(BLOCK * 16).translate(bytes(b & 0xBF for b in range(256)))
    everything, files = sorted(tensors(layers)), [[], [], []]  # safetensors writes them in this order
    for i, tensor in enumerate(everything):
        files[i * len(files) // len(everything)].append(tensor)
    index = {}
    for number, content in enumerate(files):
        name = f"model-{number + 1:05}-of-{len(files):05}.safetensors"
        header, at = {}, 0
        for tensor, shape in content:
            header[tensor] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, at + size(shape)]}
            at += size(shape)
            index[tensor] = name
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        with open(folder / name, "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text)
            for _ in range(at // len(block)):
                file.write(block)
            file.write(block[: at % len(block)])
            os.fsync(file.fileno())
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": index}))
    (folder / "config.json").write_text(json.dumps({
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": DIM, "intermediate_size": FFN,
        "num_attention_heads": HEADS, "num_hidden_layers": layers, "vocab_size": VOCAB,
        "max_position_embeddings": 4096}))
    # A tokenizer of bytes is all that an import needs to see.
    letters = [chr(i) for i in range(33, 127)]
    (folder / "tokenizer.json").write_text(json.dumps({
        "version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None, "decoder": None,
        "model": {"type": "WordLevel", "unk_token": "!", "vocab": {c: i for i, c in enumerate(letters)}}}))


def empty_cache():
    os.sync()
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")


def read_range(path, begin, end):
    descriptor = os.open(path, os.O_RDONLY)
    buffer = [bytearray(BLOCK)]
    for at in range(begin, end, BLOCK):
        os.preadv(descriptor, buffer, at)
    os.close(descriptor)


def read_files(files, threads):
    ranges = []
    for path in files:
        step = max(1, path.stat().st_size // threads)
        ranges += [(path, at, min(at + step, path.stat().st_size)) for at in range(0, path.stat().st_size, step)]
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda r: read_range(*r), ranges))


def write_files(folder, total, threads):
    block = os.urandom(BLOCK)

    def write(number):
        with open(folder / f"written_{number}", "wb", buffering=0) as file:
            for _ in range(total // threads // BLOCK):
                file.write(block)
            os.fsync(file.fileno())
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        list(pool.map(write, range(threads)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ingot", required=True)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--layers", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", action="append", type=pathlib.Path, default=[])
    args = parser.parse_args()
    folder = args.work / "folder"
    if not folder.exists():
        write_folder(folder, args.layers)
    files = sorted(folder.glob("*.safetensors"))
    total = sum(path.stat().st_size for path in files)
    print(f"{total / 1e9:.2f} GB in {len(files)} files", flush=True)

    def written():
        write_files(args.work, total, 4)

    def imported(out):
        process = subprocess.Popen([args.ingot, "checkpoint", "import", folder, "--out", out],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            sys.exit("the import failed")
        return usage.ru_maxrss * 1024

    rows = {"reading, 1 thread": lambda: read_files(files, 1), "reading, 8 threads": lambda: read_files(files, 8),
            "writing, 4 files, and syncing": written}
    for place in args.out or [args.work]:
        rows[f"import into {place}"] = lambda out=place / "imported": imported(out)
    rates, resident = {what: [] for what in rows}, {}
    for _ in range(args.rounds):
        for what, work in rows.items():
            empty_cache()
            start = time.monotonic()
            memory = work()
            rates[what].append(total / (time.monotonic() - start) / 1e6)
            resident[what] = max(resident.get(what, 0), memory or 0)
            for path in [*args.work.glob("written_*"), *(place / "imported" for place in args.out or [args.work])]:
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
    fastest = max(statistics.median(rates[what]) for what in rows if what.startswith("reading"))
    for what in rows:
        median = statistics.median(rates[what])
        print(f"{what:34} {median:5.0f} MB/s  {median / fastest:4.2f} of reading  "
              f"({', '.join(f'{rate:.0f}' for rate in rates[what])})"
              + (f"  {resident[what] / 1e6:.0f} MB resident" if resident[what] else ""))


if __name__ == "__main__":
    main()
