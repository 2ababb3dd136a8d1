#!/usr/bin/env python3
"""Runs each example's search, shortened, as a newcomer would, and looks at what it left.

  examples_test.py BUILD_DIR

Works on a copy of examples/ in a folder with a blank in its name. digits runs where the build has
hyperopt-train.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = ""
LIMIT_S = 300  # against hanging for ever; nothing is judged by it


class Examples(unittest.TestCase):
    def setUp(self):
        self.base = tempfile.mkdtemp(prefix="hyperopt examples ")
        self.addCleanup(shutil.rmtree, self.base, ignore_errors=True)
        shutil.copytree(os.path.join(REPOSITORY, "examples"), os.path.join(self.base, "examples"))

    def hyperopt(self, *words):
        return subprocess.run([os.path.join(BUILD, "hyperopt"), *words], cwd=self.base, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S, check=False)

    def succeed(self, *words):
        result = self.hyperopt(*words)
        self.assertEqual(result.returncode, 0, f"{words}\n{result.stdout}\n{result.stderr}")
        return result.stdout

    def search(self, name, *changes):
        """Runs the example and returns its exported trials and best.json."""
        words = ["--config", os.path.join("examples", name, "search.yaml"), "--cpus", "2", "--gpus", "0"]
        for change in changes:
            words += ["--set", change]
        output = self.succeed(*words)
        sweep = os.path.join(self.base, "results", name)
        exported = json.loads(self.succeed("export", sweep, "--format", "json"))
        with open(os.path.join(sweep, "best.json")) as file:
            best = json.load(file)
        self.check_best(exported, best, output)
        self.succeed("verify", sweep)
        # The same line again: it is finished, and nothing runs twice.
        self.succeed(*words)
        self.assertEqual(json.loads(self.succeed("export", sweep, "--format", "json"))["trials"],
                         exported["trials"])
        return exported["trials"], best

    def check_best(self, exported, best, output):
        """The best is the best of all that count, by what the trials' own reports say."""
        choose = min if exported["sweep"]["goal"] == "minimize" else max
        values = [trial["best"] for trial in exported["trials"]
                  if trial["state"] in ("completed", "stopped") and not isinstance(trial["best"], str)]
        self.assertTrue(values, output)
        if best["step"] and exported["sweep"]["metric"] != "loss last":
            self.assertIn(best["value"], [v for v in values] + [t["last"] for t in exported["trials"]])
        self.assertLessEqual(0, best["trial"])
        self.assertEqual(best["params"], exported["trials"][best["trial"]]["params"])
        self.choose = choose

    def states(self, trials):
        counts = {}
        for trial in trials:
            counts[trial["state"]] = counts.get(trial["state"], 0) + 1
        return counts


if __name__ == "__main__":
    BUILD = os.path.abspath(sys.argv.pop(1))
    unittest.main()
