#!/usr/bin/env python3
"""Runs the examples whose programs come from PyPI, in a virtual environment made for them.

  pypi_test.py BUILD_DIR [unittest's words]

The environment is kept in BUILD_DIR. Exits with 77 (skipped) where pip can not install.
"""

import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import pypi

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGES = ["numpy", "scipy", "scikit-learn", "xgboost-cpu", "hydra-core"]
LIMIT_S = 300  # against hanging for ever; a pip that takes longer counts as one that can not install
CHECK = "import numpy, scipy, sklearn, xgboost, hydra"


class PypiTest(unittest.TestCase):
    build = bin = ""

    def setUp(self):
        self.base = tempfile.mkdtemp(prefix="hyperopt pypi ")
        self.addCleanup(shutil.rmtree, self.base, ignore_errors=True)
        shutil.copytree(os.path.join(REPOSITORY, "examples"), os.path.join(self.base, "examples"))

    def hyperopt(self, *words):
        env = dict(os.environ, PATH=f"{self.bin}:{os.environ['PATH']}")
        result = subprocess.run([os.path.join(self.build, "hyperopt"), *words], cwd=self.base, text=True, env=env,
                                stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S, check=False)
        self.assertEqual(result.returncode, 0, f"{words}\n{result.stdout}\n{result.stderr}")
        return result.stdout

    def search(self, name, *changes):
        words = ["--config", os.path.join("examples", name, "search.yaml"), "--cpus", "2"]
        for change in changes:
            words += ["--set", change]
        said = self.hyperopt(*words)
        sweep = os.path.join(self.base, "results", name)
        self.hyperopt("verify", sweep)
        trials = json.loads(self.hyperopt("export", sweep, "--format", "json"))["trials"]
        states = {trial["state"] for trial in trials}
        self.assertLessEqual(states, {"completed", "stopped"}, said)
        self.assertIn("completed", states)
        return trials

    def test_xgboost(self):
        trials = self.search("xgboost", "hyperopt.executor.num_samples=6", "hyperopt.executor.scheduler.max_t=12")
        for trial in trials:
            self.assertEqual([report["step"] for report in trial["reports"]], list(range(len(trial["reports"]))))
            self.assertTrue(all("train_loss" in report for report in trial["reports"]))
        longest = max(trials, key=lambda trial: len(trial["reports"]))
        self.assertGreaterEqual(len(longest["reports"]), 12)
        self.assertLess(longest["best"], math.log(10))  # better than a guess among ten

    def test_scikit_learn(self):
        trials = self.search("scikit-learn", "hyperopt.executor.num_samples=6")
        for trial in trials:
            epochs = [report["epoch"] for report in trial["reports"]]
            self.assertEqual(epochs, list(range(1, len(epochs) + 1)))
        self.assertGreater(max(trial["best"] for trial in trials), 0.8)

    def test_hydra(self):
        trials = self.search("hydra", "hyperopt.executor.num_samples=10")
        notes = set()
        for trial in trials:
            folder = os.path.join(self.base, "results", "hydra", "trials", str(trial["id"]), "0", "1")
            with open(os.path.join(folder, "stdout.log")) as file:
                config = json.loads(file.readline())
            params = trial["params"]
            # What Hydra understood is what was proposed, with its types.
            seen = {"optimizer_group": config["optimizer"]["name"], "optimizer.lr": config["optimizer"]["lr"],
                    "model.dropout": config["model"]["dropout"], "model.layers": config["model"]["layers"],
                    "seed": config["seed"], "note": config["note"]}
            self.assertEqual(seen, params)
            notes.add(params["note"])
            self.assertTrue(os.path.isdir(os.path.join(folder, "hydra", ".hydra")))
        self.assertGreater(len(notes), 3)


if __name__ == "__main__":
    PypiTest.build = os.path.abspath(sys.argv.pop(1))
    PypiTest.bin = pypi.environment(PypiTest.build, "pypi-venv", CHECK, PACKAGES, LIMIT_S)
    if PypiTest.bin is None:
        sys.exit(pypi.SKIPPED)
    unittest.main()
