#!/usr/bin/env python3
"""Each command against a real sweep: before, while and after it runs.

  commands_e2e_test.py BUILD_DIR [unittest's words]
"""

import csv
import io
import json
import os
import pty
import sqlite3
import subprocess
import sys

from scene import DONE, SceneTest, main
from sweep import wait_until

AT_THE_GATE = "mark started .; await go; " + DONE


class RunningTest(SceneTest):
    """Two of six trials run, at a gate."""

    def setUp(self):
        super().setUp()
        self.scene.search(AT_THE_GATE, num_samples=6)
        self.process = self.scene.start()
        self.scene.await_marks("started", 2)

    def finish_all(self):
        self.scene.open("go")
        self.scene.expect(self.process)
        self.completed()

    def test_status(self):
        scene = self.scene
        status = json.loads(scene.hyperopt("status", scene.dir, "--json"))
        self.assertEqual((status["state"], status["pid"], status["executors"]), ("running", self.process.pid, 1))
        self.assertEqual(status["counts"], {"planned": 6, "pending": 0, "running": 2, "paused": 0, "completed": 0,
                                            "stopped": 0, "failed": 0})
        self.assertIn("max_concurrent_trials is 2", status["waits"])
        text = scene.hyperopt("status", scene.dir)
        self.assertIn(f"running, pid {self.process.pid} on {os.uname().nodename}", text)
        self.assertIn("0 of 6 done", text)
        self.finish_all()
        self.assertIn("6 of 6 done: 6 completed", scene.hyperopt("status", scene.dir))
        status = json.loads(scene.hyperopt("status", scene.dir, "--json"))
        self.assertEqual((status["state"], status["pid"]), ("finished", None))

    def test_of_one_that_was_killed(self):
        scene = self.scene
        self.process.kill()
        self.process.wait()
        text = scene.hyperopt("status", scene.dir)
        self.assertIn("killed", text)
        self.assertIn("hyperopt resume", text)
        self.assertIn("no controller runs", scene.hyperopt("stop", scene.dir))
        self.assertIn("there is no sweep here", scene.hyperopt("stop", scene.folder, code=2))
        self.assertIn("no controller runs", scene.hyperopt("explain", scene.dir, "0"))
        self.process = scene.start()
        self.finish_all()

    def test_best_before_there_is_one(self):
        self.scene.hyperopt("best", self.scene.dir, code=1)
        self.finish_all()

    def test_stop_drain(self):
        scene = self.scene
        stop = scene.spawn("stop", scene.dir, "--drain")
        wait_until(lambda: "nothing new starts" in scene.said(), "the answer")
        self.assertEqual(json.loads(scene.hyperopt("status", scene.dir, "--json"))["state"], "stopping")
        scene.open("go")
        scene.expect(self.process, 130)
        scene.expect(stop)
        self.assertEqual(scene.states(), ["completed", "completed"])
        scene.run()
        self.completed()

    def test_record_is_readable_meanwhile(self):
        scene = self.scene
        self.assertEqual(len(scene.trials()), 2)
        scene.hyperopt("verify", scene.dir)
        scene.hyperopt("trials", scene.dir)
        self.finish_all()


class FinishedTest(SceneTest):
    def setUp(self):
        super().setUp()
        self.scene.search('[ $HYPEROPT_TRIAL != 2 ] || exit 3; report "{\\"step\\": 1, \\"loss\\": 9, \\"lr\\": 1}"; '
                          'report "{\\"step\\": 2, \\"loss\\": $HYPEROPT_PARAM_X}"', num_samples=5,
                          max_concurrent_trials=1,
                          parameters={"x": {"space": "choice", "categories": [0.5, 0.25, 1, 0.125, 3]},
                                      "c": {"space": "grid_search", "values": ["a,b", 'q"', 7, True, None]}})
        self.scene.run("--set", "hyperopt.executor.num_samples=1")

    def test_export(self):
        scene = self.scene
        trials = scene.trials()
        sweep = scene.export()["sweep"]
        self.assertEqual((sweep["state"], sweep["goal"], sweep["metric"], sweep["seed"]),
                         ("finished", "minimize", "loss", 7))
        self.assertEqual([t["params"]["c"] for t in trials], ["a,b", 'q"', 7, True, None])
        self.assertEqual([t["state"] for t in trials], ["completed", "completed", "failed", "completed", "completed"])
        for trial in trials:
            if trial["state"] == "completed":
                self.assertEqual((trial["best"], trial["best_step"], trial["steps"]), (trial["params"]["x"], 2, 2))
                self.assertEqual([(r["step"], r["loss"], r.get("lr")) for r in trial["reports"]],
                                 [(1, 9, 1), (2, trial["params"]["x"], None)])
                self.assertLessEqual(trial["started"], trial["ended"])
        rows = list(csv.DictReader(io.StringIO(scene.hyperopt("export", scene.dir, "--format", "csv"))))
        self.assertEqual([row["state"] for row in rows], [t["state"] for t in trials])
        self.assertEqual([row["c"] for row in rows][:2], ["a,b", 'q"'])
        ludwig = json.loads(scene.hyperopt("export", scene.dir, "--format", "ludwig"))
        self.assertEqual(set(ludwig), {"hyperopt_config", "hyperopt_results"})
        self.assertEqual(ludwig["hyperopt_config"]["metric"], "loss")
        scores = [result["metric_score"] for result in ludwig["hyperopt_results"]]
        self.assertEqual(scores[0], min(t["best"] for t in trials if t["best"] is not None))
        path = os.path.join(scene.folder, "a file.json")
        scene.hyperopt("export", scene.dir, "--format", "json", "--output", path)
        self.assertEqual(json.loads(scene.text(path))["trials"], trials)

    def test_best(self):
        scene = self.scene
        done = [t for t in scene.trials() if t["state"] == "completed"]
        value = min(t["best"] for t in done)
        os.unlink(os.path.join(scene.dir, "best.json"))
        text = scene.hyperopt("best", scene.dir)
        best = json.loads(scene.text("sweep", "best.json"))
        self.assertEqual(json.loads(scene.hyperopt("best", scene.dir, "--json")), best)
        self.assertEqual(best["value"], value)
        self.assertIn(f"trial {best['trial']}", text)
        self.assertEqual(best["params"], next(t for t in done if t["id"] == best["trial"])["params"])
        self.assertEqual(json.loads(scene.text(best["config_file"])), best["config"])

    def test_trials(self):
        scene = self.scene
        listed = json.loads(scene.hyperopt("trials", scene.dir, "--json"))
        self.assertEqual(len(listed), 5)
        self.assertEqual(listed[-1]["id"], 2, "the failed one is last")
        values = [t["best"] for t in listed[:4]]
        self.assertEqual(values, sorted(values))
        only = json.loads(scene.hyperopt("trials", scene.dir, "--state", "failed", "--json"))
        self.assertEqual([(t["id"], t["reason"]) for t in only], [(2, "exit code")])
        turned = json.loads(scene.hyperopt("trials", scene.dir, "--sort=-id", "--limit", "2", "--json"))
        self.assertEqual([t["id"] for t in turned], [4, 3])
        self.assertEqual(json.loads(scene.hyperopt("trials", scene.dir, "--json", "--sort", "loss")), listed)
        self.assertIn("exit code 3", scene.hyperopt("trials", scene.dir))
        self.assertIn("runing", scene.hyperopt("trials", scene.dir, "--state", "runing", code=2))

    def test_explain(self):
        scene = self.scene
        text = scene.hyperopt("explain", scene.dir, "2")
        self.assertIn("trial 2 failed: exit code 3", text)
        self.assertRegex(text, "attempt 1: on .* exit code 3")
        self.assertIn("5", scene.hyperopt("explain", scene.dir, "99", code=2))
        scene.hyperopt("explain", scene.dir, "two", code=2)

    def test_verify_sees_tampering(self):
        scene = self.scene
        self.assertIn("5 proposals", scene.hyperopt("verify", scene.dir))
        with sqlite3.connect(os.path.join(scene.dir, "sweep.db")) as database:
            database.execute("update parameter set value = '0.75' where trial = 1 and name = 'x'")
        database.close()
        self.assertIn("trial 1", scene.hyperopt("verify", scene.dir, code=1))

    def test_newest_is_the_default(self):
        scene = self.scene
        os.mkdir(os.path.join(scene.folder, "results"))
        os.rename(scene.dir, os.path.join(scene.folder, "results", "one"))
        self.assertIn("finished", scene.hyperopt("status"))
        self.assertIn("trial", scene.hyperopt("explain", "2"))


class ModesTest(SceneTest):
    def lines(self, *flags):
        """stdout's lines of a whole sweep, and its stderr."""
        scene = self.scene
        scene.search(f"[ $HYPEROPT_TRIAL != 1 ] || exit 3; {DONE}", max_concurrent_trials=1)
        process = scene.start(*flags, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        return out.splitlines(), err

    def test_plain_lines_in_a_pipe(self):
        lines, err = self.lines()
        self.assertEqual(err, "")
        self.assertFalse([line for line in lines if "\x1b" in line or "\r" in line])
        self.assertIn("trial 1 failed: exit code 3", lines)
        self.assertRegex(lines[-5], r"^done after .*: 4 of 4 trials: 3 completed, 1 failed$")
        self.assertEqual(lines[-2].strip(), os.path.join(self.scene.dir, "best.json"))
        self.assertTrue(lines[-1].strip().startswith("hyperopt report "), lines[-1])

    def test_quiet(self):
        lines, err = self.lines("--quiet")
        self.assertEqual((len(lines), err), (1, ""))
        self.assertRegex(lines[0], "^done: loss .*; 3 completed, 1 failed; ")

    def test_json(self):
        lines, err = self.lines("--json")
        events = [json.loads(line) for line in lines]
        self.assertEqual(err, "")
        self.assertEqual([(e["trial"], e["attempt"]) for e in events if e["event"] == "launched"],
                         [(0, 1), (1, 1), (2, 1), (3, 1)])
        self.assertEqual([e["state"] for e in events if e["event"] == "ended"],
                         ["completed", "failed", "completed", "completed"])
        numbers = [e["number"] for e in events if "number" in e]
        self.assertEqual(numbers, list(range(1, len(numbers) + 1)))
        end = events[-1]
        self.assertEqual((end["event"], end["code"], end["state"], end["counts"]["completed"]),
                         ("end", 0, "finished", 3))

    def test_terminal(self):
        scene = self.scene
        scene.search(AT_THE_GATE)
        master, slave = pty.openpty()
        process = scene.start(stdout=slave, stderr=slave, env={**scene.env, "TERM": "xterm"})
        os.close(slave)
        seen = b""
        while b"running  2" not in seen:
            seen += os.read(master, 4096)
        scene.open("go")
        try:
            while piece := os.read(master, 4096):
                seen += piece
        except OSError:
            pass  # so a terminal says that nobody is left
        os.close(master)
        scene.expect(process)
        for word in (b"best     ", b"trials   ", b"waits    max_concurrent_trials is 2", b"done after"):
            self.assertIn(word, seen)


class CheckTest(SceneTest):
    def test_check(self):
        scene = self.scene
        scene.search(DONE, num_samples=3, gpu_resources_per_trial=0.5, max_concurrent_trials=5,
                     parameters={"x": {"space": "uniform", "lower": 0, "upper": 1},
                                 "g": {"space": "grid_search", "values": [1, 2]}},
                     scheduler={"type": "asha", "max_t": 27, "grace_period": 1, "reduction_factor": 3})
        text = scene.hyperopt("check", scene.config, "--gpus", "2", "--cpus", "8")
        self.assertRegex(text, r"trials +6 trials")
        self.assertRegex(text, r"needs +1 CPU, 0\.5 GPUs a trial")
        self.assertRegex(text, r"fits +4 at once")
        self.assertRegex(text, r"1, 3, 9")
        # The first configurations are those that run.
        dry = scene.hyperopt("--config", scene.config, "--dry-run", "--gpus", "2", "--cpus", "8")
        self.assertFalse(os.path.exists(scene.dir) or os.path.exists(os.path.join(scene.folder, "results")))
        scene.run("--gpus", "2")
        for trial in scene.trials():
            self.assertRegex(dry, rf"\n +{trial['id']} .*{trial['params']['x']:.4g}")

    def test_all_errors_at_once(self):
        scene = self.scene
        with open(scene.config, "w") as file:
            file.write("""comand: [true]
hyperopt:
  metric: loss
  parameters:
    x: {space: unifrm, lower: 0, upper: 1}
    y: {space: int, lower: 3, upper: 2}
    y: {space: int, lower: 1, upper: 2}
    z: {space: loguniform, lower: 0, upper: 2}
  executor:
    max_concurrent: 3
    num_samples: many
""")
        for words in (["check", scene.config], ["--config", scene.config, "--output", scene.dir]):
            text = scene.hyperopt(*words, code=2)
            for place, word in ((1, "command"), (5, "uniform"), (6, "below"), (7, "y"), (8, "z"),
                                (10, "max_concurrent_trials"), (11, "num_samples")):
                self.assertRegex(text, rf"search\.yaml:{place}:\d+: .*{word}")
        self.assertFalse(os.path.exists(scene.dir))

    def test_usage(self):
        scene = self.scene
        for words in (["--confg", "x"], ["statsu"], ["resume", "--trials", "some"]):
            with self.subTest(words):
                self.assertIn("hyperopt", scene.hyperopt(*words, code=2))
        self.assertIn("no such file", scene.hyperopt("--config", "no such file", code=2))
        self.assertRegex(scene.hyperopt("version"), r"^hyperopt \d+\.\d+")


if __name__ == "__main__":
    main(sys.argv)
