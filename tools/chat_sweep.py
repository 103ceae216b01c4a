#!/usr/bin/env python3
"""Draws random chat templates and conversations and compares `ingot tokenizer chat` with apply_chat_template of
transformers.

    pip install transformers jinja2
    python tools/chat_sweep.py --ingot build/cpu/ingot [--templates 500] [--seed 0] [--keep FOLDER]

A fifth are the whole templates of tools/goldens/make_chat_goldens.py and tools/chat_draws.py with drawn conversations,
the others are put together from the constructs of the latter. One that differs, or that only we refuse, is made short
and printed. Templates that only transformers refuses are counted: nothing is written there that it would have written;
so are integers beyond 64 bits, which are refused here. Exits with 1 if any text differs.
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

import chat_draws as draws
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

sys.path.insert(0, str(draws.ROOT / "tools/goldens"))
import make_chat_goldens as goldens  # noqa: E402

TOKENIZER = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()))


def by_transformers(template, variables):
    """The text, or None where it refuses."""
    rest = dict(variables)
    try:
        return TOKENIZER.apply_chat_template(rest.pop("messages"), chat_template=template, tokenize=False, **rest)
    except Exception:  # any of Python's
        return None


class Ingot:

    def __init__(self, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)

    def render(self, template, variables):
        """The text, or None; and the message."""
        file, messages = self.folder / "template", self.folder / "messages"
        file.write_bytes(template.encode())
        messages.write_text(json.dumps(variables), encoding="utf-8")
        words = [
            self.program, "tokenizer", "chat", "--tokenizer", self.folder, "--template", file, "--messages", messages
        ]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        return (done.stdout.decode() if done.returncode == 0 else None), done.stderr.decode().strip()


def verdict(ingot, template, variables):
    theirs = by_transformers(template, variables)
    ours, message = ingot.render(template, variables)
    if ours == theirs:
        return "equal" if ours is not None else "both refuse"
    if theirs is not None and " object at 0x" in theirs:
        return "transformers prints an address"
    if theirs is None:
        return "transformers refuses"
    if ours is None and "integers of 64 bits" in message:
        return "an integer beyond 64 bits"
    return "we refuse" if ours is None and "status" not in message else "other text"


def shortened(ingot, parts, variables, wanted):
    """Without the parts that are not needed for the same verdict."""
    at = 0
    while at < len(parts) and len(parts) > 1:
        fewer = parts[:at] + parts[at + 1:]
        if verdict(ingot, "".join(fewer), variables) == wanted:
            parts = fewer
        else:
            at += 1
    return parts


def reason(message):
    return re.sub(r".*of the chat template: ", "", message)[:110]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", default=str(draws.ROOT / "build/cpu/ingot"))
    parser.add_argument("--templates", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    counts, refused = collections.Counter(), collections.Counter()
    shapes = [*goldens.SHAPES.values(), *draws.SHAPES.values()]
    with tempfile.TemporaryDirectory() as folder:
        ingot = Ingot(options.ingot, folder)
        for number in range(options.seed, options.seed + options.templates):
            rng = random.Random(number)
            variables = draws.variables(rng)
            parts = [rng.choice(shapes)] if rng.random() < 0.2 else draws.parts(rng)
            found = verdict(ingot, "".join(parts), variables)
            counts[found] += 1
            if found not in ("we refuse", "other text"):
                continue
            parts = shortened(ingot, parts, variables, found)
            template = "".join(parts)
            ours, message = ingot.render(template, variables)
            refused[reason(message)] += ours is None
            theirs = by_transformers(template, variables)
            print(f"seed {number}: {found}\n  {template!r}\n  ours   {ours!r} {message}\n  theirs {theirs!r}"[:2500],
                  flush=True)
            if options.keep:
                options.keep.mkdir(parents=True, exist_ok=True)
                case = {"template": template, "variables": variables, "text": theirs}
                (options.keep / f"{number}.json").write_text(json.dumps(case), encoding="utf-8")
    for what, count in counts.most_common():
        print(f"{count:>8}  {what}")
    for what, count in refused.most_common():
        if count > 0:
            print(f"{count:>8}  refused: {what}")
    sys.exit(counts["other text"] > 0)


if __name__ == "__main__":
    main()
