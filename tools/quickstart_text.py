"""Plain UTF-8 prose for the quickstart, from the contents of Debian packages.

usage: quickstart_text.py UNPACKED_DIR OUT_DIR

UNPACKED_DIR holds anarchism, bible-kjv, bible-kjv-text, dict-foldoc and dict-gcide, each as
`dpkg-deb -x` leaves it. OUT_DIR gets one .txt file per document and appears complete or not at all.
The result depends on the packages alone, so two machines train on the same bytes.
"""

import gzip
import hashlib
import html.parser
import os
import re
import shutil
import subprocess
import sys

MIN_BYTES = 20_000_000
PIECE_BYTES = 100_000  # dictionaries are cut into documents of about a chapter's size
FIRST_ARTICLE = {"foldoc": "\n!!!Batch\n", "gcide": "\nA \\A\\ (named"}


def squeeze(text):
    return " ".join(text.split())


class Prose(html.parser.HTMLParser):
    """Collects the text of block elements, one paragraph each."""

    BLOCKS = {"p", "h1", "h2", "h3", "h4", "h5", "li", "blockquote", "div", "br", "tr", "td", "dd", "dt"}

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.paragraphs, self.current, self.in_head = [], [], False

    def handle_starttag(self, tag, attrs):
        self.in_head = self.in_head or tag == "head"
        if tag in self.BLOCKS:
            self.end_paragraph()

    def handle_endtag(self, tag):
        self.in_head = self.in_head and tag != "head"
        if tag in self.BLOCKS:
            self.end_paragraph()

    def handle_data(self, data):
        if not self.in_head:
            self.current.append(data)

    def end_paragraph(self):
        if text := squeeze("".join(self.current)):
            self.paragraphs.append(text)
        self.current = []


def anarchism(root):
    folder = os.path.join(root, "anarchism/usr/share/doc/anarchism/html")
    # Sections, appendices and introductions are essays; the other pages are lists of links.
    for name in sorted(n for n in os.listdir(folder) if re.match(r"sec|append|intro|vol|10years", n)):
        parser = Prose()
        with open(os.path.join(folder, name), encoding="utf-8", errors="ignore") as file:
            parser.feed(file.read())
        parser.close()
        parser.end_paragraph()
        yield name.removesuffix(".html"), parser.paragraphs


def bible(root):
    # The text is packed in a format of its own. bible-kjv's reader unpacks it, and looks for the
    # data in its working directory first.
    reader = os.path.abspath(os.path.join(root, "bible-kjv/usr/bin/bible"))
    verses = subprocess.run([reader, "-f", "gen1:1-rev22:21"], cwd=os.path.join(root, "bible-kjv-text/usr/lib"),
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True, text=True).stdout
    books = {}
    for book, chapter, text in re.findall(r"^(\w+?)(\d+):\d+ (.*)$", verses, re.MULTILINE):
        books.setdefault(book, {}).setdefault(chapter, []).append(squeeze(text))
    for book, chapters in books.items():
        yield book, [" ".join(chapter) for chapter in chapters.values()]


def articles(root, name):
    """The articles of a dictd database as lists of paragraphs; a headword starts in column one."""
    path = os.path.join(root, f"dict-{name}/usr/share/dictd/{name}.dict.dz")
    with gzip.open(path, "rt", encoding="utf-8", errors="ignore") as file:
        text = file.read()
    text = text[text.index(FIRST_ARTICLE[name]) :]  # what stands before it is about the dictionary
    for article in re.split(r"\n\n+(?=[^\s{])", text):
        yield re.split(r"\n\s*\n", article)


def clean_gcide(paragraph):
    paragraph = re.sub(r"\\[^\\]*\\(\s*\([^()]*\))?", "", paragraph)  # syllables, sounds: \Feel\ (f[=e]l)
    paragraph = re.sub(r"\[[^\sA-Za-z]*(ae|oe|[a-zA-Z])[^\sA-Za-z]*\]", r"\1", paragraph)  # letters: [=a]
    for _ in range(2):  # sources, etymologies, which may hold one another
        paragraph = re.sub(r"\[[^\[\]]*\]", "", paragraph)
    return re.sub(r" +([,.;:])", r"\1", squeeze(re.sub(r"[{}`*]", "", paragraph)))


def clean_foldoc(paragraph):
    paragraph = re.sub(r"\{?\(https?:[^)]*\)\}?", "", paragraph)
    paragraph = re.sub(r"\(\d{4}-\d\d-\d\d\)|<[a-z][^>]*>", "", paragraph)  # date; field, mail address
    return squeeze(re.sub(r"[{}_]", "", paragraph))


def is_prose(text):
    """Tables and drawings are mostly signs; prose is mostly letters and spaces."""
    return sum(c.isalpha() or c == " " for c in text) > 0.85 * len(text)


def dictionary(root, name, clean):
    """Articles with at least a sentence to them, in the dictionary's order, gathered into pieces."""
    piece, size, number = [], 0, 0
    for article in articles(root, name):
        paragraphs = [p for p in map(clean, article) if len(p) > 2 and is_prose(p)]
        if sum(map(len, paragraphs)) < 80:
            continue
        piece += paragraphs
        size += sum(map(len, paragraphs))
        if size >= PIECE_BYTES:
            yield f"{number:03}", piece
            piece, size, number = [], 0, number + 1
    if piece:
        yield f"{number:03}", piece


def main(root, out):
    sources = {
        "anarchism": anarchism(root),
        "bible": bible(root),
        "foldoc": dictionary(root, "foldoc", clean_foldoc),
        "gcide": dictionary(root, "gcide", clean_gcide),
    }
    aside = out + ".part"
    shutil.rmtree(aside, ignore_errors=True)
    os.makedirs(aside)
    total = 0
    for source, documents in sources.items():
        size = 0
        for name, paragraphs in documents:
            text = "\n\n".join(paragraphs) + "\n"
            # Files are read in name order and the end is held out for validation, so names start
            # with a hash: the end then holds some of every source.
            order = hashlib.sha256(f"{source}/{name}".encode()).hexdigest()[:8]
            with open(os.path.join(aside, f"{order}-{source}-{name}.txt"), "w", encoding="utf-8") as file:
                file.write(text)
            size += len(text.encode())
        print(f"{source:10} {size / 1e6:6.1f} MB", file=sys.stderr)
        total += size
    if total < MIN_BYTES:
        sys.exit(f"quickstart text: expected at least {MIN_BYTES} bytes, got {total}; remove {root} and start again")
    shutil.rmtree(out, ignore_errors=True)
    os.rename(aside, out)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
