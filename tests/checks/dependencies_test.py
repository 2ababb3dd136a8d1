"""Checks that a missing library stops the configure step with the command that brings it.

usage: dependencies_test.py ROOT
"""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(sys.argv.pop(1)).resolve()
CMAKE_FILES = sorted([*ROOT.glob("cmake/*.cmake"), *ROOT.glob("*/CMakeLists.txt")])
REQUIRE = re.compile(r'^\s*hyperopt_require\((\S+)\s+("[^"]*"|[^\s)]+)', re.MULTILINE)


def required():
    """{CMake package: [Debian packages]} of every hyperopt_require."""
    return {package: debian.strip('"').split() for file in CMAKE_FILES
            for package, debian in REQUIRE.findall(file.read_text(encoding="utf-8"))}


class DependenciesTest(unittest.TestCase):
    def configure(self, folder, *options):
        return subprocess.run(
            ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DHYPEROPT_TRAINER=OFF",
             *options], capture_output=True, text=True, check=False)

    def test_setup_installs_what_cmake_asks_for(self):
        setup = (ROOT / "setup.sh").read_text(encoding="utf-8")
        lists = re.findall(r'packages="([^"]*)"', setup)
        installed = " ".join(lists).split()
        self.assertIn("fmt", required())
        for package, debian in required().items():
            for name in debian:
                self.assertIn(name, installed, f"{package} needs {name}")

    def test_each_missing_library_is_named_with_its_command(self):
        with tempfile.TemporaryDirectory(prefix="dependencies ") as folder:
            for package in ("fmt", "cppzmq", "SQLite3", "rapidcheck"):
                result = self.configure(folder, *(
                    f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}={'ON' if name == package else 'OFF'}"
                    for name in required()))
                self.assertNotEqual(result.returncode, 0, package)
                self.assertIn(f"{package} was not found", result.stderr)
                command = f"apt-get install -y {' '.join(required()[package])}\n"
                self.assertIn(command, result.stderr)


if __name__ == "__main__":
    unittest.main()
