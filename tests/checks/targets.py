"""Checks that no test is left out: every *_test file of the tree is compiled or registered.

usage: targets.py SOURCE_DIR BUILD_DIR

Reads what CMake wrote: compile_commands.json names every compiled file, the files
CTestTestfile.cmake every test that ctest runs.
"""

import json
import sys
from pathlib import Path

import tree


def compiled_files(build: Path):
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    return {(Path(c["directory"]) / c["file"]).resolve() for c in commands}


def registered_text(build: Path):
    return "\n".join(path.read_text(encoding="utf-8")
                     for path in sorted(build.rglob("CTestTestfile.cmake")))


def has_trainer(build: Path):
    return "\nHYPEROPT_TRAINER:BOOL=ON\n" in (build / "CMakeCache.txt").read_text(
        encoding="utf-8")


def faults(source: Path, build: Path):
    compiled, registered = compiled_files(build), registered_text(build)
    for path in tree.files(source):
        if path.parts[0] == "trainer" and not has_trainer(build):
            continue
        file = (source / path).resolve()
        if path.name.endswith("_test.cc") and file not in compiled:
            yield f"{path}: in no target; name it in its folder's CMakeLists.txt"
        elif path.name.endswith(("_test.py", "_test.sh")) and str(path) not in registered:
            yield f"{path}: no add_test runs it"


def main() -> int:
    found = list(faults(Path(sys.argv[1]), Path(sys.argv[2])))
    print("\n".join(found) or "every test file belongs to a test")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
