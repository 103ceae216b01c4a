#!/usr/bin/env python3
"""Encodes a large corpus with `ingot tokenizer encode` and with Hugging Face tokenizers, tiktoken and SentencePiece, and
compares every id.

    pip install tokenizers tiktoken sentencepiece
    python tools/compare_encoding.py --ingot build/cpu/ingot [--code FOLDER…] [--code-mb 30]

English, Chinese and Japanese are the texts of ../shared/data; code is the C, C++ and Python files of --code (Python's own
library and /usr/include if none is given). A file is a document; for SentencePiece, a line. Files that are not UTF-8 are
left out: the other programs take text. Prints a table and exits with 1 if a document has other ids.
"""

import argparse
import base64
import json
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile

import sentencepiece
import tiktoken
from tiktoken_ext import openai_public
from tokenizers import Tokenizer

ROOT = pathlib.Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared/data"
SEPARATOR = "\n\x01\x02 end of document \x02\x01\n"


def documents_of(paths, most_bytes=None):
    documents, total = [], 0
    for path in paths:
        if most_bytes is not None and total >= most_bytes:
            break
        try:
            text = path.read_bytes().decode()
        except UnicodeDecodeError:
            continue
        if text and SEPARATOR not in text:
            documents.append(text)
            total += len(text.encode())
    return documents


def corpora(options):
    text = DATA / "text"

    def files(*roots):
        return sorted(file for root in roots for file in ([root] if root.is_file() else root.rglob("*")) if file.is_file())

    endings = {".py", ".c", ".h", ".cpp", ".hpp", ".cc"}
    code = [file for folder in options.code for file in files(pathlib.Path(folder)) if file.suffix in endings]
    return {
        "English": documents_of(files(text / "novels_en", *text.glob("*.txt"))),
        "Chinese": documents_of(files(text / "zh_d2l", text / "zh_songci")),
        "Japanese": documents_of(files(text / "ja")),
        "code": documents_of(code, options.code_mb * 1e6),
    }


def hugging_face(path):
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.encode_special_tokens = True  # special tokens spelt in a document are text
    return lambda texts: [encoding.ids for encoding in tokenizer.encode_batch_fast(texts, add_special_tokens=False)]


def published_pattern(encoding):
    openai_public.load_tiktoken_bpe = lambda *_, **__: {}  # the ranks would come over the network
    return getattr(openai_public, encoding)()["pat_str"]


def rank_merger(path, pattern):
    ranks = {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, open(path, "rb"))}
    encoding = tiktoken.Encoding(path.stem, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return lambda texts: [encoding.encode_ordinary(text) for text in texts]


def cl100k_ranks(folder):
    """dolma2's vocabulary is cl100k's: its tokens in order of id are the ranks."""
    vocab = json.load(open(DATA / "tokenizers/dolma2_hf_tokenizer.json"))["model"]["vocab"]
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    byte_of = {chr(byte): byte for byte in plain} | {chr(256 + i): byte for i, byte in enumerate(others)}
    path = folder / "cl100k_base.tiktoken"
    with open(path, "w") as file:
        for token, rank in sorted(vocab.items(), key=lambda item: item[1]):
            if all(character in byte_of for character in token):
                file.write(base64.b64encode(bytes(byte_of[character] for character in token)).decode() + f" {rank}\n")
    return path


def train(options, folder, kind, documents):
    """A SentencePiece model of the usual size, made by our own command."""
    text, model = folder / "train.txt", folder / f"{kind}.model"
    text.write_text("".join(documents), newline="")
    command = [options.ingot, "tokenizer", "train", "--type", kind, "--input", text, "--out", model]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return model


def encode_with_ingot(options, tokenizer, split, texts, separator, folder):
    text = folder / "text"
    text.write_bytes(separator.join(texts).encode() + separator.encode())
    command = [options.ingot, "tokenizer", "encode", "--tokenizer", tokenizer, "--input", text, "--separator", separator]
    out = subprocess.run(command + (["--split", split] if split else []), check=True, stdout=subprocess.PIPE).stdout
    return out.decode().splitlines()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", default=str(ROOT / "build/cpu/ingot"))
    parser.add_argument("--code", nargs="+", default=[sysconfig.get_path("stdlib"), "/usr/include"])
    parser.add_argument("--code-mb", type=float, default=30)
    options = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        texts = corpora(options)
        files = DATA / "tokenizers"
        cl100k = cl100k_ranks(folder)
        others = [(files / file, "", "tokenizers", hugging_face(files / file)) for file in
                  ("gpt2_hf_tokenizer.json", "dolma2_hf_tokenizer.json", "gpt_neox_olmo_hf_tokenizer.json", "minimind_6400_hf_tokenizer.json")]
        others.append((files / "r50k_base.tiktoken", "", "tiktoken", rank_merger(files / "r50k_base.tiktoken", openai_public.r50k_pat_str)))
        others.append((cl100k, "", "tiktoken", rank_merger(cl100k, published_pattern("cl100k_base"))))
        ranks = shutil.copy(cl100k, folder / "ranks.tiktoken")  # the name would say how text is cut
        others.append((pathlib.Path(ranks), "o200k", "tiktoken", rank_merger(cl100k, published_pattern("o200k_base"))))
        sample = [text[:2_000_000] for group in texts.values() for text in group[::8]]
        for model in (files / "sentencepiece_test_unigram.model", train(options, folder, "unigram", sample), train(options, folder, "sp-bpe", sample)):
            others.append((model, "", "sentencepiece", sentencepiece.SentencePieceProcessor(model_file=str(model)).encode))
        print(f"{'text':<9} {'MB':>6} {'documents':>9} {'tokens':>11} {'different':>9}  tokenizer, compared with")
        for path, split, program, encode in others:
            for language, documents in texts.items():
                by_line = program == "sentencepiece"
                separator = "\n" if by_line else SEPARATOR
                inputs = [line for text in documents for line in text.split("\n")] if by_line else documents
                ours = encode_with_ingot(options, path, split, inputs, separator, folder)
                theirs = encode(inputs)
                assert len(ours) == len(theirs) == len(inputs)
                different = sum(mine != " ".join(map(str, ids)) for mine, ids in zip(ours, theirs))
                megabytes = sum(len(text.encode()) for text in inputs) / 1e6
                print(f"{language:<9} {megabytes:>6.1f} {len(inputs):>9} {sum(map(len, theirs)):>11} {different:>9}"
                      f"  {path.name}{' ' + split if split else ''}, {program}", flush=True)
                failed |= different > 0
    sys.exit(failed)


if __name__ == "__main__":
    main()
