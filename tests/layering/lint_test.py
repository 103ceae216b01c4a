"""Plants each violation in a small tree and sees it found; and what only looks like one, not."""

import os
import tempfile
import unittest

import lint

CLEAN = {
    "src/core/a.h": "#pragma once\nint a();\n",
    "src/core/a.cpp": '#include "core/a.h"\n\n#include <vector>\nint a() { return 1; }\n',
    "src/ops/b.cpp": '#include "core/a.h"\nint b() { return a(); }\n',
    "src/cli/main.cpp": '#include <cstdlib>\nint main() { std::getenv("X"); std::exit(0); }\n',
    "tests/ops/b_test.cpp": '#include "core/a.h"\n#include "support/t.h"\n',
    "tests/ops/CMakeLists.txt": "file(GLOB sources *_test.cpp)\n",
    "tests/support/t.h": "#pragma once\n",
    "docs/long.md": "line\n" * 1000,
    "docs/architecture.md": "| 0 | `core` | a | nothing |\n| 1 | `ops` | b | core |\n| 7 | `cli` | c | core ops |\n",
}
MAY_USE = {"core": ["core"], "ops": ["ops", "core"], "cli": ["cli", "ops", "core"]}
# The layers of data.
ROOMS = {"tokenizer": ["core"], "shards": ["core", "tokenizer"], "ingest": ["core", "tokenizer", "shards"],
         "feed": ["core", "tokenizer", "shards"]}


def with_rooms(extra, **more):
    """Findings in a tree that has the layers of data too; `more` adds to what a layer may use."""
    rooms = {layer: ["core"] + used[1:] + more.get(layer, []) for layer, used in ROOMS.items()}
    rows = "".join(f"| 1 | `{layer}` | d | {' '.join(used)} |\n" for layer, used in rooms.items())
    tree = {"docs/architecture.md": CLEAN["docs/architecture.md"] + rows}
    tree.update({f"src/{layer}/x.h": "#pragma once\n" for layer in rooms})
    return findings({**tree, **extra}, {**MAY_USE, **{layer: [layer] + used for layer, used in rooms.items()}})


def findings(extra, layers=MAY_USE):
    with tempfile.TemporaryDirectory() as root:
        for path, text in {**CLEAN, **extra}.items():
            path = os.path.join(root, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        build = os.path.join(root, "build")
        for layer, allowed in layers.items():
            for name in allowed:
                os.makedirs(os.path.join(build, "include", layer, name))
        return [(finding.rule, finding.path, finding.line) for finding in lint.lint(root, build)]


class LintTest(unittest.TestCase):
    def found(self, rule, path, text, line=1):
        self.assertEqual(findings({path: text}), [(rule, path, line)], text)

    def not_found(self, path, text):
        self.assertEqual(findings({path: text}), [], text)

    def test_a_clean_tree_has_no_findings(self):
        self.assertEqual(findings({}), [])

    def test_parent_relative_includes(self):
        self.found("parent-include", "src/ops/x.cpp", '\n#include "../core/a.h"\n', 2)
        self.found("parent-include", "src/ops/x.cpp", '#include "core/../core/a.h"\n')
        self.found("parent-include", "tests/ops/x.cpp", '#  include "./t.h"\n')
        self.not_found("src/ops/x.cpp", '// #include "../core/a.h"\n')

    def test_names_that_two_headers_give(self):
        first = "namespace ingot {\ninline constexpr int kName = 1;\nstruct Batch {\n};\n}\n"
        for again in ("inline constexpr std::string_view kName", "class Batch final : public B {"):
            other = f"namespace ingot {{\n{again}\n}}\n"
            self.assertEqual(findings({"src/core/x.h": first, "src/ops/y.h": other}),
                             [("named-twice", "src/ops/y.h", 2)])
        for other in ("namespace ingot::cuda {\nstruct Batch {\n};\n}\n", "namespace ingot {\nstruct Batch;\n}\n"):
            self.assertEqual(findings({"src/core/x.h": first, "src/ops/y.h": other}), [])

    def test_includes_without_a_layer(self):
        self.found("include-root", "src/ops/x.cpp", '#include "b.h"\n')
        self.found("include-root", "src/ops/x.cpp", '#include "support/t.h"\n')
        self.not_found("tests/ops/x.cpp", '#include "t.h"\n')

    def test_layers_that_are_not_listed(self):
        self.found("layer-edge", "src/core/x.h", '#include "ops/b.h"\n')
        self.found("layer-edge", "src/core/text/down/x.cpp", '#include "cli/b.h"\n')
        self.not_found("src/ops/cpu/deep/x.cpp", '#include "core/a.h"\n')

    def test_data_is_prepared_and_read_by_way_of_shards_alone(self):
        self.assertEqual(with_rooms({}), [])
        for layer, other in (("ingest", "feed"), ("feed", "ingest"), ("shards", "ingest"), ("shards", "feed"),
                             ("tokenizer", "shards")):
            path = f"src/{layer}/y.cpp"
            include = {path: f'#include "{other}/x.h"\n'}
            self.assertEqual(with_rooms(include), [("layer-edge", path, 1)])
            listed = ("layer-edge", f"src/{layer}/CMakeLists.txt", 1)  # not even a layer that lists it
            self.assertEqual(with_rooms(include, **{layer: [other]}), [listed])

    def test_rooms_of_a_layer_include_in_one_direction(self):
        for path, header in (("tokenizer/bpe/y.cpp", "tokenizer/hf/x.h"), ("tokenizer/bpe/y.h", "tokenizer/train/x.h"),
                             ("tokenizer/unicode/y.cpp", "tokenizer/x.h"), ("ingest/read/y.cpp", "ingest/clean/x.h"),
                             ("ingest/clean/filters/y.cpp", "ingest/dedup/x.h"), ("core/text/y.cpp", "core/a.h"),
                             ("parallel/comm/wire/y.cpp", "parallel/comm/local/x.h"),
                             ("parallel/comm/wire/y.cpp", "parallel/shard/x.h"),
                             ("core/error/y.cpp", "core/tensor/x.h"), ("train/step/y.cpp", "train/start/x.h"),
                             ("train/records/y.h", "train/hooks/x.h"), ("train/hooks/y.cpp", "train/x.h"),
                             ("ops/y.h", "ops/kernels/x.h"), ("ops/update/y.h", "ops/common/x.h"),
                             ("ops/kernels/y.h", "ops/cpu/x.h"), ("ops/common/y.h", "ops/kernels/x.h")):
            self.assertEqual(with_rooms({f"src/{path}": f'#include "{header}"\n'}), [("room-edge", f"src/{path}", 1)])
            self.assertEqual(with_rooms({f"src/{path}": f'// #include "{header}"\n'}), [])
        for header in ("ops/b.h", "tokenizer/x.h", "ingest/x.h"):
            include = {"src/core/text/y.cpp": f'#include "{header}"\n'}
            self.assertEqual(with_rooms(include), [("layer-edge", "src/core/text/y.cpp", 1)])
        for path, header in (("tokenizer/hf/y.cpp", "tokenizer/bpe/x.h"), ("tokenizer/hf/y.cpp", "tokenizer/x.h"),
                             ("tokenizer/y.cpp", "tokenizer/hf/x.h"), ("ingest/dedup/y.cpp", "ingest/clean/x.h"),
                             ("core/text/y.cpp", "core/text/x.h"), ("core/y.cpp", "core/text/x.h"),
                             ("parallel/comm/local/y.cpp", "parallel/comm/wire/x.h"),
                             ("parallel/comm/local/y.cpp", "parallel/comm/x.h"), ("train/y.h", "train/hooks/x.h"),
                             ("train/hooks/y.cpp", "train/step/x.h"), ("ops/y.cpp", "ops/kernels/x.h"),
                             ("ops/update/y.cpp", "ops/cpu/x.h"), ("ops/common/y.h", "ops/x.h"),
                             ("ops/cuda/y.cu", "ops/kernels/x.h")):
            self.assertEqual(with_rooms({f"src/{path}": f'#include "{header}"\n'}), [])

    def test_folders_are_small_and_have_their_place(self):
        many = {f"src/ops/x{i}.h": "" for i in range(40)}
        self.assertIn(("folder-size", "src/ops", 1), findings(many))
        many.pop("src/ops/x39.h")
        self.assertEqual(findings(many), [])
        self.assertIn(("room-order", "src/core", 1), findings({"src/core/attic/x.h": ""}))
        self.assertEqual(findings({"src/core/text/x.h": "", "src/feed/attic/x.h": ""}), [])

    def test_lines_of_documents(self):
        self.found("document-width", "docs/x.md", "short\n" + "word " * 25 + "\n", 2)
        self.not_found("docs/x.md", "é" * 120 + "\n")
        self.not_found("docs/x.md", "| " + "word " * 25 + "|\n")
        self.not_found("docs/x.md", "  | " + "word " * 25 + "|\n")
        self.found("document-width", "docs/x.md", "```\n" + "word " * 25 + "\n```\n", 2)
        self.found("document-width", "docs/x.md", "    " + "word " * 25 + "\n", 1)
        self.not_found("docs/x.md", f"see https://x.org/{'y' * 120}\n")

    def test_words_of_development(self):
        for text in ("in sess" "ion 4", "the eighth sess" "ion brought", "as iss" "ue 12 asks", "a helper work" "tree",
                     "see [lo" "g.md](lo" "g.md)", "docs/lo" "g.md"):
            self.assertIn(("history", "docs/x.md", 1), findings({"docs/x.md": text + "\n"}), text)
            self.assertIn(("history", "src/ops/x.cpp", 1), findings({"src/ops/x.cpp": f"// {text}\n"}), text)
        for text in ("a chat session", "an issue of numbers", "helper functions", "catalog.md", "the first step",
                     "run/log.json"):
            self.not_found("docs/x.md", text + "\n")

    def test_private_words(self):
        for text in (
            "int patience_ = 0;", "// Ranks lose Patience.", "struct MeetingPoint {};", '#include "core/meeting_point.h"',
            "// a checkpoint's companions", 'const char* kHelp = "what carries tensors: the carrier";', "LlamaTable t;",
            "// The run goes on.", "// it may go on from there", "// given up on demand", "// they were put away",
            "// and brought back", "// on the way back", "wide_dtype(x);", "// gathers whole weights",
            "// a matrix product", "// the backward products", "void product_tile();", "int score_products;",
            "enum class Product { Qkv };",
        ):
            self.found("words", "src/core/w.h", "#pragma once\n" + text + "\n", 2)
        self.found("words", "docs/w.md", "When a rank's patience ends.\n")

    def test_words_that_only_look_private(self):
        for text in ("// Work goes on the stream.", "// the product of the two extents", "int64_t product = 1;",
                     "float dot_product(int n);", "// torch's scaled_dot_product_attention", 'record["carrier"] = name;',
                     "// a whole weight", "// far away, and back"):
            self.not_found("src/core/w.h", "#pragma once\n" + text + "\n")
        self.not_found("docs/w.md", "The record has `carrier` and `carrier_facts`.\n")
        self.not_found("tests/ops/w.h", "#pragma once\n// The run goes on.\n")

    def test_device_headers_outside_their_homes(self):
        for header in ("cuda_runtime.h", "cublasLt.h", "cudnn.h", "nvtx3/nvToolsExt.h", "cupti.h"):
            self.found("header-home", "src/ops/x.h", f"#include <{header}>\n")
            self.found("header-home", "src/ops/cpu/x.cpp", f"#include <{header}>\n")
            for home in ("src/core/cuda/x.h", "src/ops/cuda/x.cu", "src/parallel/comm/x.cpp"):
                self.not_found(home, f"#include <{header}>\n")

    def test_network_headers_outside_their_home(self):
        for header in ("nccl.h", "mpi.h"):
            self.found("header-home", "src/core/cuda/x.cpp", f"#include <{header}>\n")
            self.not_found("src/parallel/comm/x.cpp", f"#include <{header}>\n")

    def test_onednn_headers_outside_their_home(self):
        for header in ("dnnl.hpp", "oneapi/dnnl/dnnl.h"):
            self.found("header-home", "src/ops/x.cpp", f"#include <{header}>\n")
            self.not_found("src/ops/cpu/x.cpp", f"#include <{header}>\n")
            self.not_found("bench/x.cpp", f"#include <{header}>\n")

    def test_the_environment_is_read_in_cli_only(self):
        self.found("getenv", "src/ops/x.cpp", 'auto x = std::getenv("HOME");\n')
        self.found("getenv", "src/ops/x.cpp", 'auto x = secure_getenv("HOME");\n')
        self.not_found("src/ops/x.cpp", "// not getenv(), see cli\n")
        self.not_found("src/cli/x.cpp", 'auto x = getenv("HOME");\n')

    def test_libraries_do_not_end_the_process(self):
        for call in ("exit(1)", "std::exit(1)", "::exit(1)", "_exit(1)", "std::quick_exit(1)", "abort()"):
            self.found("exit", "src/ops/x.cpp", f"void f() {{\n  if (g()) {call};\n}}\n", 2)
            self.found("exit", "src/ops/x.cpp", f"void f() {{\n  return {call};\n}}\n", 2)
            self.not_found("src/cli/x.cpp", f"void f() {{\n  {call};\n}}\n")

    def test_what_only_looks_like_ending_the_process(self):
        for text in ("/* exit(1) */", 'auto s = "abort()";', "comm.abort();", "comm->abort();", "void abort();",
                     "void Comm::abort() {}", "int at_exit(int);", 'auto s = R"(exit(1))";', "char c = '\"'; // exit(1)"):
            self.not_found("src/ops/x.cpp", text + "\n")

    def test_digit_separators_do_not_hide_code(self):
        self.found("exit", "src/ops/x.cpp", "int n = 1'000; void f() { exit(1); } int m = 2'000;\n")

    def test_files_over_600_lines(self):
        self.found("length", "src/ops/x.cpp", "int x;\n" * 601, 601)
        self.found("length", "tools/x.py", "x = 1\n" * 601, 601)
        self.not_found("src/ops/x.cpp", "int x;\n" * 600)

    def test_developer_paths(self):
        for path in ("/ho" "me/ann/x", "/ro" "ot/x", "/wo" "rk/x", "/Us" "ers/ann"):
            self.found("developer-path", "docs/x.md", f"see {path}\n")
            self.found("developer-path", "src/ops/x.cpp", f'auto p = "{path}";\n')
        self.not_found("docs/x.md", "see docs/wo" "rk/x and ${dir}/wo" "rk/x\n")

    def test_unfinished_work(self):
        self.found("unfinished", "src/ops/x.cpp", "// TO" "DO: more\n")
        self.found("unfinished", "cmake/x.cmake", "# FIX" "ME\n")

    def test_every_trap_test_has_a_row_and_every_row_a_test(self):
        test = {"tests/traps/x_test.cpp": "TEST_F(Trap, Bites) {\n}\n", "tests/traps/CMakeLists.txt": "x_test.cpp\n"}
        row = "| what | happens | `Trap.Bites` |\n"
        self.assertEqual(findings({**test, "docs/traps.md": row}), [])
        for page in ("none\n", row + "| more | of `it.ems` | `Trap.Gone` |\n"):
            self.assertEqual(findings({**test, "docs/traps.md": page}), [("traps", "docs/traps.md", 1)])

    def test_a_test_that_nobody_builds(self):
        lists = {"tests/core/CMakeLists.txt": "set(sources a_test.cpp)\n"}
        self.assertEqual(findings({**lists, "tests/core/a_test.cpp": ""}), [])
        self.assertEqual(findings({**lists, "tests/core/b_test.cpp": ""}), [("not-built", "tests/core/b_test.cpp", 1)])
        self.found("not-built", "tests/core/c_test.cpp", "")

    def test_the_architecture_page_says_what_is_built(self):
        page = CLEAN["docs/architecture.md"]
        self.found("architecture", "docs/architecture.md", page.replace("| core |", "| core cli |"), 2)
        self.found("architecture", "docs/architecture.md", page.replace("| core ops |", "| core |"), 3)
        self.found("architecture", "docs/architecture.md", page.replace("`ops`", "`opps`"), 1)

    def test_a_source_includes_its_own_header_first(self):
        self.found("own-header-first", "src/core/a.cpp", '#include <vector>\n#include "core/a.h"\n')


if __name__ == "__main__":
    unittest.main()
