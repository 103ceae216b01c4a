"""Prints where the minutes of a build and its tests went, by area.

usage: build_minutes.py PHASES [--slowest N]      what ./run did since it began to note phases there
       build_minutes.py BUILD_FOLDER [--slowest N]   all that is in the logs of one build folder

PHASES has a line «SECONDS_SINCE_1970 WHAT» for the beginning of each phase of ./run; build folders lie beside it.
Wall minutes are those that passed; work is the sum over commands and tests, of which several run at once.
--slowest also lists the N longest commands and tests.
"""

import argparse
import glob
import os
import re
import time
import xml.etree.ElementTree
from collections import defaultdict


def read_commands(folder, since):
    """[(seconds, output)] of the commands that ninja ran in a folder."""
    commands = {}
    path = os.path.join(folder, ".ninja_log")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            for line in list(file)[1:]:
                begin, end, written_ns, output, command = line.rstrip("\n").split("\t")
                if int(written_ns) / 1e9 >= since:  # one command may have several outputs
                    commands[command, begin] = ((int(end) - int(begin)) / 1e3, output)
    return list(commands.values())


def read_tests(folder, since):
    """[(seconds, name)] of the tests that ctest last ran."""
    path = os.path.join(folder, "tests.xml")
    if not os.path.exists(path) or os.path.getmtime(path) < since:
        return []
    cases = xml.etree.ElementTree.parse(path).getroot().iter("testcase")
    return [(float(case.get("time")), case.get("name")) for case in cases]


def area_of_output(output):
    compiled = re.match(r"(src|tests|bench)/(\w+)/.*\.(cpp|cu)\.o$", output)
    if compiled:
        tree, folder, language = compiled.groups()
        return f"compile {tree}/{folder}" + (", CUDA" if language == "cu" else "")
    if output.endswith((".o", ".gch")):
        return "precompiled headers" if output.endswith(".gch") else "compile other"
    return "archives" if output.endswith(".a") else "link"


def areas_of(items, area_of):
    """[(area, seconds, count)], longest first."""
    seconds, counts = defaultdict(float), defaultdict(int)
    for duration, name in items:
        seconds[area_of(name)] += duration
        counts[area_of(name)] += 1
    return sorted(((area, seconds[area], counts[area]) for area in seconds), key=lambda row: -row[1])


def print_row(what, wall="", work="", count=""):
    minutes = [f"{value / 60:.1f}" if value != "" else "" for value in (wall, work)]
    print(f"{what:44}{minutes[0]:>7}{minutes[1]:>7}{count:>7}")


def print_areas(items, area_of):
    rest = [0.0, 0]
    for area, seconds, count in areas_of(items, area_of):
        if seconds < 3:
            rest = [rest[0] + seconds, rest[1] + count]
        else:
            print_row(f"    {area}", work=seconds, count=count)
    if rest[1]:
        print_row("    less than 3 s each", work=rest[0], count=rest[1])


def print_folder(folder, since, slowest):
    preset = os.path.basename(folder)
    commands, tests = read_commands(folder, since), read_tests(folder, since)
    for what, items, area_of in (("build", commands, area_of_output), ("tests", tests, lambda name: name.partition(".")[0])):
        if items:
            print_row(f"  {preset} {what}", work=sum(seconds for seconds, _ in items), count=len(items))
            print_areas(items, area_of)
            for seconds, name in sorted(items, reverse=True)[:slowest]:
                print(f"      {seconds:7.1f} s {name}")


def read_phases(path):
    """[(what, seconds)] and when the first began; the last lasts until now."""
    with open(path, encoding="utf-8") as file:
        lines = [line.split(maxsplit=1) for line in file]
    begins = [int(begin) for begin, _ in lines] + [time.time()]
    seconds = defaultdict(float)
    for (begin, what), end in zip(lines, begins[1:]):
        seconds[what.strip()] += end - int(begin)
    return list(seconds.items()), begins[0]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("path")
    parser.add_argument("--slowest", type=int, default=0)
    options = parser.parse_args()
    phases, since, folders = [], 0, [options.path.rstrip("/")]
    if not os.path.isdir(options.path):
        phases, since = read_phases(options.path)
        folders = sorted(os.path.dirname(log) for log in glob.glob(os.path.join(os.path.dirname(options.path), "*", ".ninja_log")))
    print(f"{'minutes':44}{'wall':>7}{'work':>7}{'number':>7}")
    for what, seconds in phases:
        print_row(f"  {what}", wall=seconds)
    if phases:
        print_row("  all", wall=sum(seconds for _, seconds in phases))
    for folder in folders:
        print_folder(folder, since, options.slowest)


if __name__ == "__main__":
    main()
