"""Documents for comparing cleaners: cut from the texts under ../shared/data by a recipe that
tests/ingest/clean_documents.h follows too. Each piece of text comes as it is, and every second once more,
worn in one of nine ways, so that rules fire that good prose does not wake.
"""

import glob
import json
import os

STOPS = ".!?"


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def groups(pieces, size, every, join):
    """Every `every`-th of the groups of `size` consecutive pieces."""
    for start in range(0, len(pieces), size * every):
        yield join.join(pieces[start : start + size])


def articles(text):
    """Wikitext: an article begins with a line « = Title = »."""
    lines = text.split("\n")
    starts = [i for i, line in enumerate(lines) if line.startswith(" = ") and not line.startswith(" = =")]
    for start, end in zip(starts, starts[1:] + [len(lines)]):
        yield "\n".join(lines[start:end])


def pieces(data):
    def files(pattern):
        return sorted(glob.glob(os.path.join(data, pattern)), key=os.fsencode)

    for number, path in enumerate(files("text/novels_en/*.txt")):
        text = read(path)
        if number % 4:  # with CR LF, empty lines count as duplicate ones and hide other reasons
            text = text.replace("\r", "")
        yield from groups(text.split("\n"), 24, 24, "\n")
    for path in files("text/wikitext2_*.txt"):
        yield from articles(read(path))
    for path in files("text/zh_d2l/*/*.md"):
        yield read(path)
    for path in files("text/zh_songci/*.json"):
        poems = [poem["paragraphs"] for poem in json.loads(read(path)) if poem.get("paragraphs")]
        for poem in poems[::200]:
            yield "\n".join(poem)
    yield from groups(read(os.path.join(data, "text/tiny_shakespeare.txt")).split("\n\n"), 30, 4, "\n\n")
    for path in files("text/ja/*.txt"):
        yield from groups(read(path).split("\n"), 10, 8, "\n")
    for line in read(os.path.join(data, "warc/cc_en_head-0091.jsonl")).splitlines():
        yield json.loads(line)["text"]


def wear(text, way):
    lines = text.split("\n")
    if way == 0:  # citations behind sentences
        return text.replace(". ", ".[12] ").replace(", ", "[citation needed], ")
    if way == 1:  # the first third again
        return text + "\n" + text[: len(text) // 3]
    if way == 2:
        return "Please enable JavaScript in your browser.\n" + text + "\nThis page uses cookies, as most do."
    if way == 3:
        return "\n".join("- " + line for line in lines)
    if way == 4:
        return "\n".join(line.rstrip() + "..." for line in lines)
    if way == 5:  # a bracket in the middle line
        lines[len(lines) // 2] += " {x}"
        return "\n".join(lines)
    if way == 6:  # one sentence a line
        for stop in STOPS:
            text = text.replace(stop + " ", stop + "\n")
        return text
    if way == 7:
        return text.replace(" ", "\u00a0# ", 50) + "\u2028Write to joe.public@example.org or 8.8.8.8, or 10.0.0.1.\n" * 3
    return text.replace(".", "").replace("\u3002", "")  # no full stops


def documents(data):
    for index, text in enumerate(pieces(data)):
        if text:
            yield text
            if index % 2 == 0:
                yield wear(text, index % 9)
