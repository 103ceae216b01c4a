"""Runs what needs a GPU and says how it went, as a table of Markdown. usage: gpu_check.py LIST BUILD OUT.md

LIST (tests/gpu_check.toml) says what its members mean. A check that fails does not end the others. Exit status 0
when all that could run passed; where there is no GPU nothing can, which is an error.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from typing import NamedTuple

KNOWN = {"name", "command", "value", "tolerance", "reference", "of", "gpus"}


class Row(NamedTuple):
    name: str
    verdict: str  # "passed", "FAILED: why" or "not run: why"
    difference: str
    seconds: str
    value: str
    reference: str


def gpus():
    """The names of the GPUs here."""
    try:
        query = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
        return subprocess.run(query, capture_output=True, text=True, check=True).stdout.split("\n")[:-1]
    except (OSError, subprocess.CalledProcessError):
        return []


def run(check, build, device):
    """(seconds, the value or None); raises ValueError with what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        command = check["command"].format(ingot=f"{build}/ingot", bin=f"{build}/bin", device=device, folder=folder)
        print(f"== {command}", file=sys.stderr)
        start = time.monotonic()
        done = subprocess.run(command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        seconds = time.monotonic() - start
    lines = done.stdout.rstrip().split("\n")
    print("\n".join(lines[-5:]), file=sys.stderr)
    if done.returncode != 0:
        raise ValueError(f"exit code {done.returncode}, {lines[-1]}")
    if re.search(r"^\[  SKIPPED \]|^\[  PASSED  \] 0 tests", done.stdout, re.MULTILINE):
        raise ValueError("tests were skipped")  # a skip here is no pass
    if "value" not in check:
        return seconds, None
    try:
        return seconds, float(json.loads(lines[-1])[check["value"]])
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"no {check['value']} in «{lines[-1][:80]}»") from None


def row_of(check, build, num_gpus):
    wanted = check.get("gpus", 1)
    reference = f"{check['reference']:g} ({check['of']})" if "reference" in check else ""
    if num_gpus < wanted:
        return Row(check["name"], f"not run: needs {wanted} GPUs, here are {num_gpus}", "", "", "", reference)
    difference = seconds = value = ""
    try:
        took, found = run(check, build, "cuda")
        seconds, value = f"{took:.1f}", "" if found is None else f"{found:g}"
        if "{device}" in check["command"]:
            on_cpu = run(check, build, "cpu")[1]
            off = abs(found - on_cpu) / max(abs(on_cpu), 1e-30)
            difference = f"{off:.1e} of {check['tolerance']:.0e}"
            if not off <= check["tolerance"]:
                raise ValueError(f"{found:g} on the GPU, {on_cpu:g} on the CPU")
        return Row(check["name"], "passed", difference, seconds, value, reference)
    except ValueError as error:
        return Row(check["name"], f"FAILED: {error}", difference, seconds, value, reference)


def table(rows, machine):
    lines = [f"# GPU check on {machine}, {time.strftime('%Y-%m-%d')}", "",
             "| check | verdict | GPU and CPU differ by | seconds | value | reference |", "|---|---|---|---|---|---|"]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def main(listed, build, out):
    with open(listed, "rb") as file:
        checks = tomllib.load(file)["check"]
    for check in checks:
        unknown = set(check) - KNOWN
        if unknown or ("{device}" in check["command"]) != ("tolerance" in check):
            sys.exit(f"{listed}: «{check['name']}»: expected {sorted(KNOWN)}, and a tolerance where {{device}} is")
    names = gpus()
    rows = [row_of(check, build, len(names)) for check in checks]
    text = table(rows, names[0] if names else "a machine without a GPU")
    os.makedirs(os.path.dirname(os.path.abspath(out)), exist_ok=True)
    with open(out, "w", encoding="utf-8") as file:
        file.write(text)
    print(text)
    ran = [row for row in rows if not row.verdict.startswith("not run")]
    return 0 if ran and all(row.verdict == "passed" for row in ran) else 1


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
