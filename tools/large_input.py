"""Writes JSON lines of any size from a folder of text: documents of random paragraphs, the same for the same seed.

    python3 tools/large_input.py TEXT_FOLDER OUT_FOLDER --gigabytes 5

For showing that memory does not grow with the corpus (docs/benchmarks.md).
"""
import argparse
import json
import pathlib
import random

FILE_BYTES = 500_000_000

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("text", type=pathlib.Path)
parser.add_argument("out", type=pathlib.Path)
parser.add_argument("--gigabytes", type=float, default=5)
parser.add_argument("--seed", type=int, default=1)
arguments = parser.parse_args()

paragraphs = []  # as JSON, without quotes: escaping once is most of the work
for path in sorted(arguments.text.rglob("*.txt")):
    for line in path.read_text("utf-8-sig").splitlines():
        if len(line) > 40:
            paragraphs.append(json.dumps(line, ensure_ascii=False)[1:-1])
random.seed(arguments.seed)
arguments.out.mkdir(parents=True, exist_ok=True)
left, files, documents = int(arguments.gigabytes * 1e9), 0, 0
while left > 0:
    with open(arguments.out / f"{files:03}.jsonl", "wb") as file:
        written = 0
        while written < min(FILE_BYTES, left):
            body = "\\n".join(random.choices(paragraphs, k=random.randint(4, 40)))
            written += file.write(f'{{"id": "{documents}", "text": "{body}"}}\n'.encode())
            documents += 1
    left -= written
    files += 1
print(f"{documents} documents in {files} files")
