"""Runs setup.sh in an empty folder, against stand-ins for apt-get, dpkg-query and pip.

usage: setup_test.py ROOT
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(sys.argv.pop(1)).resolve()

DPKG_QUERY = """#!/bin/sh
for last; do :; done
grep -qx "$last" "$STANDIN/missing" || printf installed
"""
# Notes the command and, as the real one does, installs what it is told to.
APT_GET = """#!/bin/sh
echo "apt-get $*" >>"$STANDIN/log"
case "$*" in *install*) : >"$STANDIN/missing" ;; esac
"""
SUDO = """#!/bin/sh
echo "sudo" >>"$STANDIN/log"
exec "$@"
"""
# pip install ... --target DIR ...: writes a LibTorch, or half of one and fails.
PYTHON = """#!/bin/sh
[ "$4" = "" ] && exit 0
echo "pip $*" >>"$STANDIN/log"
while [ "$1" != --target ]; do shift; done
mkdir -p "$2/torch/lib" "$2/torch/include/torch/csrc/api/include/torch"
: >"$2/torch/lib/libtorch_cpu.so"
[ ! -e "$STANDIN/break" ] || exit 1
: >"$2/torch/lib/libc10.so"
: >"$2/torch/include/torch/csrc/api/include/torch/torch.h"
"""
CMAKE = """#!/bin/sh
echo "cmake $*" >>"$STANDIN/log"
"""


class SetupTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="setup ")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.libtorch = self.folder / "home" / ".cache" / "hyperopt" / "libtorch"
        (self.folder / "home").mkdir()
        self.log = self.folder / "log"
        self.log.touch()
        self.missing()
        shutil.copy(ROOT / "setup.sh", self.folder)
        for name, text in {"dpkg-query": DPKG_QUERY, "apt-get": APT_GET, "sudo": SUDO,
                           "python": PYTHON, "cmake": CMAKE,
                           "id": "#!/bin/sh\necho ${UID_SHOWN:-0}\n"}.items():
            stand_in = self.folder / "bin" / name
            stand_in.parent.mkdir(exist_ok=True)
            stand_in.write_text(text)
            stand_in.chmod(0o755)

    def missing(self, *packages):
        (self.folder / "missing").write_text("".join(f"{p}\n" for p in packages))

    def run_setup(self, *options, **environment):
        self.log.write_text("")
        kept = {k: v for k, v in os.environ.items()
                if not k.startswith(("HYPEROPT_", "CMAKE_"))}
        return subprocess.run(
            [self.folder / "setup.sh", *options], text=True, capture_output=True,
            stdin=subprocess.DEVNULL,
            env={**kept, "PATH": f"{self.folder}/bin:/usr/bin:/bin",
                 "PYTHON": f"{self.folder}/bin/python", "STANDIN": str(self.folder),
                 "HOME": f"{self.folder}/home", **environment})

    def assert_ok(self, result):
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_all_there_installs_nothing(self):
        self.assert_ok(self.run_setup("--no-trainer", "--jobs", "3"))
        log = self.log.read_text()
        self.assertNotIn("apt-get", log)
        self.assertNotIn("pip", log)
        self.assertIn("-DHYPEROPT_TRAINER=OFF", log)
        self.assertIn("cmake --build build --parallel 3", log)

    def test_installs_only_what_is_missing_and_once(self):
        self.missing("libfmt-dev", "cmake")
        self.assert_ok(self.run_setup("--no-trainer", "--deps-only"))
        installed = [line for line in self.log.read_text().splitlines() if " install " in line]
        self.assertEqual(len(installed), 1)
        self.assertTrue(installed[0].endswith("--no-install-recommends cmake libfmt-dev"))
        self.assert_ok(self.run_setup("--no-trainer", "--deps-only"))
        self.assertEqual(self.log.read_text(), "")

    def test_sudo_only_where_it_is_needed(self):
        self.assert_ok(self.run_setup("--no-trainer", "--deps-only", UID_SHOWN="1000"))
        self.assertEqual(self.log.read_text(), "")
        self.missing("cmake")
        self.assert_ok(self.run_setup("--no-trainer", "--deps-only", UID_SHOWN="1000"))
        self.assertTrue(self.log.read_text().startswith("sudo\napt-get"))

    def test_user_names_what_is_missing(self):
        self.missing("libfmt-dev", "cmake")
        result = self.run_setup("--user", "--no-trainer", UID_SHOWN="1000")
        self.assertEqual(result.returncode, 1)
        self.assertIn("apt-get install -y --no-install-recommends cmake libfmt-dev\n",
                      result.stderr)
        self.assertEqual(self.log.read_text(), "")
        self.missing()
        self.assert_ok(self.run_setup("--user", "--no-trainer", UID_SHOWN="1000"))
        self.assertIn("cmake --build", self.log.read_text())

    def test_libtorch_is_fetched_once(self):
        self.assert_ok(self.run_setup("--user"))
        log = self.log.read_text()
        self.assertEqual(log.count("pip -m pip install"), 1)
        self.assertIn("--no-deps", log)
        self.assertIn(f"-DHYPEROPT_LIBTORCH={self.libtorch}", log)
        self.assert_ok(self.run_setup("--user"))
        self.assertNotIn("pip", self.log.read_text())

    def test_an_interrupted_fetch_is_done_again(self):
        (self.folder / "break").touch()
        result = self.run_setup("--user", "--deps-only")
        self.assertEqual(result.returncode, 1)
        self.assertIn("run ./setup.sh again", result.stderr)
        self.assertFalse(self.libtorch.exists())
        (self.folder / "break").unlink()
        self.assert_ok(self.run_setup("--user", "--deps-only"))
        self.assertTrue((self.libtorch / "torch/lib/libc10.so").exists())
        self.assertFalse(Path(f"{self.libtorch}.part").exists())

    def test_another_version_is_replaced(self):
        self.assert_ok(self.run_setup("--user", "--deps-only"))
        (self.libtorch / ".hyperopt-libtorch").write_text("torch==1.0.0\n")
        self.assert_ok(self.run_setup("--user", "--deps-only"))
        self.assertIn("pip", self.log.read_text())

    def test_a_copy_of_ones_own_is_used_as_it_is(self):
        self.assert_ok(self.run_setup("--user", "--deps-only"))
        (self.libtorch / ".hyperopt-libtorch").unlink()
        own = self.folder / "own copy"
        self.libtorch.rename(own)
        before = sorted(own.rglob("*"))
        self.assert_ok(self.run_setup("--user", HYPEROPT_LIBTORCH=str(own)))
        self.assertNotIn("pip", self.log.read_text())
        self.assertIn(f"-DHYPEROPT_LIBTORCH={own}", self.log.read_text())
        self.assertEqual(sorted(own.rglob("*")), before)

    def test_no_folder_of_others_is_removed(self):
        other = self.folder / "thesis"
        other.mkdir()
        (other / "chapter").touch()
        result = self.run_setup("--user", "--deps-only", HYPEROPT_LIBTORCH=str(other))
        self.assertEqual(result.returncode, 1)
        self.assertTrue((other / "chapter").exists())

    def test_gpu_takes_the_full_wheel(self):
        self.assert_ok(self.run_setup("--user", "--gpu"))
        log = self.log.read_text()
        self.assertNotIn("--no-deps", log)
        self.assertIn("-DHYPEROPT_CUDA=ON", log)
        self.assertIn(f"-DHYPEROPT_LIBTORCH={self.libtorch}-gpu", log)

    def test_usage(self):
        for options in (["--nonsense"], ["--jobs"], ["--jobs", "many"],
                        ["--deps-only", "--build-only"], ["--gpu", "--no-trainer"]):
            self.assertEqual(self.run_setup(*options).returncode, 2, options)
            self.assertEqual(self.log.read_text(), "")
        self.assertIn("--no-trainer", self.run_setup("--help").stdout)


if __name__ == "__main__":
    unittest.main()
