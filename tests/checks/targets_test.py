"""Plants test files in and out of targets and checks what targets.py says of them."""

import json
import tempfile
import unittest
from pathlib import Path

import targets


class TargetsTest(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory(prefix="targets ")
        self.addCleanup(self._folder.cleanup)
        self.source = Path(self._folder.name) / "source"
        self.build = self.source / "build-x"
        self.build.mkdir(parents=True)
        self.commands = []
        self.write("build-x/CTestTestfile.cmake", "")
        self.write("build-x/CMakeCache.txt", "\nHYPEROPT_TRAINER:BOOL=OFF\n")

    def write(self, name, text=""):
        path = self.source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def compile(self, name):
        self.commands.append({"directory": str(self.build), "file": f"../{name}"})

    def faults(self):
        self.write("build-x/compile_commands.json", json.dumps(self.commands))
        return list(targets.faults(self.source, self.build))

    def test_a_source_in_no_target(self):
        self.write("trial/a_test.cc")
        self.write("trial/b_test.cc")
        self.compile("trial/a_test.cc")
        self.assertEqual([f.split(":")[0] for f in self.faults()], ["trial/b_test.cc"])

    def test_a_script_in_no_test(self):
        self.write("tests/x/a_test.py")
        self.write("tests/x/b_test.sh")
        text = f'add_test(b "{self.source}/tests/x/b_test.sh")'
        self.write("build-x/tests/CTestTestfile.cmake", text)
        self.assertEqual([f.split(":")[0] for f in self.faults()], ["tests/x/a_test.py"])

    def test_the_trainer_counts_only_where_it_is_built(self):
        self.write("trainer/a_test.cc")
        self.assertEqual(self.faults(), [])
        self.write("build-x/CMakeCache.txt", "\nHYPEROPT_TRAINER:BOOL=ON\n")
        self.assertEqual(len(self.faults()), 1)


if __name__ == "__main__":
    unittest.main()
