#!/usr/bin/env python3
"""Looks for inputs whose cost grows faster than they do.

fuzz_growth.py [NAME…]: for each fuzz target (all, or those named) makes large inputs from the
committed seeds: a piece of a seed, or a byte that parsers care about, repeated at some place in it.
What takes long is run again at a quarter of the size; printed is what grew by more than the square
root of the square: 8 times where the size grew 4 times. Needs the targets of ./run fuzz.
"""
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LARGE_BYTES = 256 << 10
SLOW_MS = 400
PLACES = 4  # of each seed, for each piece
SEEDS = 6
PIECES = 14
SPECIAL = [bytes([b]) for b in b"\x00\n\r\t \"'\\,;:.=&<>()[]{}-/%#@*?!$0aA\x80\xc3\xff"] + [b"\r\n", b"\xc3\xa9", b"\xe2\x80\xa6"]


def pieces_of(seed, rng):
    words = re.findall(rb"[A-Za-z_]+|[^A-Za-z_]{1,4}", seed)
    found = {w for w in words if len(w) <= 24}
    for _ in range(PIECES):
        if seed:
            at = rng.randrange(len(seed))
            found.add(seed[at : at + rng.randint(1, 24)])
    return rng.sample(sorted(found), min(PIECES, len(found)))


def candidates(name):
    rng = random.Random(name)
    seeds = [p.read_bytes() for p in sorted((ROOT / "tests/fuzz/corpus" / name).iterdir())]
    seeds = rng.sample(seeds, min(SEEDS, len(seeds)))
    for number, seed in enumerate(seeds):
        own = pieces_of(seed, rng)
        for piece in own + (SPECIAL if number == 0 else rng.sample(SPECIAL, 8)):
            for at in {1, len(seed)} | {rng.randint(0, len(seed)) for _ in range(PLACES - 2)}:
                yield seed, piece, min(at, len(seed))


def build(seed, piece, at, size):
    return seed[:at] + piece * (size // len(piece)) + seed[at:]


def run(program, inputs, folder):
    """Milliseconds of each input."""
    paths = []
    for i, data in enumerate(inputs):
        path = folder / f"{i:04}"
        path.write_bytes(data)
        paths.append(path)
    output = subprocess.run(
        [program, "-timeout=60", "-rss_limit_mb=4096", f"-artifact_prefix={folder}/found-", *map(str, paths)],
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, env={**os.environ, "TMPDIR": str(folder)}).stderr
    times = {pathlib.Path(m[1].decode()).name: int(m[2])
             for m in re.finditer(rb"Executed (\S+) in (\d+) ms", output)}
    failed = len(times) < len(inputs)
    if failed:
        name = re.findall(rb"Running: (\S+)", output)[-1].decode()
        print(f"{program.name}: fails on {name}\n" + output[-3000:].decode(errors="replace"))
        keep = ROOT / "build/cpu-fuzz/found" / f"{program.name}-growth-{pathlib.Path(name).name}"
        keep.parent.mkdir(exist_ok=True)
        keep.write_bytes(pathlib.Path(name).read_bytes())
    return [times.get(p.name, 0) for p in paths], failed


def main():
    names = sys.argv[1:] or [p.stem for p in sorted((ROOT / "tests/fuzz").glob("*.cpp")) if p.stem != "replay_main"]
    found = False
    shared = "/dev/shm" if os.path.isdir("/dev/shm") else None
    for name in names:
        program = ROOT / "build/cpu-fuzz/bin" / f"fuzz_{name}"
        tried = list(candidates(name))
        with tempfile.TemporaryDirectory(dir=shared) as folder:
            folder = pathlib.Path(folder)
            times, failed = run(program, [build(*c, LARGE_BYTES) for c in tried], folder)
            slow = sorted((-t, i) for i, t in enumerate(times) if t >= SLOW_MS)[:12]
            small, _ = run(program, [build(*tried[i], LARGE_BYTES // 4) for _, i in slow], folder)
        print(f"{name}: {len(tried)} inputs, the slowest takes {max(times, default=0)} ms", flush=True)
        found |= failed
        for (large, i), quarter in zip(slow, small):
            grew = -large / max(quarter, 1)
            if grew > 8:
                seed, piece, at = tried[i]
                print(f"  {quarter} ms to {-large} ms: {piece!r} repeated at {at} of {seed[:60]!r}")
                found = True
    sys.exit(found)


main()
