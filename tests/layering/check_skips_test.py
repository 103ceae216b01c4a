"""A skip that nobody expected fails the run. usage: check_skips_test.py TOOLS_DIR"""

import os
import subprocess
import sys
import tempfile
import unittest

TOOLS_DIR = sys.argv[1]
sys.path.insert(0, TOOLS_DIR)
import check_skips  # noqa: E402

HOLDS = {"needs-x": lambda preset: True, "needs-y": lambda preset: False}


def expect(*lines):
    return [check_skips.Expected(*line.split()) for line in lines]


class ComplaintsTest(unittest.TestCase):
    def setUp(self):
        reasons = check_skips.REASONS
        self.addCleanup(setattr, check_skips, "REASONS", reasons)
        check_skips.REASONS = HOLDS

    def complaints(self, results, lines, partial=False, preset="cpu"):
        return list(check_skips.complaints(results, expect(*lines), preset, partial))

    def test_an_expected_skip_whose_reason_holds_is_fine(self):
        self.assertEqual(self.complaints({"a.b": "skipped", "a.c": "passed"}, ["needs-x a.b"]), [])

    def test_an_unlisted_skip_is_wrong(self):
        self.assertIn("not in the list", self.complaints({"a.b": "skipped"}, [])[0])

    def test_a_skip_whose_reason_does_not_hold_is_wrong(self):
        self.assertIn("does not hold", self.complaints({"a.b": "skipped"}, ["needs-y a.*"])[0])

    def test_a_test_that_ran_against_the_list_is_wrong(self):
        self.assertIn("should have been skipped", self.complaints({"a.b": "passed"}, ["needs-x a.b"])[0])

    def test_a_failure_is_not_a_stale_line(self):
        self.assertEqual(self.complaints({"a.b": "failed"}, ["needs-x a.b"]), [])

    def test_a_line_without_a_test_is_wrong_in_a_whole_run_only(self):
        self.assertIn("names no test", self.complaints({"a.b": "passed"}, ["needs-y gone"])[0])
        self.assertEqual(self.complaints({"a.b": "passed"}, ["needs-y gone"], partial=True), [])

    def test_a_line_of_gpu_tests_must_name_one_in_cuda_builds_only(self):
        lines = ["needs-gpu gone"]
        self.assertEqual(self.complaints({"a.b": "passed"}, lines, preset="cpu"), [])
        self.assertIn("names no test", self.complaints({"a.b": "passed"}, lines, preset="cuda")[0])


class ProgramTest(unittest.TestCase):
    XML = """<testsuite><testcase name="a" status="run"/>
      <testcase name="b" status="fail"><failure message="Failed"/></testcase>
      <testcase name="c" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/></testcase>
      <testcase name="d" status="notrun"><skipped message="Unable to find executable"/></testcase>
      <testcase name="e" status="disabled"><skipped message="Disabled"/></testcase></testsuite>"""

    def run_on(self, xml, expected):
        with tempfile.TemporaryDirectory() as folder:
            paths = os.path.join(folder, "tests.xml"), os.path.join(folder, "expected.txt")
            for path, text in zip(paths, (xml, expected)):
                if text is not None:
                    with open(path, "w", encoding="utf-8") as file:
                        file.write(text)
            program = os.path.join(TOOLS_DIR, "check_skips.py")
            return subprocess.run([sys.executable, program, *paths, "--preset", "cpu"], check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def test_a_missing_program_counts_as_failed(self):
        result = self.run_on(self.XML, "")
        self.assertEqual(result.stdout.splitlines()[-1], "1 passed, 2 failed, 2 skipped")
        self.assertEqual(result.returncode, 1)

    def test_all_passed(self):
        result = self.run_on('<testsuite><testcase name="a" status="run"/></testsuite>', "# nothing\n")
        self.assertEqual((result.stdout, result.returncode), ("1 passed, 0 failed, 0 skipped\n", 0))

    def test_no_results_and_no_tests_are_failures(self):
        self.assertEqual(self.run_on(None, "").returncode, 1)
        self.assertEqual(self.run_on("<testsuite/>", "").returncode, 1)

    def test_an_unknown_reason_is_refused(self):
        result = self.run_on('<testsuite><testcase name="a" status="run"/></testsuite>', "because a\n")
        self.assertIn("expected «REASON PATTERN»", result.stdout)
        self.assertEqual(result.returncode, 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
