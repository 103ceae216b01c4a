"""add_layer refuses what it promises to refuse. usage: add_layer_test.py CMAKE NINJA SOURCE_DIR"""

import os
import subprocess
import sys
import tempfile
import unittest

CMAKE, NINJA, SOURCE_DIR = sys.argv[1:4]

# A low and a high layer, the high one using the low one; cases change one thing each.
PROJECT = {
    "CMakeLists.txt": """
cmake_minimum_required(VERSION 3.28)
project(tiny LANGUAGES CXX)
add_library(ingot_options INTERFACE)
include({source_dir}/cmake/layers.cmake)
add_subdirectory(src/low)
add_subdirectory(src/high)
""",
    "src/low/CMakeLists.txt": "add_layer(low RANK 1 SOURCES low.cpp)\n",
    "src/low/low.h": "int low();\n",
    "src/low/low.cpp": '#include "low/low.h"\nint low() { return 1; }\n',
    "src/high/CMakeLists.txt": "add_layer(high RANK 2 DEPS low SOURCES high.cpp)\n",
    "src/high/high.h": "int high();\n",
    "src/high/high.cpp": '#include "high/high.h"\n#include "low/low.h"\nint high() { return low(); }\n',
}


class AddLayerTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.write(PROJECT)

    def write(self, files):
        for path, text in files.items():
            path = os.path.join(self.folder.name, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.replace("{source_dir}", SOURCE_DIR))

    def command(self, *arguments):
        result = subprocess.run(arguments, cwd=self.folder.name, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, check=False)
        return result.returncode, " ".join(result.stdout.split())

    def configure(self):
        return self.command(CMAKE, "-S", ".", "-B", "build", "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={NINJA}")

    def build(self):
        return self.command(CMAKE, "--build", "build")

    def fails_to_configure(self, files, message):
        self.write(files)
        status, output = self.configure()
        self.assertNotEqual(status, 0)
        self.assertIn(message, output)

    def test_an_edge_down_in_rank_builds(self):
        self.assertEqual(self.configure()[0], 0)
        status, output = self.build()
        self.assertEqual(status, 0, output)

    def test_an_edge_up_in_rank_stops_the_configuration(self):
        self.fails_to_configure({"src/high/CMakeLists.txt": "add_layer(high RANK 0 DEPS low SOURCES high.cpp)\n"},
                                "layer high (rank 0) may not use low (rank 1)")

    def test_an_edge_between_equal_ranks_stops_the_configuration(self):
        self.fails_to_configure({"src/high/CMakeLists.txt": "add_layer(high RANK 1 DEPS low SOURCES high.cpp)\n"},
                                "layer high (rank 1) may not use low (rank 1)")

    def test_a_layer_that_comes_later_or_never_stops_the_configuration(self):
        self.fails_to_configure({"src/low/CMakeLists.txt": "add_layer(low RANK 1 DEPS high SOURCES low.cpp)\n"},
                                "layer low uses high, which is not a layer built before it")

    def test_a_missing_rank_stops_the_configuration(self):
        self.fails_to_configure({"src/low/CMakeLists.txt": "add_layer(low SOURCES low.cpp)\n"}, "expected RANK n")

    def test_a_cycle_stops_the_configuration(self):
        cycle = PROJECT["CMakeLists.txt"] + "target_link_libraries(low PRIVATE high)\n"
        self.fails_to_configure({"CMakeLists.txt": cycle}, "cyclic dependencies")

    def test_an_include_of_an_unlisted_layer_does_not_compile(self):
        # low is still linked, as it would be by way of a third layer: linking must not reveal headers.
        self.write({"src/high/CMakeLists.txt": "add_layer(high RANK 2 SOURCES high.cpp LINK low)\n"})
        self.assertEqual(self.configure()[0], 0)
        status, output = self.build()
        self.assertNotEqual(status, 0)
        self.assertIn("low/low.h: No such file or directory", output)

    def test_a_dependency_taken_out_is_not_seen_any_more(self):
        self.assertEqual(self.configure()[0], 0)
        self.assertEqual(self.build()[0], 0)
        self.write({"src/high/CMakeLists.txt": "add_layer(high RANK 2 SOURCES high.cpp)\n"})
        status, output = self.build()
        self.assertNotEqual(status, 0)
        self.assertIn("low/low.h", output)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
