#!/usr/bin/env python3
"""Draws random tokenizer.json files and random texts and compares `ingot tokenizer encode` and `decode` with Hugging
Face tokenizers: ids with special tokens found in the text, ids with them taken for text, decoded text.

    pip install tokenizers
    python tools/pipeline_sweep.py --ingot build/cpu/ingot [--files 200] [--texts 200] [--seed 0] [--keep FOLDER]

tools/pipeline_draws.py says what is drawn. A file that is refused is counted by what the message says. What
docs/tokenizer.md names as a difference on purpose is counted apart. With --keep, each file that differs is written to
FOLDER with a text made short. Exits with 1 if anything differs.
"""

import argparse
import collections
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from tokenizers import Tokenizer

import pipeline_draws as draws

SEPARATOR = "\n\x01\x02 end of document \x02\x01\n"


class Refused(Exception):
    pass


class Ingot:
    """One tokenizer.json, many texts in one process."""

    def __init__(self, program, folder, file):
        self.program, self.folder = program, folder
        self.path = folder / "tokenizer.json"
        self.path.write_text(json.dumps(file), encoding="utf-8")

    def run(self, command, data, *options):
        source = self.folder / "input"
        source.write_bytes(data)
        words = [self.program, "tokenizer", command, "--tokenizer", self.path, "--input", source, *options]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:
            raise Refused(done.stderr.decode(errors="replace").strip() or f"status {done.returncode}")
        return done.stdout

    def encode(self, texts, *options):
        data = "".join(text + SEPARATOR for text in texts).encode()
        out = self.run("encode", data, "--separator", SEPARATOR, "--threads", "1", *options)
        return [[int(word) for word in line.split()] for line in out.decode().split("\n")[:-1]]

    def decode(self, sequences):
        data = "".join(" ".join(map(str, ids)) + "\n" for ids in sequences).encode()
        out = self.run("decode", data, "--separator", SEPARATOR)
        return [part.decode(errors="replace") for part in out.split(SEPARATOR.encode())]


def refusal(error):
    if isinstance(error, KeyboardInterrupt):
        raise error
    return f"error: {error}"


class HuggingFace:

    def __init__(self, file):
        self.made = Tokenizer.from_str(json.dumps(file))
        self.made.no_truncation()
        self.made.no_padding()
        special = [token for token in file["added_tokens"] if token["special"]]
        self.special = {token["id"] for token in special}
        self.spellings = {form for token in special for form in (token["content"], self.normalized(token["content"]))}

    def normalized(self, text):
        return self.made.normalizer.normalize_str(text) if self.made.normalizer else text

    def spells_special(self, text):
        return any(spelling in text for spelling in self.spellings)

    def encode(self, text, specials=True):
        self.made.encode_special_tokens = not specials
        try:
            return self.made.encode(text, add_special_tokens=False).ids
        except BaseException as error:  # a panic of Rust is no Exception
            return refusal(error)

    def decode(self, ids):
        """Without special tokens: it keeps those whose content the normalizer changes."""
        try:
            return self.made.decode([id for id in ids if id not in self.special])
        except BaseException as error:
            return refusal(error)


def on_purpose(file, ours, theirs):
    """The vocabulary has a special token as a piece, and their model made it of text. Ours never does."""
    special = {token["id"] for token in file["added_tokens"] if token["special"]}
    count = lambda ids: sum(id in special for id in ids)
    return count(theirs) > count(ours)


def shortened(differs, text):
    """Without what is not needed to differ; `differs` says of a list of texts which do."""
    size = max(1, len(text) // 2)
    while True:
        shorter = [text[:at] + text[at + size:] for at in range(0, len(text), size)]
        found = next((one for one, bad in zip(shorter, differs(shorter)) if bad and one != text), None)
        if found is not None:
            text = found
        elif size == 1:
            return text
        else:
            size = max(1, size // 2)


def compare(file, rng, options, folder):
    """Counts: texts, and of them those that differ, by what; examples."""
    ingot, other = Ingot(options.ingot, folder, file), HuggingFace(file)
    contents = [token["content"] for token in file["added_tokens"]]
    texts = [draws.text(rng, contents) for _ in range(options.texts)]
    counts, example = collections.Counter(texts=len(texts)), None

    def different(some, specials):
        flags = ["--specials"] if specials else []
        pairs = list(zip(ingot.encode(some, *flags), [other.encode(text, specials) for text in some], strict=True))
        return [None if mine == theirs else (mine, theirs) for mine, theirs in pairs]

    known = [text for text in texts if isinstance(other.encode(text), list)]
    counts["they refuse the text"] += len(texts) - len(known)
    for specials in (True, False):
        name = "with specials" if specials else "specials as text"
        # Which tokens are found inside a special one that stays text is another question: docs/tokenizer.md.
        plain = [
            text for text in known
            if specials or not any(other.spells_special(part) for part in (text, other.normalized(text)))
        ]
        for text, found in zip(plain, different(plain, specials)):
            if found is None:
                continue
            if on_purpose(file, *found):
                counts["special tokens that their model makes"] += 1
                continue
            counts["other ids, " + name] += 1
            if example is None:
                bad = lambda some: [
                    pair is not None and not on_purpose(file, *pair) for pair in different(some, specials)
                ]
                short = shortened(bad, text)
                example = {"what": name, "text": short, "ours and theirs": different([short], specials)[0]}
    size = max([*(token["id"] for token in file["added_tokens"]), len(file["model"]["vocab"]) - 1])
    sequences = [[id for id in other.encode(text)] for text in known[::2]]
    if size >= 0:  # a vocabulary may be empty
        drawn = range(options.texts // 4)
        sequences += [[rng.randint(0, size) for _ in range(rng.randrange(1, 9))] for _ in drawn]
    for ids, mine in zip(sequences, ingot.decode(sequences), strict=True):
        theirs = other.decode(ids)
        if theirs.startswith("error: "):
            counts["ids that they cannot decode"] += 1
        elif mine != theirs:
            counts["other text"] += 1
            example = example or {
                "what": "decoded", "ids": ids, "ours and theirs": [mine, theirs],
                "tokens": [other.made.id_to_token(id) for id in ids]
            }
    counts["decoded"] = len(sequences)
    return counts, example


def reason(message):
    """A refusal without the names and numbers of one file."""
    return re.sub(r"[0-9]+", "N", re.sub(r"«.*?»|\".*?\"", "…", re.sub(r"^.*?tokenizer\.json: ", "", message)))[:150]


def parts_of(file):
    """The arrangement in a line."""

    def spelt(part, name):
        if part is None:
            return "none"
        if part["type"] == "Sequence":
            return "+".join(spelt(one, name) for one in part[name])
        return part["type"]

    lists = {"normalizer": "normalizers", "pre_tokenizer": "pretokenizers", "decoder": "decoders"}
    return " | ".join([*(spelt(file[key], name) for key, name in lists.items()), file["model"]["type"]])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", default=str(draws.ROOT / "build/cpu/ingot"))
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--texts", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0, help="of the first file; each has the next")
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    total, refused, drawn = collections.Counter(), collections.Counter(), 0
    different = 0
    with tempfile.TemporaryDirectory() as name:
        for seed in range(options.seed, options.seed + options.files):
            rng = random.Random(seed)
            try:
                file = draws.tokenizer_json(rng)
                HuggingFace(file)
            except BaseException as error:
                refused["not drawn, " + refusal(error)[:100]] += 1
                continue
            drawn += 1
            try:
                counts, example = compare(file, rng, options, pathlib.Path(name))
            except Refused as error:
                refused[reason(str(error))] += 1
                continue
            total += counts
            if example is None:
                continue
            different += 1
            print(f"seed {seed}: {parts_of(file)}: {dict(counts)}\n   {json.dumps(example, ensure_ascii=True)[:600]}",
                  flush=True)
            if options.keep:
                options.keep.mkdir(parents=True, exist_ok=True)
                (options.keep / f"{seed}.json").write_text(json.dumps({"file": file, "example": example}),
                                                           encoding="utf-8")
    print(f"{drawn} files, {different} differ")
    for what, count in total.most_common():
        print(f"{count:>10}  {what}")
    for what, count in refused.most_common():
        print(f"{count:>10}  refused: {what}")
    sys.exit(different > 0)


if __name__ == "__main__":
    main()
