"""A plain Python implementation of the document filters, from their definitions and without regard
for speed, to compare src/ingest/clean with.

usage: clean_reference.py ../shared/data PUNKT_FOLDER >tests/golden/data/clean.txt

Needs spacy 3.8, nltk 3.8.1 and xxhash; PUNKT_FOLDER holds the Punkt parameters of the test
(tests/golden/data/punkt). Output: hashes of str.lower and of the normal forms over every character; then
one line a document (tools/clean_documents.py) of hashes, of the text and of what each configuration
made of it and of its normal forms.
"""

import ipaddress
import re
import sys
import unicodedata
from collections import Counter

import xxhash
from clean_documents import documents


def code_points(text):
    found = set()
    for item in text.split():
        first, _, last = item.partition("-")
        found.update(chr(code) for code in range(int(first, 16), int(last or first, 16) + 1))
    return found


PUNCT = code_points("""0000-0008 000B-001F 0021-002F 003A-0040 005B-0060 007B-009F 00AB 00B4 00BB 2013-2014 2019
201C-201E 2026 2236 2501 25BA 3001-3002 3008-300D 3010-3011 FF01 FF05 FF08-FF09 FF0C FF0E FF11 FF1A-FF1B FF1F FF5E""")
TERMINAL = code_points("""0021 002E 003F 0589 061D-061F 06D4 0700-0702 07F9 0837 0839 083D-083E 0964-0965 104A-104B
1362 1367-1368 166E 1735-1736 17D4-17D6 17D9-17DA 1803 1809 1944-1945 1AA8-1AAB 1B5A-1B5B 1B5E-1B5F 1B7D-1B7E
1C3B-1C3C 1C7E-1C7F 203C-203D 2047-2049 2E2E 2E3C 2E53-2E54 3002 A4FF A60E-A60F A6F3 A6F7 A876-A877 A8CE-A8CF
A92F A9C8-A9C9 AA5D-AA5F AAF0-AAF1 ABEB FE52 FE56-FE57 FF01 FF0E FF1F FF61 10A56-10A57 10F55-10F59 10F86-10F89
11047-11048 110BE-110C1 11141-11143 111C5-111C6 111CD 111DE-111DF 11238-11239 1123B-1123C 112A9 1144B-1144C
115C2-115C3 115C9-115D7 11641-11642 1173C-1173E 11944 11946 11A42-11A43 11A9B-11A9C 11C41-11C42 11EF7-11EF8
11F43-11F44 16A6E-16A6F 16AF5 16B37-16B38 16B44 16E98 1BC9F 1DA88""")
STOP_WORDS = {"the", "be", "to", "of", "and", "that", "have", "with"}


# --- splitters: words(text) and sentences(text) -----------------------------------------------------

def strip_all(items):
    return [item.strip() for item in items if item.strip()]


class Whitespace:
    def words(self, text):
        return text.split()

    def sentences(self, text):
        return re.split(r"(?<=[.!?])\s+", text.strip())


class Spacy:
    def __init__(self):
        import spacy

        self.nlp = spacy.blank("en")
        self.nlp.add_pipe("sentencizer")
        self.nlp.max_length = 1 << 30

    def words(self, text):
        return strip_all(token.text for token in self.nlp(text))

    def sentences(self, text):
        ends = [sentence.end_char for sentence in self.nlp(text).sents]
        return [text[a:b] for a, b in zip([0] + ends[:-1], ends[:-1] + [len(text)])]


class Nltk:
    def __init__(self, folder):
        from nltk.tokenize.destructive import NLTKWordTokenizer
        from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

        def rows(name):
            with open(f"{folder}/{name}", encoding="utf-8") as file:
                return [line.rstrip("\n").split("\t") for line in file if line.strip()]

        parameters = PunktParameters()
        parameters.abbrev_types = {row[0] for row in rows("abbrev_types.txt")}
        parameters.collocations = {tuple(row) for row in rows("collocations.tab")}
        parameters.sent_starters = {row[0] for row in rows("sent_starters.txt")}
        for word, flags in rows("ortho_context.tab"):
            parameters.ortho_context[word] = int(flags)
        self.punkt = PunktSentenceTokenizer(parameters)
        self.tokenizer = NLTKWordTokenizer()

    def words(self, text):
        return strip_all(token for sentence in self.punkt.tokenize(text) for token in self.tokenizer.tokenize(sentence))

    def sentences(self, text):
        return strip_all(self.punkt.tokenize(text))


# --- filters: each gives the reason of the first rule that fires, or "" -------------------------------

def gopher_quality(text, split, v1):
    words = split.words(text)
    symbols = PUNCT if v1 else PUNCT | TERMINAL
    proper = [word for word in words if any(char not in symbols for char in word)]
    if len(proper) < 50:
        return "gopher_short_doc"
    if len(proper) > 100_000:
        return "gopher_long_doc"
    mean = sum(map(len, proper)) / len(proper)
    if mean < 3:
        return "gopher_below_avg_threshold"
    if mean > 10:
        return "gopher_above_avg_threshold"
    if text.count("#") / len(words) > 0.1:
        return "gopher_too_many_hashes"
    if (text.count("...") + text.count("…")) / len(words) > 0.1:
        return "gopher_too_many_ellipsis"
    lines = text.splitlines()
    if sum(line.lstrip().startswith(("•", "-")) for line in lines) / len(lines) > 0.9:
        return "gopher_too_many_bullets"
    if sum(line.rstrip().endswith(("...", "…")) for line in lines) / len(lines) > 0.3:
        return "gopher_too_many_end_ellipsis"
    if sum(any(char.isalpha() for char in word) for word in words) / len(words) < 0.8:
        return "gopher_below_alpha_threshold"
    stops = [word for word in words if word in STOP_WORDS]
    if (len(stops) if v1 else len(set(stops))) < 2:
        return "gopher_enough_stop_words"
    return ""


def duplicates(items):
    """How many items are repetitions of an earlier one, and their characters."""
    repeated = []
    seen = set()
    for item in items:
        if item in seen:
            repeated.append(item)
        seen.add(item)
    return len(repeated), sum(map(len, repeated))


def gopher_repetition(text, split):
    paragraphs = re.split(r"\n{2,}", text.strip())
    count, chars = duplicates(paragraphs)
    if count / len(paragraphs) > 0.30:
        return "dup_para_frac"
    if chars / len(text) > 0.20:
        return "dup_para_char_frac"
    lines = re.split(r"\n+", text)
    count, chars = duplicates(lines)
    if count / len(lines) > 0.30:
        return "dup_line_frac"
    if chars / len(text) > 0.20:
        return "dup_line_char_frac"
    words = split.words(text)
    for n, limit in ((2, 0.20), (3, 0.18), (4, 0.16)):
        grams = Counter(" ".join(words[i : i + n]) for i in range(len(words) - n + 1))
        if grams:
            gram, times = grams.most_common(1)[0]
            if len(gram) * times / len(text) > limit:
                return f"top_{n}_gram"
    for n, limit in ((5, 0.15), (6, 0.14), (7, 0.13), (8, 0.12), (9, 0.11), (10, 0.10)):
        seen, repeated, i = set(), 0, 0
        while i <= len(words) - n:
            gram = "".join(words[i : i + n])
            if gram in seen:
                repeated += len(gram)
                i += n
            else:
                seen.add(gram)
                i += 1
        if repeated / len(text) > limit:
            return f"duplicated_{n}_n_grams"
    return ""


def c4_quality(text, split, v1, needs_mark, by_sentence=False):
    """(reason, rewritten text)"""
    policies = ("terms of use", "privacy policy", "cookie policy", "uses cookies", "use of cookies", "use cookies")
    kept, sentences = [], 0
    for line in split.sentences(text) if by_sentence else text.splitlines():
        line = line.strip()
        words = line.split()
        if any(len(word) > 1000 for word in words):
            continue
        line = re.sub(r"\[\d*]|\[edit]|\[citation needed]", "", line)
        if needs_mark and (not line.endswith((".", "?", "!", '"', "'")) or line.endswith("...")):
            continue
        if len(words) < 3:
            continue
        lower = line.lower()
        if "lorem ipsum" in lower:
            return "lorem_ipsum", text
        if "javascript" in lower:
            continue
        if "{" in line:
            return "curly_bracket", text
        if any(policy in lower for policy in policies):
            continue
        if by_sentence:
            sentences += 1
        else:
            found = split.sentences(line)
            sentences += len(strip_all(found)) if v1 else max(1, len(found))
        kept.append(line)
    if sentences < 5:
        return "too_few_sentences", text
    return "", (" " if by_sentence else "\n").join(kept).strip()


def c4_paragraph(text):
    lengths = sorted(map(len, text.split("\n")), reverse=True)
    return "< 3 paragraphs" if len(lengths) < 3 or lengths[2] < 200 else ""


def fineweb_quality(text, split, v1):
    lines = text.split("\n")
    filled = [line for line in lines if line.strip()]
    if not v1:
        lines = filled
    if not lines:
        return "empty"
    marks = (".", "'", '"', "!", "?") if v1 else tuple(TERMINAL)
    ratio = sum(line.endswith(marks) for line in lines) / len(lines)
    if ratio <= 0.12 if v1 else ratio < 0.12:
        return "line_punct_ratio"
    ratio = sum(len(line) <= 30 for line in lines) / len(lines)
    if ratio >= 0.67 if v1 else ratio > 0.67:
        return "short_line_ratio"
    ratio = duplicates(filled)[1] / len(text.replace("\n", ""))
    if ratio >= 0.01 if v1 else ratio > 0.01:
        return "char_dup_ratio"
    words = split.words(text)
    if not words or text.count("\n") / len(words) > 0.3:
        return "list_ratio"
    return ""


OCTET = "(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)"
ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
EMAIL = re.compile(rf"\b{ATOM}(?:\.{ATOM})*@(?:(?:{LABEL}\.)+{LABEL}"
                   rf"|\[(?:{OCTET}\.){{3}}(?:{OCTET}|[A-Za-z0-9-]*[A-Za-z0-9]:)])")
ADDRESS = re.compile(rf"(?:{OCTET}\.){{3}}{OCTET}")
EMAILS = ("email@example.com", "firstname.lastname@example.org")
ADDRESSES = ("22.214.171.124", "126.96.36.199", "188.8.131.52", "184.108.40.206", "220.127.116.11", "18.104.22.168")


def mask_pii(text):
    turn = [0]

    def stand_in(names, accepts):
        turn[0] = 0

        def replace(match):
            if not accepts(match[0]):
                return match[0]
            turn[0] += 1
            return names[(turn[0] - 1) % len(names)]

        return replace

    def is_public(address):
        try:
            return ipaddress.ip_address(address).is_global
        except ValueError:
            return False

    text = EMAIL.sub(stand_in(EMAILS, lambda _: True), text)
    return ADDRESS.sub(stand_in(ADDRESSES, is_public), text)


# --- the form in which near-duplicates are compared ---------------------------------------------------

def without_marks(text):
    return "".join(char for char in unicodedata.normalize("NFD", text) if unicodedata.category(char) != "Mn")


def normalize(text, form):
    text = text.lower()
    if form == "datatrove-0.2":
        text = re.sub(r"\s+", " ", text.strip())
        text = without_marks("".join(char for char in text if char not in PUNCT))
        return re.sub(r"\d+", "0", text).strip()
    text = re.sub(r"\d+(\.\d+)?" if form == "fineweb-v1" else r"\d+([.,،٫⎖⎗⎘]\d+)?", "0", text)
    text = "".join(" " if char in PUNCT else char for char in text)
    return without_marks(re.sub(r"\s+", " ", text.strip())).strip()


FORMS = ("datatrove-0.10", "fineweb-v1", "datatrove-0.2")


def every_character():
    """Each code point between letters, digits and a space, so that neighbours matter."""
    return "".join(f"A{chr(code)}b {chr(code)}1{chr(code)}" for code in range(0x110000) if not 0xD800 <= code < 0xE000)


# --- configurations --------------------------------------------------------------------------------

def recipe(text, split, v1):
    """The FineWeb order: the reason, and the text as it is written out."""
    reason = gopher_repetition(text, split) or gopher_quality(text, split, v1)
    if reason:
        return reason, text
    reason, rewritten = c4_quality(text, split, v1, needs_mark=False)
    reason = reason or fineweb_quality(rewritten, split, v1)
    return (reason, text) if reason else ("", mask_pii(rewritten))


def each_filter(text, split, v1):
    """Every filter on the text as it came, so that none hides behind another."""
    yield gopher_repetition(text, split), text
    yield gopher_quality(text, split, v1), text
    yield c4_quality(text, split, v1, needs_mark=True)
    yield c4_quality(text, split, v1, needs_mark=False, by_sentence=True)
    yield c4_paragraph(text), text
    yield fineweb_quality(text, split, v1), text


def digest(items):
    hasher = xxhash.xxh64()
    for reason, text in items:
        hasher.update(reason.encode() + b"\n" + text.encode() + b"\n")
    return f"{hasher.intdigest() & 0xFFFFFFFF:08x}"


def main():
    data, punkt = sys.argv[1:]
    whitespace = Whitespace()
    columns = [("fineweb-v1/whitespace", whitespace), ("fineweb-v1/nltk-en", Nltk(punkt)),
               ("datatrove-0.10/whitespace", whitespace), ("datatrove-0.10/spacy-en", Spacy())]
    text = every_character()
    print("unicode", digest([("", text.lower())]), *(digest([("", normalize(text, form))]) for form in FORMS))
    print("text", *(name for name, _ in columns), "normal-forms")
    for text in documents(data):
        hashes = [digest([("", text)])]
        for name, split in columns:
            v1 = name.startswith("fineweb-v1")
            hashes.append(digest([recipe(text, split, v1), *each_filter(text, split, v1)]))
        hashes.append(digest(("", normalize(text, form)) for form in FORMS))
        print(*hashes)


if __name__ == "__main__":
    main()
