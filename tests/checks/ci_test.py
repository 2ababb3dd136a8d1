"""Runs .ci/run against stand-ins for what it calls: each failure must make it fail.

usage: ci_test.py ROOT
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(sys.argv.pop(1)).resolve()

# Fails where its call matches the pattern $BREAK.
STAND_IN = """#!/bin/bash
call="$(basename "$0") $*"
[[ "$call" != $BREAK ]]
"""


class CiTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ci ")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / ".ci").mkdir()
        (self.folder / "bin").mkdir()
        shutil.copy(ROOT / ".ci/run", self.folder / ".ci")
        for name in ("setup.sh", "bin/cmake", "bin/ctest", "bin/clang-format-14"):
            (self.folder / name).write_text(STAND_IN)
            (self.folder / name).chmod(0o755)
        (self.folder / "bin/git").write_text("#!/bin/sh\nprintf 'a b.cc\\0'\n")
        (self.folder / "bin/git").chmod(0o755)

    def run_ci(self, broken=""):
        return subprocess.run(
            ["bash", ".ci/run"], cwd=self.folder, text=True, capture_output=True,
            stdin=subprocess.DEVNULL, check=False,
            env={**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}",
                 "BREAK": broken})

    def test_all_well(self):
        result = self.run_ci()
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("CI: all 7 stages passed", result.stdout)

    def test_each_failure_fails(self):
        for broken, stages in {
                "setup.sh --deps-only*": "1 of 1", "setup.sh ": "1 of 2",
                "ctest *-j2": "1 of 7", "clang-format*": "1 of 7", "ctest *checks": "1 of 7",
                "cmake *self_contained_headers*": "1 of 7", "cmake --preset asan": "1 of 7",
                "cmake --build --preset asan*": "1 of 7", "ctest --preset asan*": "1 of 7",
                "ctest *": "3 of 7"}.items():
            result = self.run_ci(broken)
            self.assertEqual(result.returncode, 1, broken)
            self.assertIn(f"CI: {stages} stages FAILED", result.stdout, broken)


if __name__ == "__main__":
    unittest.main()
