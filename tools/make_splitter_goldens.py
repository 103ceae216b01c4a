"""Writes what spaCy, NLTK and Perl make of strings that are hard to split.

usage: make_splitter_goldens.py tests/golden/data/punkt >tests/golden/data/splitters.jsonl

Needs spacy 3.8, nltk 3.8.1 and a Perl with Unicode 14.0 (5.36), whose \\b{wb} is UAX #29 but for
whitespace, at which we cut first. One JSON array a line: splitter, text, words, and where the
sentences end in bytes (none for uax29).
"""

import json
import random
import subprocess
import sys

from clean_reference import Nltk, Spacy

PARTS = """… …… , : ; ! ? ( ) [ ] { } < > _ # * & 。 ？ ！ ， 、 ' " ” “ ` ‘ ´ ’ „ » « 「 」 $ £ € § % = — – + - ~ ^ | / \\ . .. ...
-- --- —— US$ C$ 's ’S http:// www. .com a@b.com 192.168.1.1 8.8.8.8 1.2.3.4:8080/x x.y ..a 5km 10% 3m² 7kg/m 40°C. ½ 20€
Mr. mr. Dr. e.g. i.e. a.m. 10a.m. St. Ph.D. U.S. J. S. Bach I The the He and Oliver London cannot Cannot dont can't don't DON'T
it's dogs' we'll I'VE 'tis 'twas 'Tis gimme gonna gotta lemme wanna more'n d'ye ol' :) :-) ;_; (._.) <3 8-D >.< ¯\\(ツ)/¯ and/or w/o wed.
1 12 1,234 3.5 12. No. vs. ٣ ５ é É ß Ω ж 中 文 あ カ カタ 한 ไ 🙂 👨‍👩‍👧 🇩🇪🇫🇷 e\u0301 x\u200by \ufeff צ" ג'ה a_b x-y re-do well-known man—Mr. A.B. AB. Ab.Cd ab,cd
3-4 3--4 a~b a=b a:b 1:2 c/d a.b.C ſ İ ı gİmme 'tıs \u00ad a\u00adb""".split()
SPACES = [" "] * 10 + ["", "", "", "", "  ", "\n", "\n\n", "\t", "\u00a0", "\u3000", "\r\n", "\x0b", "\x1c", "\x85", "\u2028"]


def strings(seed, count):
    choose = random.Random(seed)
    for _ in range(count):
        yield "".join(choose.choice(PARTS) + choose.choice(SPACES) for _ in range(choose.randint(1, 14)))


def perl_words(texts):
    program = 'use utf8; use open qw(:std :utf8); $/="\\0"; while(<>){chomp; print join("\\t", map {split /\\b{wb}/} split " ", $_), "\\0"}'
    words = []
    for text in texts:
        chunks = "\0".join(text.split())
        done = subprocess.run(["perl", "-CSD", "-e", program], input=chunks, capture_output=True, text=True, check=True)
        words.append([word for chunk in done.stdout.split("\0")[:-1] for word in chunk.split("\t") if word])
    return words


def ends_of(text, sentences):
    """Ends in bytes of stripped sentences that follow each other in the text."""
    ends, at = [], 0
    for sentence in sentences:
        at = text.index(sentence, at) + len(sentence)
        ends.append(len(text[:at].encode()))
    return ends


def main():
    spacy, nltk = Spacy(), Nltk(sys.argv[1])
    for text in strings(1, 300):
        ends = [len(text[: sentence.end_char].encode()) for sentence in spacy.nlp(text).sents]
        print(json.dumps(["spacy-en", text, spacy.words(text), ends], ensure_ascii=False))
    for text in strings(2, 200):
        print(json.dumps(["nltk-en", text, nltk.words(text), ends_of(text, nltk.sentences(text))], ensure_ascii=False))
    texts = list(strings(3, 200))
    for text, words in zip(texts, perl_words(texts)):
        print(json.dumps(["uax29", text, words, None], ensure_ascii=False))


if __name__ == "__main__":
    main()
