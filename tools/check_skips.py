"""Compares the tests that ctest skipped with those that should have been, and prints the verdict.

usage: check_skips.py JUNIT_XML EXPECTED_SKIPS --preset NAME [--partial]

A skipped test looks like a passed one in a log, so each must be listed in EXPECTED_SKIPS with the
reason, and each reason is checked on this machine: «needs-shared» excuses nothing where ../shared
is. A listed test that ran although its reason holds is wrong too: the list has gone stale. So has a
line that names no test, unless only some tests were run (--partial) or builds of this preset have no
tests of that kind (ONLY_IN).
The last line is «N passed, N failed, N skipped»; exit status 0 when nothing is wrong.
"""

import argparse
import fnmatch
import glob
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree
from typing import NamedTuple

SOURCE_DIR = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def cpu_lacks(flag):
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        match = re.search(r"^flags\s*:(.*)$", file.read(), re.MULTILINE)
    return match is None or flag not in match[1].split()


def installed(*programs):
    """Daemons lie where not everyone's PATH goes."""
    return all(shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin") for name in programs)


def can_make_hosts():
    """Whether tests may join namespaces of this machine to a network of hosts."""
    tools = ("ip", "iptables", "sshd", "ssh", "ssh-keygen", "unshare", "nsenter")
    if os.geteuid() != 0 or not installed(*tools):
        return False
    probe = "unshare --net --uts --mount --pid --fork --propagation unchanged ip link add probe type veth"
    return subprocess.run(probe.split(), capture_output=True, check=False).returncode == 0


def can_mount():
    """Whether tests may mount file systems that nobody else sees."""
    mount = "mount -t tmpfs tmpfs /mnt".split()
    return installed("unshare", "mount") and any(
        subprocess.run(["unshare", flags, *mount], capture_output=True, check=False).returncode == 0
        for flags in ("-m", "-rm")
    )


def has_chromium():
    """Whether the page can be driven: a browser, its driver, and what tools/requirements-page.txt names."""
    packages = os.path.join(SOURCE_DIR, ".venv", "lib", "python3*", "site-packages")
    return installed("chromium", "chromedriver") and all(
        glob.glob(os.path.join(packages, name)) for name in ("selenium", "axe_core_python")
    )


def first_gpu():
    """The name of the GPU that tests compute on; empty where there is none."""
    if not installed("nvidia-smi"):
        return ""
    query = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    return subprocess.run(query, capture_output=True, text=True, check=False).stdout.partition("\n")[0]


# What a reason says, as a question about this machine and build.
REASONS = {
    "needs-shared": lambda preset: not os.path.isdir(os.path.join(SOURCE_DIR, "..", "shared", "data")),
    "needs-arrow": lambda preset: not os.path.exists(os.path.join(SOURCE_DIR, "build", preset, "libingot_arrow.so")),
    "needs-chromium": lambda preset: not has_chromium(),
    "needs-gpu": lambda preset: not glob.glob("/dev/nvidia[0-9]*"),
    "needs-h200": lambda preset: "H200" not in first_gpu(),
    "needs-mpi": lambda preset: not installed("mpirun")
    or not os.path.exists(os.path.join(SOURCE_DIR, "build", preset, "libingot_mpi.so")),
    "needs-mpirun": lambda preset: not installed("mpirun"),
    "needs-slurm": lambda preset: not installed("munged", "slurmctld", "slurmd", "srun", "scancel", "sinfo"),
    "needs-mounts": lambda preset: not can_mount(),
    "needs-hosts": lambda preset: not can_make_hosts(),
    "needs-avx2": lambda preset: cpu_lacks("avx2"),
    "needs-avx512": lambda preset: cpu_lacks("avx512f"),
    "not-under-sanitizers": lambda preset: preset.endswith(("-asan", "-ubsan", "-tsan", "-sanitized")),
}
# Reasons whose tests only the builds of some presets have.
ONLY_IN = {
    "needs-gpu": lambda preset: preset.startswith("cuda"),
    "needs-h200": lambda preset: preset.startswith("cuda"),
}


class Expected(NamedTuple):
    reason: str
    pattern: str


def read_expected(path):
    lines = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            if len(words) != 2 or words[0] not in REASONS:
                sys.exit(f"{path}:{number}: expected «REASON PATTERN», REASON one of {' '.join(REASONS)}; got «{line.strip()}»")
            lines.append(Expected(*words))
    return lines


def read_results(path):
    """{test name: "passed", "failed" or "skipped"}."""
    results = {}
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        # A test whose program is missing is «notrun» as well, but was not skipped by anyone.
        skipped = case.find("skipped")
        by_test = skipped is not None and skipped.get("message", "").startswith("SKIP_")
        status = case.get("status")
        outcome = "passed" if status == "run" else "skipped" if by_test or status == "disabled" else "failed"
        results[case.get("name")] = outcome
    return results


def complaints(results, expected, preset, partial):
    holds = {reason: test(preset) for reason, test in REASONS.items()}
    for name, outcome in sorted(results.items()):
        reasons = [line.reason for line in expected if fnmatch.fnmatchcase(name, line.pattern)]
        excused = [reason for reason in reasons if holds[reason]]
        if outcome == "skipped" and not reasons:
            yield f"{name} was skipped and is not in the list of expected skips"
        elif outcome == "skipped" and not excused:
            yield f"{name} was skipped, but «{' '.join(reasons)}» does not hold here"
        elif outcome == "passed" and excused:
            yield f"{name} ran, but should have been skipped by «{' '.join(excused)}»: take it off the list"
    if not partial:
        for line in expected:
            has_such_tests = line.reason not in ONLY_IN or ONLY_IN[line.reason](preset)
            if has_such_tests and not fnmatch.filter(results, line.pattern):
                yield f"«{line.reason} {line.pattern}» names no test: take it off the list"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("junit")
    parser.add_argument("expected")
    parser.add_argument("--preset", required=True)
    parser.add_argument("--partial", action="store_true")
    options = parser.parse_args()
    if not os.path.exists(options.junit):
        sys.exit("ctest left no results: 0 passed, 0 failed, 0 skipped")
    results = read_results(options.junit)
    wrong = list(complaints(results, read_expected(options.expected), options.preset, options.partial))
    for line in wrong:
        print(f"skips: {line}")
    for name, outcome in sorted(results.items()):
        if outcome == "failed":
            print(f"failed: {name}")
    count = list(results.values()).count
    print(f"{count('passed')} passed, {count('failed')} failed, {count('skipped')} skipped")
    sys.exit(1 if wrong or count("failed") or not results else 0)


if __name__ == "__main__":
    main()
