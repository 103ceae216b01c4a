"""The pages in docs/walkthroughs work as they stand. usage: walkthrough_test.py SOURCE BUILD CMAKE NINJA [PAGE…]

Applies the pages of these names, without any all of them, to one copy of the tree below BUILD, builds the program and
the tests that they add, and runs both. That all of them can be applied is checked in any case. A block of a page is marked by its first line:

    ```cpp new PATH            the whole of a new file
    ```cpp after PATH LINE     goes behind the one line of PATH that is LINE, but for spaces around it
    ```cpp use PATH LINE       the same, where PATH only uses what the page adds: it does not count as touched
    ```sh run                  commands that must succeed; `ingot` is the program that was built, `test_walkthroughs`
                               the one of the tests that pages add
    ```text output             lines that the commands before printed, or parts of lines

The copy stays, so that the next run builds only what changed; ccache knows the rest from the tree's own build.
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from typing import NamedTuple

SOURCE, BUILD, CMAKE, NINJA = sys.argv[1:5]
WANTED = [name + ".md" for name in sys.argv[5:]]
PAGES = os.path.join(SOURCE, "docs", "walkthroughs")
COPY = os.path.join(BUILD, "walkthroughs", "ingot")  # as deep below its sources as BUILD: ccache counts paths from there
COPY_BUILD = os.path.join(COPY, "build", os.path.basename(BUILD))
PARTS = ("CMakeLists.txt", "CMakePresets.json", "LICENSE", "NOTICE", "bench", "cmake", "docs", "src", "tests")
MOST_FILES = {"add-a-filter.md": 4, "add-a-family.md": 5, "add-a-setting.md": 1, "add-a-command.md": 3,
              "add-a-communicator-backend.md": 4, "add-an-op.md": 8, "add-an-optimizer.md": 6,
              "add-a-record.md": 1}
OWN_TESTS = "walkthroughs"  # the program of the tests that pages add: bin/test_walkthroughs


class Block(NamedTuple):
    kind: str  # new, after, use, run, output
    path: str
    line: str
    text: str


def blocks_of(page):
    with open(os.path.join(PAGES, page), encoding="utf-8") as file:
        text = file.read()
    found = re.findall(r"^```\w+ (new|after|use|run|output)(?: (\S+))?(?: ([^\n]+))?\n(.*?)^```$", text,
                       re.MULTILINE | re.DOTALL)
    return [Block(*fields) for fields in found]


def insert_after(text, line, addition):
    lines = text.splitlines(keepends=True)
    places = [i for i, have in enumerate(lines) if have.strip() == line.strip()]
    if len(places) != 1:
        raise AssertionError(f"expected one line «{line}», got {len(places)}")
    lines.insert(places[0] + 1, addition)
    return "".join(lines)


def changed_files(pages):
    """{path: contents} of the files that the pages add or change, tests among them."""
    files, tests = {}, []
    for page in pages:
        for block in blocks_of(page):
            if block.kind == "new":
                if os.path.exists(os.path.join(SOURCE, block.path)):
                    raise AssertionError(f"{page}: {block.path} is in the tree")
                files[block.path] = block.text
                if re.match(r"tests/\w+/\w+_test\.cpp$", block.path):
                    tests.append(block.path.removeprefix("tests/"))
            elif block.kind in ("after", "use"):
                if block.path not in files:
                    with open(os.path.join(SOURCE, block.path), encoding="utf-8") as file:
                        files[block.path] = file.read()
                files[block.path] = insert_after(files[block.path], block.line, block.text)
    if any(path.startswith("src/probe/cases/") for path in files):
        tests.append("ops/op_case_test.cpp")  # what op cases promise, of those that pages add too
    if "src/checkpoint/exchange/architecture.cpp" in files:
        tests.append("checkpoint/hf_config_rows_test.cpp")  # the same of rows of config.json
    with open(os.path.join(SOURCE, "tests/CMakeLists.txt"), encoding="utf-8") as file:
        cmake = file.read()
    # In a program of their own, as cli's, which sees every layer: the layers' test programs are not built here.
    cmake += f"add_layer_tests(cli NAME {OWN_TESTS} SOURCES {' '.join(tests)})\n"
    files["tests/CMakeLists.txt"] = cmake
    return files


def write_if_other(path, text):
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
        os.remove(path)  # it may be a link to the file of the tree
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def sync(changed):
    """The tree as hard links, but for the files that pages change."""
    wanted = set(changed)
    for part in PARTS:
        top = os.path.join(SOURCE, part)
        for folder, folders, names in os.walk(top) if os.path.isdir(top) else [(SOURCE, [], [part])]:
            folders[:] = [name for name in folders if name != "__pycache__"]
            wanted.update(os.path.relpath(os.path.join(folder, name), SOURCE) for name in names)
    for path in sorted(wanted):
        copy = os.path.join(COPY, path)
        if path in changed:
            write_if_other(copy, changed[path])
            continue
        source = os.path.join(SOURCE, path)
        if os.path.exists(copy):
            if os.path.samefile(source, copy):
                continue
            os.remove(copy)
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        os.link(source, copy)
    for part in PARTS:  # what is gone from the tree
        for folder, _, names in os.walk(os.path.join(COPY, part)):
            for name in names:
                path = os.path.join(folder, name)
                if os.path.relpath(path, COPY) not in wanted:
                    os.remove(path)


def command(*arguments, **options):
    result = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
    if result.returncode != 0:
        raise AssertionError(f"{' '.join(arguments)}: exit status {result.returncode}\n{result.stdout[-8000:]}")
    return result.stdout


class Walkthroughs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.all_pages = sorted(os.listdir(PAGES))
        changed_files(cls.all_pages)
        cls.pages = WANTED or cls.all_pages
        sync(changed_files(cls.pages))
        command(CMAKE, "-S", COPY, "--preset", os.path.basename(BUILD), f"-DCMAKE_MAKE_PROGRAM={NINJA}", cwd=COPY)
        quick = {"CCACHE_PREFIX": os.path.join(SOURCE, "tests", "walkthroughs", "quick_compiler.sh"), "CCACHE_READONLY": "1"}
        command(NINJA, "-C", COPY_BUILD, "-j2", "ingot", f"bin/test_{OWN_TESTS}", env={**os.environ, **quick})

    def test_every_page_touches_as_few_files_as_it_promises(self):
        for page in self.all_pages:
            touched = {block.path for block in blocks_of(page) if block.kind in ("new", "after")}
            self.assertTrue(0 < len(touched) <= MOST_FILES[page], f"{page} touches {sorted(touched)}")

    def test_tests_that_pages_add_pass(self):
        command(os.path.join(COPY_BUILD, "bin", f"test_{OWN_TESTS}"))

    def test_what_is_built_does_what_the_pages_say(self):
        programs = [COPY_BUILD, os.path.join(COPY_BUILD, "bin")]
        environment = {**os.environ, "PATH": os.pathsep.join([*programs, os.environ["PATH"]])}
        for page in self.pages:
            with self.subTest(page=page), tempfile.TemporaryDirectory() as folder:
                printed, ran = "", 0
                for block in blocks_of(page):
                    if block.kind == "run":
                        printed = command("sh", "-ec", block.text, cwd=folder, env=environment)
                        ran += 1
                    elif block.kind == "output":
                        for line in block.text.splitlines():
                            self.assertIn(line, printed)
                self.assertGreater(ran, 0, "a page runs what it adds")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
