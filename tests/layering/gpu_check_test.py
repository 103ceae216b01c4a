"""A check that does not pass is not shown as one that does. usage: gpu_check_test.py TOOLS_DIR"""

import os
import sys
import tempfile
import unittest

TOOLS_DIR = sys.argv[1]
sys.path.insert(0, TOOLS_DIR)
import gpu_check  # noqa: E402


def verdict(command, num_gpus=1, **members):
    return gpu_check.row_of({"name": "x", "command": command, **members}, "build", num_gpus).verdict


class GpuCheckTest(unittest.TestCase):
    def test_what_succeeds_has_passed(self):
        self.assertEqual(verdict("true"), "passed")
        self.assertEqual(verdict("echo '{{\"loss\": 1.5}}'", value="loss"), "passed")

    def test_an_exit_code_fails(self):
        self.assertEqual(verdict("echo why; exit 3"), "FAILED: exit code 3, why")

    def test_skipped_tests_are_no_pass(self):
        self.assertIn("skipped", verdict("echo '[  SKIPPED ] a.b (0 ms)'"))
        self.assertIn("skipped", verdict("echo '[  PASSED  ] 0 tests.'"))

    def test_a_missing_value_fails(self):
        self.assertIn("no loss", verdict("echo '{{}}'", value="loss"))

    def test_gpu_and_cpu_may_differ_by_the_tolerance(self):
        command = "test {device} = cpu && echo '{{\"loss\": 1.0}}' || echo '{{\"loss\": 1.01}}'"
        self.assertEqual(verdict(command, value="loss", tolerance=0.1), "passed")
        self.assertIn("1.01 on the GPU", verdict(command, value="loss", tolerance=0.001))

    def test_too_few_gpus_are_said(self):
        self.assertEqual(verdict("true", gpus=2), "not run: needs 2 GPUs, here are 1")

    def test_where_nothing_could_run_is_no_success(self):
        with tempfile.TemporaryDirectory() as folder:
            listed, out = os.path.join(folder, "list.toml"), os.path.join(folder, "out.md")
            with open(listed, "w", encoding="utf-8") as file:
                file.write('[[check]]\nname = "a"\ncommand = "true"\n')
            self.addCleanup(setattr, gpu_check, "gpus", gpu_check.gpus)
            gpu_check.gpus = list
            self.assertEqual(gpu_check.main(listed, "build", out), 1)
            gpu_check.gpus = lambda: ["NVIDIA X"]
            self.assertEqual(gpu_check.main(listed, "build", out), 0)
            with open(out, encoding="utf-8") as file:
                self.assertIn("# GPU check on NVIDIA X", file.read())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
