"""Checks that every shell script and every Python file of the tree parses.

usage: scripts.py ROOT
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

import tree

SHEBANG = re.compile(rb"#!\s*(?:/usr/bin/env\s+|/bin/|/usr/bin/)(bash|sh)\b")


def shell_of(file: Path):
    with file.open("rb") as stream:
        match = SHEBANG.match(stream.readline(200))
    if match:
        return match[1].decode()
    return "sh" if file.suffix == ".sh" else None


def faults(root: Path):
    for path in tree.files(root):
        file = root / path
        if path.suffix == ".py":
            try:
                ast.parse(file.read_bytes(), filename=str(path))
            except SyntaxError as error:
                yield f"{path}:{error.lineno}: {error.msg}"
        elif shell := shell_of(file):
            result = subprocess.run([shell, "-n", str(file)], capture_output=True, text=True)
            if result.returncode != 0:
                yield f"{path}: {result.stderr.strip()}"


def main() -> int:
    found = list(faults(Path(sys.argv[1])))
    print("\n".join(found) or "every script parses")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
