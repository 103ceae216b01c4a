#!/usr/bin/env python3
"""Exports a model with `ingot checkpoint export --to gguf`, runs the file in llama.cpp and compares.

    pip install llama-cpp-python gguf safetensors
    tools/gguf_check.py MODEL --ingot build/cpu/ingot [--dtype f32] [--ids ids.txt] [--texts FILE…]

MODEL is a checkpoint, a Hugging Face folder, or a llama2.c file with --tokenizer. Compared are
- tensors: their bytes with those that the gguf package makes of `export --to hf`; every key of the metadata must be
  one that the package knows;
- logits of --ids, a sequence a line (else ids.txt of MODEL, else random ids), with `ingot checkpoint logits`, relative
  to the largest, and the perplexity of those ids. llama.cpp keeps keys and values in F32 for it;
- greedy tokens: what llama.cpp goes on with is the likeliest by the logits of `ingot`, or all but;
- ids of odd strings, of mixtures of them and of --texts (a text a line; llama.cpp's *.inp as they are) with those of
  `ingot tokenizer encode`. Where the export warned that llama.cpp does not bring text to NFC, texts that are not in NFC
  are left out; where it warned of ties or capitals, one in a hundred may differ. Special tokens that are looked for in
  the text are compared, too, but do not decide: llama.cpp finds <unk>, and <|endoftext|> of the byte tokenizer.
- back: the file that `checkpoint import` and `export` make of the file, byte for byte.
Prints a line for each and exits with 1 where one is beyond --tolerance or differs. Without --tolerance that is 5e-5 for
F32, and 1e-3 where there is a gelu, which is a table of 16-bit numbers in llama.cpp; nothing for other types, whose
activations are rounded as well.
"""
import argparse
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unicodedata

import gguf
import llama_cpp
import numpy
from safetensors.numpy import load_file

SEPARATOR = b"\n\x01\x02 end of text \x02\x01\n"
ODD_TEXTS = [
    "", " ", "  ", "   a", "a ", "a  b", "\n", "\n\n", " \n", "\n \n\n \t\n", "\t\tx", "a\r\nb\r\n",
    "\u00a0x\u3000y\u2003", "Hello world", " Hello", "HELLO wORLD heLLo", "I'm you're he's we'll they'd I've isn't",
    "I'M YOU'RE HE'S", "'S'll'", "don\u2019t \u2018quoted\u2019", "0", "12", "123", "1234", "12345678901234567890",
    "3.14159, -2e10", "1,000,000.00", "\u0663\u0664\u0665\u2163\u00bd\u00b2", "a1b22c333d4444",
    "snake_case camelCase PascalCase XMLHttpRequest", "__init__(self):", "if (x == 0) { return y->z; } // ok",
    "    def f():\n\t\treturn 1\n", "#include <stdio.h>\n\n\nint main()", "!?!? ... ---- ====", "a.b,c;d:e",
    "$100 + \u20ac50 = ~`^|<>", "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea x",
    "\u4f60\u597d\uff0c\u4e16\u754c\u3002", "\u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8123",
    "\ud55c\uad6d\uc5b4 \ubb38\uc7a5", "\u041f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440",
    "\u0645\u0631\u062d\u0628\u0627", "\u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e",
    "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35", "na\u00efve caf\u00e9 \u00c9cole stra\u00dfe", "e\u0301 nfd a\u030a",
    "a\u00c9b \u00e9A \u00d6sterreich\u00c4rger", "\u01c5\u02b0\u00aa", "\ufb01 \u2460 \uff21\uff22\uff23 \u2122",
    "\ufeffbom", "zero\u200bwidth\u00adsoft", "a\u2028b\u2029c\u0085d\x0b\x0ce", "\x00\x01\x7f", "<s>", "</s>",
    "<unk>", "<pad>", "<|endoftext|>", "x<|endoftext|>y", "<|im_start|>user\nhi<|im_end|>", "<0x41>", "[PAD300]",
    "[INST]", "x \n\n  ", "a\n  ", "<tool>", "a<tool> b", "zzqq Helloworldish", "Helloworldish\nzzqq", "\u00e9\u00c9",
    "a\u00c9", "K\u00d6ln", "\u00c9COLE", "\u2581x\u2581\u2581y", "a" * 300, " " * 100 + "x", "\n" * 50, "ab " * 100,
    "\U00010400\U00010428", "\U0001d538\U0001d7d9",
]


def run(command):
    done = subprocess.run([str(part) for part in command], capture_output=True)
    if done.returncode != 0:
        sys.exit(done.stderr.decode().strip() or f"{command}: exit {done.returncode}")
    return done


def known_keys(architecture):
    def strings(scope):
        for value in vars(scope).values():
            if isinstance(value, str):
                yield value
            elif isinstance(value, type):
                yield from strings(value)

    return {key.replace("{arch}", architecture) for key in strings(gguf.constants.Keys)}


def in_pairs(matrix, heads):
    """Rows of queries or keys as llama.cpp's `llama` turns them: (i, i + D/2) as (2i, 2i + 1)."""
    shape = matrix.shape
    return matrix.reshape(heads, 2, shape[0] // heads // 2, *shape[1:]).swapaxes(1, 2).reshape(shape)


def expected_tensors(folder, architecture, layers, heads, kv_heads):
    kinds = {name: kind for kind, name in gguf.MODEL_ARCH_NAMES.items()}
    names = gguf.get_tensor_name_map(kinds[architecture], layers)
    for file in sorted(folder.glob("*.safetensors")):
        for name, tensor in load_file(file).items():
            theirs = names.get_name(name, try_suffixes=(".weight", ".bias"))
            if architecture == "llama" and re.search(r"[qk]_proj", name):
                tensor = in_pairs(tensor, heads if "q_proj" in name else kv_heads)
            if architecture == "gpt2" and re.search(r"(c_attn|c_proj|c_fc)\.weight", name):
                tensor = tensor.T
            if architecture == "gemma2" and name.endswith("norm.weight"):
                tensor = tensor + numpy.float32(1)
            yield theirs, numpy.ascontiguousarray(tensor)


class Check:
    def __init__(self, options, folder):
        self.options = options
        self.failed = False
        self.folder = folder
        self.checkpoint = self.import_model()
        self.file = self.folder / "model.gguf"
        done = run([options.ingot, "checkpoint", "export", self.checkpoint, "--to", "gguf", "--dtype", options.dtype,
                    "--out", self.file])
        self.warnings = done.stderr
        self.reader = gguf.GGUFReader(self.file)
        if options.tolerance is None:
            has_gelu = self.field("general.architecture") in ("gpt2", "gemma2")
            options.tolerance = float("inf") if options.dtype != "f32" else 1e-3 if has_gelu else 5e-5
        self.llama = llama_cpp.Llama(
            str(self.file), n_ctx=0, n_batch=512, logits_all=True, verbose=options.verbose, n_threads=options.threads,
            type_k=llama_cpp.GGML_TYPE_F32, type_v=llama_cpp.GGML_TYPE_F32, flash_attn=False, seed=1)

    def import_model(self):
        model = pathlib.Path(self.options.model)
        if model.suffix != ".bin" and not (model / "config.json").exists():
            return model
        made = self.folder / "checkpoint"
        tokenizer = ["--tokenizer", self.options.tokenizer] if self.options.tokenizer else []
        run([self.options.ingot, "checkpoint", "import", model, "--out", made, *tokenizer])
        return made

    def field(self, key):
        return self.reader.get_field(key).contents()

    def say(self, ok, what):
        self.failed |= not ok
        print(f"  {'ok ' if ok else 'BAD'} {what}", flush=True)

    def tensors(self):
        architecture = self.field("general.architecture")
        unknown = set(self.reader.fields) - known_keys(architecture)
        unknown -= {"GGUF.version", "GGUF.tensor_count", "GGUF.kv_count"}
        self.say(not unknown, f"keys: {len(self.reader.fields)}, not known to the gguf package: {sorted(unknown) or 0}")
        hf = self.folder / "hf"
        run([self.options.ingot, "checkpoint", "export", self.checkpoint, "--to", "hf", "--dtype", "f32", "--out", hf])
        ours = {tensor.name: tensor for tensor in self.reader.tensors}
        heads, kv_heads = (self.field(f"{architecture}.attention.head_count{end}") for end in ("", "_kv"))
        layers = self.field(f"{architecture}.block_count")
        equal, seen = 0, set()
        for name, tensor in expected_tensors(hf, architecture, layers, heads, kv_heads):
            made = gguf.quants.quantize(tensor, ours[name].tensor_type)
            equal += made.tobytes() == ours[name].data.tobytes()
            seen.add(name)
        # Made by the export: divisors of frequencies, a tied head that must be there.
        complete = set(ours) - seen <= {"rope_freqs.weight", "output.weight"}
        types = ", ".join(sorted({tensor.tensor_type.name for tensor in ours.values()}))
        self.say(complete and equal == len(seen), f"tensors: {equal} of {len(seen)} equal ({types})")

    def our_logits(self, ids):
        given, made = self.folder / "ids.txt", self.folder / "logits.safetensors"
        given.write_text(" ".join(map(str, ids)))
        run([self.options.ingot, "checkpoint", "logits", self.checkpoint, "--ids", given, "--out", made,
             "--force"])
        return load_file(made)["logits"]

    def their_logits(self, ids):
        self.llama.reset()
        self.llama.eval(ids)
        return self.llama.scores[: len(ids)].copy()

    def sequences(self):
        """Ids, a line each, cut at the context."""
        context = self.context()
        source = pathlib.Path(self.options.ids or pathlib.Path(self.options.model) / "ids.txt")
        if not source.exists():
            return [[random.Random(1).randrange(self.llama.n_vocab()) for _ in range(min(context, 64))]]
        lines = [list(map(int, re.findall(r"\d+", line))) for line in source.read_text().splitlines()]
        return [line[i : i + context] for line in lines for i in range(0, len(line), context)]

    def context(self):
        return self.field(self.field("general.architecture") + ".context_length")

    def logits(self):
        tokens, largest, difference = 0, 0.0, 0.0
        losses = {"ingot": [], "llama.cpp": []}
        for part in self.sequences():
            tokens += len(part)
            ours, theirs = self.our_logits(part), self.their_logits(part)
            largest = max(largest, float(numpy.abs(ours).max()))
            difference = max(difference, float(numpy.abs(ours - theirs).max()))
            for name, logits in (("ingot", ours), ("llama.cpp", theirs)):
                rows = logits[:-1].astype(numpy.float64)
                chosen = rows[numpy.arange(len(part) - 1), part[1:]]
                losses[name].extend(numpy.logaddexp.reduce(rows, axis=1) - chosen)
        relative = difference / largest
        self.say(relative <= self.options.tolerance, f"logits of {tokens} ids: {relative:.2g} of the largest")
        ours, theirs = (float(numpy.exp(numpy.mean(losses[name]))) for name in losses)
        change = 100 * (theirs / ours - 1)
        self.say(True, f"perplexity of these ids: {ours:.4f} and {theirs:.4f} there, {change:+.3f} %")

    def greedy(self):
        start = self.sequences()[0][: self.options.prompt]
        wanted = min(self.options.tokens, self.context() - len(start))
        self.llama.reset()
        sequence = list(start)
        for _ in range(wanted):
            self.llama.eval(sequence[self.llama.n_tokens :])
            sequence.append(int(self.llama.scores[len(sequence) - 1].argmax()))
        ours = self.our_logits(sequence)[len(start) - 1 : -1]
        chosen = numpy.array(sequence[len(start) :])
        same = int((ours.argmax(axis=1) == chosen).sum())
        lost = (ours.max(axis=1) - ours[numpy.arange(wanted), chosen]).max() / numpy.abs(ours).max()
        self.say(lost <= self.options.tolerance, f"greedy tokens: {same} of {wanted} are the likeliest here too")

    def texts(self):
        chance = random.Random(1)
        parts = [text for text in ODD_TEXTS if len(text) < 24]
        mixed = ["".join(chance.choices(parts, k=chance.randrange(2, 12))) for _ in range(self.options.mixed)]
        texts = [text.encode() for text in ODD_TEXTS + mixed]
        for path in self.options.texts:
            data = pathlib.Path(path).read_bytes()
            texts += data.split(b"\n__ggml_vocab_test__\n" if path.endswith(".inp") else b"\n")
        texts = [text for text in texts if SEPARATOR not in text]
        if self.options.model.endswith(".bin"):  # llama2.c's pieces have no such mark
            texts = [text for text in texts if "\u2581".encode() not in text]
        if b"NFC" in self.warnings:
            texts = [text for text in texts if unicodedata.is_normalized("NFC", text.decode(errors="replace"))]
        given = self.folder / "texts"
        given.write_bytes(b"".join(text + SEPARATOR for text in texts))
        for special in (False, True):
            ours = self.our_ids(given, special)[: len(texts)]
            theirs = [self.llama.tokenize(text, add_bos=False, special=special) for text in texts]
            differing = [i for i in range(len(texts)) if ours[i] != theirs[i]]
            inexact = b" tie" in self.warnings or b"capitals" in self.warnings
            most = len(texts) if special else len(texts) // 100 if inexact else 0
            how = "special tokens found" if special else "special tokens as text"
            equal = len(texts) - len(differing)
            self.say(len(differing) <= most, f"texts, {how}: {equal} of {len(texts)} have equal ids")
            for i in differing[: self.options.show]:
                print(f"      {texts[i][:60]!r}\n        ingot     {ours[i][:24]}\n        llama.cpp {theirs[i][:24]}")

    def back(self):
        made, again = self.folder / "back", self.folder / "again.gguf"
        run([self.options.ingot, "checkpoint", "import", self.file, "--out", made])
        run([self.options.ingot, "checkpoint", "export", made, "--to", "gguf", "--dtype", self.options.dtype, "--out",
             again])
        self.say(again.read_bytes() == self.file.read_bytes(), "back: imported and exported again as the same bytes")

    def our_ids(self, texts, special):
        file = self.checkpoint / "tokenizer.bin"
        tokenizer = file if file.exists() else "byte"
        done = run([self.options.ingot, "tokenizer", "encode", "--tokenizer", tokenizer, "--input", texts,
                    "--separator", SEPARATOR.decode(), *(["--specials"] if special else [])])
        return [list(map(int, line.split())) for line in done.stdout.split(b"\n")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="checkpoint, Hugging Face folder or llama2.c file")
    parser.add_argument("--tokenizer", help="its tokenizer, where it has none")
    parser.add_argument("--ingot", default="build/cpu/ingot")
    parser.add_argument("--dtype", default="f32", choices=["f32", "f16", "bf16", "q8_0"])
    parser.add_argument("--ids", help="text file of ids of tokens")
    parser.add_argument("--texts", nargs="*", default=[], help="files of texts")
    parser.add_argument("--mixed", type=int, default=3000, help="texts put together from odd ones")
    parser.add_argument("--prompt", type=int, default=4, help="ids before the greedy tokens")
    parser.add_argument("--tokens", type=int, default=32, help="greedy tokens")
    parser.add_argument("--tolerance", type=float, help="of logits, relative to the largest")
    parser.add_argument("--show", type=int, default=5, help="texts with other ids to print")
    parser.add_argument("--only", nargs="*", default=["tensors", "logits", "greedy", "texts", "back"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--verbose", action="store_true", help="let llama.cpp speak")
    options = parser.parse_args()
    print(f"{options.model}, {options.dtype}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        check = Check(options, pathlib.Path(folder))
        for step in options.only:
            getattr(check, step)()
        sys.exit(check.failed)


if __name__ == "__main__":
    main()
