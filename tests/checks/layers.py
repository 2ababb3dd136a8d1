"""Checks the direction of includes between the folders, and who knows which library.

usage: layers.py ROOT

       tests/ examples/                 may use everything
       search/                          uses the three
       samplers/  executors/  trainer/  none knows another; trainer belongs to hyperopt-train
       trial/                           uses nobody
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple, Optional

import tree

# The other folders that a folder may include. A folder that is not named is free.
MAY_INCLUDE = {
    "trial": set(),
    "samplers": {"trial"},
    "executors": {"trial"},
    "trainer": {"trial"},
    "search": {"trial", "samplers", "executors"},
}
FREE = {"tests", "examples"}

# Which files may include a library's headers: (header, file, in words).
LIBRARIES = [
    (r"(torch|c10|ATen|caffe2|gloo)/|nccl\.h$|cuda", r"trainer/", "trainer"),
    (r"sqlite3\.h$", r"trial/.*(store|sqlite)[^/]*\.(h|cc)$", "the store of trial"),
    (r"httplib\.h$", r"search/(report/live/dashboard|commands/mlflow_client)\.cc$",
     "the dashboard's server and MLflow's client"),
    (r"zmq", r"executors/internal/", "the transport in executors/internal"),
    (r"yaml-cpp/", r"search/[^/]*(/[^/]*)?\.cc$", "one source file of search"),
    (r"Eigen/", r"(samplers|search)/.*\.(h|cc)$", "samplers and search"),
    (r"nlopt\.h$", r"samplers/internal/.*\.cc$", "one source file of samplers"),
    (r"CLI/", r"(search|trainer)/.*\.cc$|search/internal/cli_\w+\.h$", "the command line's sources"),
    (r"spdlog/", r"(executors|search|trainer)/.*\.cc$", "sources with a log"),
    (r"doctest/|rapidcheck", r".*_(test\.cc|fixture\.(h|cc))$", "tests"),
]
# Libraries that a public header may include all the same.
PUBLIC = re.compile(r"nlohmann/json_fwd\.hpp$|(torch|c10|ATen)/")
LIBRARY = re.compile("|".join(f"({header})" for header, _, _ in LIBRARIES) +
                     r"|fmt/|nlohmann/")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


class Include(NamedTuple):
    file: str
    line: int
    quoted: bool
    target: str


def includes(root: Path):
    for path in tree.files(root):
        if path.suffix not in (".h", ".cc"):
            continue
        text = (root / path).read_text(encoding="utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), 1):
            if match := INCLUDE.match(line):
                yield Include(path.as_posix(), number, match[1] == '"', match[2])


def fault_of_own(include: Include) -> Optional[str]:
    """What is wrong with a quoted include of one of our own headers."""
    source, _, _ = include.file.partition("/")
    target, slash, rest = include.target.partition("/")
    if not slash or (target not in MAY_INCLUDE and target not in FREE):
        return "own headers are included from the root, as \"folder/header.h\""
    if source == target:
        return None
    if include.file.endswith("_test.cc") and include.target.startswith("tests/support/"):
        return None
    if target not in MAY_INCLUDE[source]:
        allowed = ", ".join(sorted(MAY_INCLUDE[source])) or "no other folder"
        return f"{source} may include {allowed}, not {target}"
    if rest.startswith("internal/"):
        return f"{target}/internal is for {target} alone"
    return None


def fault_of_library(include: Include) -> Optional[str]:
    """What is wrong with an include of a third-party header."""
    for header, file, words in LIBRARIES:
        if re.match(header, include.target) and not re.match(file, include.file):
            return f"<{include.target}> is for {words}"
    is_public = include.file.endswith(".h") and "/internal/" not in include.file
    if is_public and LIBRARY.match(include.target) and not PUBLIC.match(include.target):
        return f"<{include.target}> stays out of public headers"
    return None


def faults(root: Path):
    yaml_readers = set()
    for include in includes(root):
        source = include.file.partition("/")[0]
        if source not in MAY_INCLUDE:
            continue
        fault = fault_of_own(include) if include.quoted else fault_of_library(include)
        if fault:
            yield f"{include.file}:{include.line}: {fault}"
        if include.target.startswith("yaml-cpp/"):
            yaml_readers.add(include.file)
    if len(yaml_readers) > 1:
        yield f"YAML is read in one place, not in {', '.join(sorted(yaml_readers))}"


def main() -> int:
    root = Path(sys.argv[1])
    found = list(faults(root))
    print("\n".join(found) or "every include points down")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
