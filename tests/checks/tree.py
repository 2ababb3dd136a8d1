"""The files of the project, without build folders and results."""

import os
import re
from pathlib import Path

_SKIPPED = re.compile(r"^(build.*|results|__pycache__|\.git|\.cache)$")


def files(root: Path):
    """Yields the path of every file below root, relative to it, in a fixed order."""
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(s for s in subfolders if not _SKIPPED.match(s))
        for name in sorted(names):
            yield (Path(folder) / name).relative_to(root)
