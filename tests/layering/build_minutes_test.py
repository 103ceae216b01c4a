"""The table of minutes counts what ran. usage: build_minutes_test.py TOOLS_DIR"""

import os
import subprocess
import sys
import tempfile
import unittest

TOOLS_DIR = sys.argv[1]

# begin ms, end ms, when it was written, output, hash of the command
LOG = """# ninja log v7
0\t60000\t1000000000000\tsrc/core/CMakeFiles/core.dir/old.cpp.o\ta
0\t90000\t2000000000000\tsrc/core/CMakeFiles/core.dir/new.cpp.o\tb
0\t30000\t2000000000000\tsrc/ops/CMakeFiles/ops.dir/cuda/rope.cu.o\tc
0\t12000\t2000000000000\tbin/test_core\td
0\t12000\t2000000000000\tbin/second_output\td
"""
TESTS = """<testsuite><testcase name="core.A.b" time="120"/><testcase name="core.A.c" time="60.0"/>
  <testcase name="cli.D.e" time="6"/></testsuite>"""


class BuildMinutes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.phases = os.path.join(folder.name, "phases")
        self.build = os.path.join(folder.name, "cpu")
        os.mkdir(self.build)
        for path, text in (("phases", "1500 install\n1560 cpu: build\n1680 install\n1710 cpu: tests\n"),
                           ("cpu/.ninja_log", LOG), ("cpu/tests.xml", TESTS)):
            with open(os.path.join(folder.name, path), "w", encoding="utf-8") as file:
                file.write(text)

    def rows(self, *arguments):
        printed = subprocess.run([sys.executable, os.path.join(TOOLS_DIR, "build_minutes.py"), *arguments], check=True,
                                 stdout=subprocess.PIPE, text=True).stdout
        return {line.strip().partition("  ")[0]: line.split()[-2:] for line in printed.splitlines()}

    def test_commands_and_tests_are_summed_by_area(self):
        rows = self.rows(self.build)
        self.assertEqual(rows["compile src/core"], ["2.5", "2"])
        self.assertEqual(rows["compile src/ops, CUDA"], ["0.5", "1"])
        self.assertEqual(rows["link"], ["0.2", "1"])  # one command, though it has two outputs
        self.assertEqual(rows["core"], ["3.0", "2"])
        self.assertEqual(rows["cli"], ["0.1", "1"])

    def test_what_was_built_before_the_phases_does_not_count(self):
        rows = self.rows(self.phases)
        self.assertEqual(rows["compile src/core"], ["1.5", "1"])

    def test_a_phase_that_comes_twice_is_one_row(self):
        self.assertEqual(self.rows(self.phases)["install"][-1], "1.5")
        self.assertEqual(self.rows(self.phases)["cpu: build"][-1], "2.0")

    def test_the_slowest_are_named(self):
        slowest = [name for name in self.rows(self.build, "--slowest", "1") if name.endswith(("core.A.b", "new.cpp.o"))]
        self.assertEqual(len(slowest), 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
