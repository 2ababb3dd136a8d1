"""A Python of the build folder with packages from PyPI, for the tests that run the real tools."""

import os
import shutil
import subprocess
import sys

SKIPPED = 77  # ctest's word for it


def environment(build, name, check, packages, limit_s):
    """The folder of the programs of the environment `name`, in which the statements of `check` hold; made where it
    is not there. None where pip can not install the packages or takes longer than `limit_s`, which is said."""
    folder = os.path.join(build, name)
    python = os.path.join(folder, "bin", "python3")
    words = [python, "-c", check]
    if os.path.exists(python) and subprocess.run(words, capture_output=True, check=False).returncode == 0:
        return os.path.dirname(python)
    shutil.rmtree(folder, ignore_errors=True)
    for words in ([sys.executable, "-m", "venv", folder], [python, "-m", "pip", "install", "-q", *packages]):
        try:
            made = subprocess.run(words, text=True, capture_output=True, timeout=limit_s, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            print(f"SKIPPED: {error}")
            return None
        if made.returncode != 0:
            print(f"SKIPPED: {' '.join(words)} failed:\n{made.stderr[-2000:]}")
            return None
    return os.path.dirname(python)
