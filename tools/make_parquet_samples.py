"""Writes the parquet files of tests/ingest/parquet, small and with known contents (needs pyarrow).

usage: python3 tools/make_parquet_samples.py tests/ingest/parquet"""

import sys

import pyarrow
import pyarrow.parquet

folder = sys.argv[1]


def write(name, columns, **options):
    options.setdefault("write_page_checksum", True)
    pyarrow.parquet.write_table(pyarrow.table(columns), f"{folder}/{name}.parquet", **options)


texts = [f"document {i} with some words, é and 漢字" for i in range(1000)]
texts[7], texts[8] = None, ""
ids = [f"id-{i}" for i in range(1000)]
urls = [f"https://example.org/{i}" if i % 2 else None for i in range(1000)]
plain = {"n": list(range(1000)), "text": texts, "id": ids, "url": urls}

# Several row groups and pages.
write("plain", plain, compression="zstd", row_group_size=300, data_page_size=1024)
# What a user of pandas makes: categories, integer ids, large offsets, views.
write("categories", {"id": pyarrow.array(range(6)), "text": pyarrow.array(["a", "b", "a", "b", "c", None]).dictionary_encode()})
write("large", {"id": pyarrow.array([5, 6], pyarrow.int32()), "text": pyarrow.array(["one", "two"], pyarrow.large_string())})
write("binary", {"text": pyarrow.array([b"text", b"caf\xe9"], pyarrow.binary())})
write("lists", {"text": [["a"], ["b", "c"]], "title": ["x", "y"]})
write("empty", {"text": pyarrow.array([], pyarrow.string())})
# A few kB that become 320 MB.
write("bomb", {"text": ["x" * (40 << 20)] * 8}, compression="zstd", use_dictionary=False)
