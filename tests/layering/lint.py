"""The rules of the tree that the compiler does not check. usage: lint.py ROOT BUILD

Prints «file:line: rule: what is wrong» for each violation; exit status 1 when there is any.
"""

import os
import re
import sys
from typing import Iterator, NamedTuple

from words import check_words

MAX_LINES = 600
MAX_FILES = 40  # of a folder below src, its subfolders not counted
CXX = (".h", ".cpp", ".cu", ".cuh", ".def")
TEXT = CXX + (".py", ".sh", ".cmake", ".txt", ".md", ".toml", ".json")
FOLDERS = ("src", "tests", "bench", "tools", "cmake", "docs", "recipes", "packaging", ".ci")
DATA_FOLDERS = {"golden", "corpus", "__pycache__"}  # test data: not ours to style

# Headers that only some folders may include, counted from below src; bench/ compares with vendors.
HOMES = [
    (r"cuda|cublas|cudnn|cufile|curand|cupti|nvtx|nvml|cooperative_groups|cutlass/|cute/|cub/",
     ("core/cuda/", "ops/cuda/", "parallel/comm/")),
    (r"nccl|mpi\.h", ("parallel/comm/",)),
    (r"dnnl|oneapi/", ("ops/cpu/",)),
]
# Rooms: the folders of a layer, or of a folder in it, lowest first. An include goes to its own room or to an
# earlier one. "." is the room of the files beside the others; without it they include all and all include them.
ROOMS = {
    "core": ["text", "error", "system", "random", "tensor", "device", "async", "json", "storage", "cuda"],
    "spec": ["settings", "table", "model", "machine", "layout", "run", "rows"],
    "tokenizer": ["unicode", "bpe", "sentencepiece", "hf", "train", "chat"],
    "ops": ["update", ".", "common", "kernels", "cpu", "cuda"],
    "parallel": ["comm", "shard"],
    "parallel/comm": ["wire", "tcp", "mpi", "local", "cuda", "process"],
    "shards": [".", "foreign", "mix"],
    "checkpoint": ["exchange", "models"],
    "checkpoint/exchange": ["hf", "gguf"],
    "ingest": ["text", "read", "write", "tasks", "clean", "dedup", "decontaminate", "tokenize"],
    "ingest/read": ["remote", "arrow", "formats"],
    "train": ["step", "start", "records", "hooks", "."],
    "cli": ["frame", "launch", "start", "plan", "machine", "tokenizer", "data", "checkpoint", "bench", "eval", "run"],
    "eval": ["core", "harness", "prompts"],
}
# Rooms whose headers alone keep the order: the source of an op's contract checks, then calls the kernels.
CONTRACTS = {"ops/update", "ops/."}
BASES = {"core/text", "tokenizer/unicode"}  # these include nothing of their layer but themselves
# Layers that must not meet, whatever their CMakeLists say: data is prepared, and read in training,
# by way of the shards alone.
APART = [("shards", "ingest"), ("shards", "feed"), ("ingest", "feed"), ("feed", "ingest"),
         ("tokenizer", "shards"), ("tokenizer", "ingest"), ("tokenizer", "feed")]

MAX_COLUMNS = 120  # of a document
# The tree speaks of the program, not of how it came about.
ORDINALS = "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth"
HISTORY = (r"\bsession \d|\b(?:" + ORDINALS + r") session\b|\bissue \d|\bhelper work(?:er|tree)s?\b|"
           r"\bhelper'?s branch\b|(?<![\w/])(?:docs/)?log\.md\b")
ENDS_PROCESS = r"\b(exit|_exit|_Exit|quick_exit|abort)\s*\("
UNFINISHED = r"\b(TO" r"DO|FIX" r"ME)\b"
DEVELOPER_PATH = r"(?<![\w.}])/(home|root|work|Users)/\w"


class Finding(NamedTuple):
    path: str
    line: int
    rule: str
    message: str


def blank_comments_and_strings(text):
    """The same text, same length in lines, with comments and literals turned to spaces."""
    token = r"//[^\n]*|/\*.*?\*/|R\"(\w*)\(.*?\)\1\"|\"(?:\\.|[^\"\\\n])*\"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"
    return re.sub(token, lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.DOTALL)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def tree(root) -> Iterator[str]:
    for name in sorted(os.listdir(root)):
        if os.path.isfile(os.path.join(root, name)) and (name.endswith(TEXT) or name == "run"):
            yield name
    for folder in FOLDERS:
        for path, folders, names in os.walk(os.path.join(root, folder)):
            folders[:] = sorted(set(folders) - DATA_FOLDERS)
            for name in sorted(names):
                if name.endswith(TEXT) or name == "run":
                    yield os.path.relpath(os.path.join(path, name), root)


def layers(root, build):
    """{layer: the layers it may include, itself among them}, as add_layer staged them in the build
    tree; empty for a layer that this build leaves out."""
    may_use = {}
    for name in os.listdir(os.path.join(root, "src")):
        staged = os.path.join(build, "include", name)
        may_use[name] = set(os.listdir(staged)) if os.path.isdir(staged) else set()
    return may_use


def check_include(path, header, quoted, may_use):
    top, _, below = path.partition("/")
    for pattern, homes in HOMES:
        if re.match(pattern, header) and top != "bench" and not below.startswith(homes):
            yield "header-home", f"<{header}> may only be included in {' '.join(homes)}"
    if not quoted:
        return
    first = header.split("/")[0]
    if first in ("..", ".") or "/../" in header:
        yield "parent-include", f"\"{header}\": write the path from the include root"
    elif first in may_use:
        allowed = may_use.get(below.split("/")[0]) if top == "src" else None
        if allowed and first not in allowed:
            yield "layer-edge", f"the layer does not list {first} in its DEPS"
    elif top == "src":
        yield "include-root", f"\"{header}\": expected \"<layer>/…\""


def room_of(path, parent):
    """The room below `parent` that a file lies in, "." for one beside the rooms; empty elsewhere."""
    if not path.startswith(parent + "/"):
        return ""
    room, slash, _ = path.removeprefix(parent + "/").partition("/")
    return room if slash else "."


def check_rooms(path, header) -> Iterator[tuple]:
    if not path.startswith("src/"):
        return
    path = path.removeprefix("src/")
    for parent, order in ROOMS.items():
        room, to_room = room_of(path, parent), room_of(header, parent)
        if not room or not to_room or room == to_room:
            continue
        if f"{parent}/{room}" in CONTRACTS and not path.endswith(".h"):
            continue
        if f"{parent}/{room}" in BASES:
            yield "room-edge", f"{parent}/{room} includes nothing of {parent} but itself"
        elif room in order and to_room in order and order.index(to_room) > order.index(room):
            yield "room-edge", f"{parent}/{to_room} stands on {parent}/{room}, not the other way round"


def check_folders(root) -> Iterator[Finding]:
    """A folder is small enough to be looked through, and each room has its place in the order."""
    for path, folders, names in os.walk(os.path.join(root, "src")):
        folder = os.path.relpath(path, root)
        if len(names) > MAX_FILES:
            yield Finding(folder, 1, "folder-size", f"{len(names)} files, at most {MAX_FILES}: give a topic its room")
        order = ROOMS.get(folder.removeprefix("src/"))
        for room in sorted(folders):
            if order is not None and room not in order:
                yield Finding(folder, 1, "room-order", f"{room} has no place in ROOMS of tests/layering/lint.py")


def check_document(path, text) -> Iterator[Finding]:
    """Lines that fit beside code; rows of tables and addresses are as long as they are."""
    for number, line in enumerate(text.split("\n"), 1):
        without_addresses = re.sub(r"https?://[^\s)>]+", "", line)
        if not line.lstrip().startswith("|") and len(without_addresses) > MAX_COLUMNS:
            yield Finding(path, number, "document-width", f"{len(line)} columns: break it at {MAX_COLUMNS}")


def check_apart(may_use) -> Iterator[Finding]:
    for layer, other in APART:
        if other in may_use.get(layer, ()):
            yield Finding(f"src/{layer}/CMakeLists.txt", 1, "layer-edge", f"{layer} may not use {other}")


def ends_process(code) -> Iterator[tuple]:
    """Calls of exit and its like; methods and declarations of that name are something else."""
    for match in re.finditer(ENDS_PROCESS, code):
        before = code[: match.start()].rstrip()
        word = re.search(r"(\w*)$", before)[1]
        if before.endswith((".", "->")):
            continue
        if before.endswith("::"):
            scope = re.search(r"(\w*)::$", before)[1]
            if scope not in ("", "std"):
                continue
        elif word and word not in ("return", "else", "do"):
            continue
        yield match.start(), match[1]


def check_cxx(path, text, may_use, root) -> Iterator[Finding]:
    code = blank_comments_and_strings(text)
    includes = list(re.finditer(r"^[ \t]*#[ \t]*include[ \t]*([\"<])([^\">]+)[\">]", text, re.MULTILINE))
    for match in includes:
        if code[match.start() : match.start(1)].strip():  # not commented out
            broken = list(check_include(path, match[2], match[1] == '"', may_use))
            for rule, message in broken + list(check_rooms(path, match[2])):
                yield Finding(path, line_of(text, match.start()), rule, message)
    if path.endswith(".cpp") and path.startswith("src/"):
        own = re.sub(r"\.cpp$", ".h", path)
        if os.path.exists(os.path.join(root, own)) and (not includes or "src/" + includes[0][2] != own):
            yield Finding(path, 1, "own-header-first", f"include {own[4:]} first: it must stand alone")
    if path.startswith("src/") and not path.startswith("src/cli/"):
        for match in re.finditer(r"\b(secure_)?getenv\b", code):
            yield Finding(path, line_of(text, match.start()), "getenv", "only src/cli reads the environment")
        for offset, name in ends_process(code):
            yield Finding(path, line_of(text, offset), "exit", f"{name}() ends the process; throw ingot::Error")


def check_names(path, text, seen) -> Iterator[Finding]:
    """A type or inline constant has its name to itself: of two in one namespace the linker keeps one,
    without a word, and half of the program works with the other's contents. `seen`: (namespace,
    name) -> path."""
    code = blank_comments_and_strings(text)
    namespace = re.search(r"^namespace ([\w:]+) \{", code, re.MULTILINE)
    if namespace is None:
        return
    defined = r"^(?:struct|class|enum class) (\w+)(?: final)?(?: : [^;{]*)? \{|^inline constexpr [\w:<>]+ (\w+)"
    for match in re.finditer(defined, code, re.MULTILINE):
        name = (namespace[1], match[1] or match[2])
        if seen.setdefault(name, path) != path:
            yield Finding(path, line_of(text, match.start()), "named-twice", f"{name[1]} is also in {seen[name]}")


def check_architecture(root, may_use) -> Iterator[Finding]:
    """The table of layers in docs/architecture.md says what the build does."""
    path = "docs/architecture.md"
    with open(os.path.join(root, path), encoding="utf-8") as file:
        text = file.read()
    rows = {m[1]: m for m in re.finditer(r"^\| \d+ \| `(\w+)` \|.*\|([^|]*)\|$", text, re.MULTILINE)}
    for layer, allowed in sorted(may_use.items()):
        if not allowed:
            continue
        row = rows.get(layer)
        said = set(row[2].split()) - {"nothing"} if row else set()
        if row is None or said != allowed - {layer}:
            line = line_of(text, row.start()) if row else 1
            used = " ".join(sorted(allowed - {layer})) or "nothing"
            yield Finding(path, line, "architecture", f"the table must say that {layer} may use {used}")


def check_traps(root) -> Iterator[Finding]:
    """Every trap test stands in a row of docs/traps.md, and every row names a test that exists."""
    path, folder = "docs/traps.md", os.path.join(root, "tests/traps")
    if not os.path.isdir(folder):
        return
    tests = set()
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            tests |= {".".join(match) for match in re.findall(r"^TEST_[FP]\((\w+),\s*(\w+)\)", file.read(), re.MULTILINE)}
    with open(os.path.join(root, path), encoding="utf-8") as file:
        rows = [line.split("|")[-2] for line in file if line.startswith("|")]
    named = set(re.findall(r"`(\w+\.\w+)`", " ".join(rows)))
    for test in sorted(tests ^ named):
        yield Finding(path, 1, "traps", f"{test} " + ("has no row" if test in tests else "is no test in tests/traps"))


def check_is_built(root, path) -> Iterator[Finding]:
    """A test stands in the CMakeLists.txt of its folder, by name or by a pattern."""
    name = os.path.basename(path)
    lists = os.path.join(root, os.path.dirname(path), "CMakeLists.txt")
    text = ""
    if os.path.isfile(lists):
        with open(lists, encoding="utf-8") as file:
            text = file.read()
    if name not in text and "*_test.cpp" not in text:
        yield Finding(path, 1, "not-built", "no CMakeLists.txt lists this test: nobody runs it")


def lint(root, build) -> Iterator[Finding]:
    may_use = layers(root, build)
    yield from check_architecture(root, may_use)
    yield from check_traps(root)
    yield from check_apart(may_use)
    yield from check_folders(root)
    names = {}
    for path in tree(root):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        if not path.startswith("docs/") and text.count("\n") > MAX_LINES:
            yield Finding(path, MAX_LINES + 1, "length", f"more than {MAX_LINES} lines: split it")
        for rule, pattern, message in (
            ("unfinished", UNFINISHED, "finish it, or open an issue"),
            ("developer-path", DEVELOPER_PATH, "a path of one machine"),
            ("history", HISTORY, "say what the program does, not how it came about"),
        ):
            for match in re.finditer(pattern, text):
                yield Finding(path, line_of(text, match.start()), rule, message)
        for offset, message in check_words(path, text):
            yield Finding(path, line_of(text, offset), "words", message)
        if path.endswith(".md"):
            yield from check_document(path, text)
        if path.endswith(CXX):
            yield from check_cxx(path, text, may_use, root)
        if path.startswith("tests/") and path.endswith("_test.cpp"):
            yield from check_is_built(root, path)
        if path.endswith(".h") and path.startswith("src/"):
            yield from check_names(path, text, names)


def main():
    findings = list(lint(sys.argv[1], sys.argv[2]))
    for finding in findings:
        print(f"{finding.path}:{finding.line}: {finding.rule}: {finding.message}")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
