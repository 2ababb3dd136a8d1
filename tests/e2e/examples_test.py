#!/usr/bin/env python3
"""Runs each example's search, shortened, as a newcomer would, and looks at what it left.

  examples_test.py BUILD_DIR [unittest's words]

Works on a copy of examples/ in a folder with a blank in its name. digits runs where BUILD_DIR has
hyperopt-train.
"""

import collections
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from sweep import Sweep, kill, wait_until

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = ""
LIMIT_S = 600  # against hanging for ever; nothing is judged by it


def value_of(trial, which):
    """The export's number, where it is one: NaN and infinities are texts."""
    return float(trial[which]) if trial[which] is not None else math.nan


class ExamplesTest(unittest.TestCase):
    def setUp(self):
        self.base = tempfile.mkdtemp(prefix="hyperopt examples ")
        self.addCleanup(shutil.rmtree, self.base, ignore_errors=True)
        self.examples = os.path.join(self.base, "examples")
        shutil.copytree(os.path.join(REPOSITORY, "examples"), self.examples)

    def hyperopt(self, *words):
        result = subprocess.run([os.path.join(BUILD, "hyperopt"), *words], cwd=self.base, text=True,
                                stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S, check=False)
        self.assertEqual(result.returncode, 0, f"{words}\n{result.stdout}\n{result.stderr}")
        return result.stdout

    def export(self, sweep):
        return json.loads(self.hyperopt("export", sweep, "--format", "json"))["trials"]

    def search(self, name, *changes, planned, sweep=None):
        """Runs the example; returns its trials and best.json."""
        words = ["--config", os.path.join("examples", name, "search.yaml"), "--cpus", "2"]
        for change in changes:
            words += ["--set", change]
        output = self.hyperopt(*words)
        sweep = os.path.join(self.base, "results", sweep or name)
        trials = self.export(sweep)
        self.assertEqual(len(trials), planned, output)
        self.hyperopt("verify", sweep)
        # The same line again: it is finished, and nothing runs a second time.
        self.hyperopt(*words)
        self.assertEqual(self.export(sweep), trials)
        with open(os.path.join(sweep, "best.json")) as file:
            best = json.load(file)
        self.assertEqual(best["params"], trials[best["trial"]]["params"])
        return trials, best

    def expect_states(self, trials, *allowed):
        counts = collections.Counter(trial["state"] for trial in trials)
        self.assertLessEqual(set(counts), set(allowed), counts)
        self.assertGreater(counts["completed"], 0, counts)
        return counts

    def expect_best(self, trials, best, choose, which="best"):
        values = [value_of(trial, which) for trial in trials if trial["state"] != "failed"]
        expected = choose(value for value in values if math.isfinite(value))
        self.assertEqual(best["value"], expected)
        self.assertEqual(value_of(trials[best["trial"]], which), expected)

    def test_python(self):
        trials, best = self.search("python", "hyperopt.executor.num_samples=8", planned=8)
        self.expect_states(trials, "completed", "stopped")
        self.expect_best(trials, best, min)
        self.assertEqual(trials[0]["params"], {"activation": "tanh", "batch_size": 16, "hidden": 8,
                                               "learning_rate": 0.1, "momentum": 0.0})
        reports = trials[best["trial"]]["reports"]
        self.assertEqual([report["step"] for report in reports], list(range(1, len(reports) + 1)))
        self.assertGreater(max(report["accuracy"] for report in reports), 0.9)
        # What best.json calls the checkpoint is whole, and of the step that it says.
        self.assertTrue(os.path.exists(os.path.join(best["checkpoint"], "COMPLETE")))
        with open(os.path.join(best["checkpoint"], "state.json")) as file:
            self.assertEqual(json.load(file)["epoch"], best["checkpoint_step"])

    def test_python_script_goes_on_after_sigterm(self):
        script = os.path.join(self.examples, "python", "train.py")
        checkpoints = os.path.join(self.base, "checkpoints")

        def start(report, **more):
            path = os.path.join(self.base, report)
            env = dict(os.environ, HYPEROPT_SEED="5", HYPEROPT_REPORT=path, **more)
            words = [sys.executable, script, "--epochs", "40", "--hidden", "4"]
            return subprocess.Popen(words, env=env), path

        def lines(path):
            with open(path) as file:
                return file.read().splitlines()
        undisturbed, expected = start("undisturbed.jsonl")
        self.assertEqual(undisturbed.wait(LIMIT_S), 0)
        first, path = start("report.jsonl", HYPEROPT_CHECKPOINT_DIR=checkpoints)
        wait_until(lambda: os.path.exists(path) and lines(path), "a report")
        first.send_signal(signal.SIGTERM)
        self.assertEqual(first.wait(LIMIT_S), 0)
        newest = max(os.listdir(checkpoints), key=int)
        self.assertEqual(json.loads(lines(path)[-1])["step"], int(newest))
        second, path = start("report.jsonl", HYPEROPT_CHECKPOINT_DIR=checkpoints,
                             HYPEROPT_RESUME_FROM=os.path.join(checkpoints, newest))
        self.assertEqual(second.wait(LIMIT_S), 0)
        self.assertEqual(lines(path), lines(expected))

    def test_checkpoints(self):
        trials, best = self.search("checkpoints", "hyperopt.executor.num_samples=9", planned=9)
        self.expect_states(trials, "completed")
        self.expect_best(trials, best, min)
        self.assertEqual(max(trial["steps"] for trial in trials), 27)
        for trial in trials:  # what was trained is not trained again
            self.assertEqual([report["step"] for report in trial["reports"]], list(range(1, trial["steps"] + 1)))

    def test_population(self):
        words = ["--config", os.path.join("examples", "checkpoints", "pbt.yaml"), "--cpus", "2"]
        self.hyperopt(*words)
        sweep = os.path.join(self.base, "results", "population")
        trials = self.export(sweep)
        self.assertEqual(self.expect_states(trials, "completed", "stopped")["completed"], 8)
        self.assertGreater(len(trials), 8)
        self.hyperopt("verify", sweep)

    def test_shell(self):
        trials, best = self.search("shell", "hyperopt.executor.num_samples=2", planned=8)
        self.expect_states(trials, "completed")
        self.expect_best(trials, best, min)
        finders = collections.Counter(trial["params"]["match_finder"] for trial in trials)
        self.assertEqual(finders, {"hc4": 2, "bt2": 2, "bt3": 2, "bt4": 2})
        table = os.path.getsize(os.path.join(self.examples, "digits", "digits.csv"))
        for trial in trials:
            self.assertEqual(len(trial["reports"]), 1)
            self.assertLess(0, value_of(trial, "best"))
            self.assertLess(value_of(trial, "best"), table)

    def test_hooks(self):
        trials, best = self.search("hooks", planned=8)
        self.expect_states(trials, "completed")
        self.expect_best(trials, best, min)
        with open(os.path.join(self.base, "results", "hooks", "hooks.log")) as file:
            log = file.read()
        self.assertIn(f"loss {best['value']}", log)
        self.assertIn("hyperopt hooks: finished, loss", log)

    def test_shared_machine(self):
        trials, best = self.search("shared-machine", planned=4)
        self.expect_states(trials, "completed")
        self.expect_best(trials, best, min)
        said = self.hyperopt("logs", os.path.join(self.base, "results", "shared-machine"), "2")
        self.assertIn(f"lab-cache-{os.geteuid()}", said)
        self.assertIn(f"niceness  {min(os.nice(0) + 10, 19)}", said)
        self.assertIn("run       shared-machine-2", said)

    def test_torchrun_style(self):
        trials, best = self.search("torchrun-style", "hyperopt.executor.num_samples=4", planned=4)
        self.expect_states(trials, "completed", "stopped")
        self.expect_best(trials, best, min)
        # Two ranks find what one finds: the gradients were summed, and each row was counted once.
        report = os.path.join(self.base, "alone.jsonl")
        words = [f"--{name}={value!r}" for name, value in best["params"].items()]
        subprocess.run([sys.executable, os.path.join(self.examples, "torchrun-style", "train.py"), *words],
                       env=dict(os.environ, HYPEROPT_REPORT=report), check=True, timeout=LIMIT_S)
        with open(report) as file:
            alone = [json.loads(line) for line in file]
        together = trials[best["trial"]]["reports"]
        self.assertGreater(len(together), 0)
        for one, two in zip(alone, together):
            self.assertEqual((two["step"], two["rows"]), (one["step"], 36))
            self.assertAlmostEqual(two["loss"], one["loss"], delta=1e-9 * max(1, one["loss"]))

    def test_output_regex(self):
        trials, best = self.search("output-regex", "hyperopt.executor.num_samples=6", planned=6)
        self.expect_states(trials, "completed")
        self.expect_best(trials, best, min, "last")
        params = best["params"]
        printed = subprocess.run([sys.executable, os.path.join(self.examples, "output-regex", "fit.py"),
                                  repr(params["rate"]), str(params["degree"])],
                                 capture_output=True, text=True, check=True, timeout=LIMIT_S).stdout
        self.assertEqual(printed.splitlines()[-1], f"epoch 200 loss {best['value']:.6g}")
        self.assertEqual(trials[best["trial"]]["steps"], 200)

    def test_argparse(self):
        trials, best = self.search("argparse", "hyperopt.executor.num_samples=6", planned=6)
        self.expect_states(trials, "completed", "stopped")
        self.expect_best(trials, best, min)
        self.assertLess(best["value"], 1)
        self.assertEqual({trial["params"]["shuffle"] for trial in trials}, {True, False})

    def test_rows_of_a_table(self):
        trials, best = self.search("argparse", "name=rows", "hyperopt.search_alg={type: list, file: runs.csv}",
                                   "hyperopt.executor.num_samples=3", planned=3, sweep="rows")
        self.assertEqual([trial["params"] for trial in trials], [
            {"learning_rate": 0.001, "momentum": 0.0, "start": 0.0, "optimizer": "plain", "shuffle": True},
            {"learning_rate": 0.01, "momentum": 0.5, "start": -0.0005, "optimizer": "nesterov", "shuffle": False},
            {"learning_rate": 0.1, "momentum": 0.9, "start": 0.0, "optimizer": "nesterov", "shuffle": True}])
        self.expect_best(trials, best, min)

    def test_digits(self):
        if not os.path.exists(os.path.join(BUILD, "hyperopt-train")):
            self.skipTest("built without the trainer")
        trials, best = self.search("digits", "hyperopt.executor.num_samples=3", "trainer.epochs=3",
                                   "hyperopt.executor.scheduler.max_t=3", planned=3)
        self.expect_states(trials, "completed", "stopped")
        self.expect_best(trials, best, max)
        self.assertGreater(best["value"], 0.5)  # of ten classes
        self.assertTrue(os.path.exists(os.path.join(best["checkpoint"], "COMPLETE")))

    def test_digits_killed_halfway(self):
        """Every process at once; the same line goes on, the open trial from its checkpoint."""
        if not os.path.exists(os.path.join(BUILD, "hyperopt-train")):
            self.skipTest("built without the trainer")
        sweep = Sweep.__new__(Sweep)  # another search file than Sweep's
        sweep.dir = os.path.join(self.base, "results", "digits")
        words = ["--config", os.path.join("examples", "digits", "search.yaml"), "--output", sweep.dir, "--cpus", "2",
                 "--set", "hyperopt.executor.num_samples=2", "--set", "trainer.epochs=8",
                 "--set", "hyperopt.executor.scheduler.max_t=8"]
        process = subprocess.Popen([os.path.join(BUILD, "hyperopt"), *words], cwd=self.base,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.kill)

        def trained():
            self.assertIsNone(process.poll(), "over before it was struck")
            return os.path.exists(os.path.join(sweep.dir, "sweep.db")) and \
                (sweep.query("select max(step) from report")[0][0] or 0) > 2
        wait_until(trained, "three epochs")
        for pid in {process.pid, *sweep.own_processes(), *sweep.rank_pids()}:
            kill(pid)
        process.wait()
        wait_until(lambda: not sweep.own_processes() and not sweep.rank_pids(), "no process left")
        struck = sweep.query("select trial, count(*) from run where ended is null or ended = 0 group by trial")
        self.assertEqual(len(struck), 1, struck)
        trial = struck[0][0]

        self.hyperopt(*words)
        self.expect_states(self.export(sweep.dir), "completed", "stopped")
        spans = sweep.query("select attempt, min(step), max(step), count(distinct step) from report "
                            f"where trial = {trial} group by attempt order by attempt")
        self.assertEqual([attempt for attempt, *_ in spans], [1, 2])
        (_, first, last, _), (_, again, end, _) = spans
        self.assertEqual(first, 1)
        self.assertTrue(1 < again <= last + 1, spans)
        self.assertEqual(sweep.query(f"select count(distinct step) from report where trial = {trial}"), [(end,)])
        # Two ranks: the second one has a log of its own.
        self.assertTrue(os.path.exists(os.path.join(sweep.dir, "trials", str(trial), "0", "2", "stdout.1.log")))
        self.hyperopt("verify", sweep.dir)
        with open(os.path.join(sweep.dir, "best.json")) as file:
            best = json.load(file)
        self.assertTrue(os.path.exists(os.path.join(best["checkpoint"], "COMPLETE")))


if __name__ == "__main__":
    BUILD = os.path.abspath(sys.argv.pop(1))
    unittest.main()
