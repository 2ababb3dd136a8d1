#!/usr/bin/env python3
"""What stays of a trial's files, the copy of the code, and the view of all trials.

  keep_test.py BUILD_DIR [unittest's words]
"""

import json
import os
import subprocess
import sys
import zlib

from scene import DONE, SceneTest, main
from sweep import wait_until

TALK = "echo out $HYPEROPT_TRIAL; echo err $HYPEROPT_TRIAL >&2; "


class KeepTest(SceneTest):
    def folders(self):
        return sorted(name for name in os.listdir(os.path.join(self.scene.dir, "trials")))

    def best(self):
        return self.scene.query("select id from trial where best is not null order by best, id limit 1")[0][0]

    def kept(self, trial, name):
        rows = self.scene.query(f"select size, data from file where trial = {trial} and name = '{name}'")
        if not rows:
            return None
        (size, data), = rows
        text = data if len(data) == size else zlib.decompress(data)
        self.assertEqual(len(text), size)
        return text.decode()

    def test_only_the_best_folder_stays_and_everything_is_still_there(self):
        scene = self.scene
        scene.search(TALK + DONE, num_samples=6, top={"keep": {"folders": "best"}})
        scene.run()
        best = self.best()
        self.assertEqual(self.folders(), [str(best)])
        other = (best + 1) % 6
        self.assertEqual(self.kept(other, "stdout.log"), f"out {other}\n")
        self.assertIn('"loss"', self.kept(other, "report.jsonl"))
        self.assertIsNone(self.kept(best, "stdout.log"))
        for trial in (best, other):
            self.assertEqual(scene.hyperopt("logs", scene.dir, str(trial), "--stdout"), f"out {trial}\n")
            self.assertEqual(scene.hyperopt("logs", scene.dir, str(trial), "--stderr", "--tail", "1"), f"err {trial}\n")
            self.assertIn(f"err {trial}", scene.hyperopt("show", scene.dir, str(trial)))
        self.assertEqual(json.loads(scene.hyperopt("best", scene.dir, "--json"))["trial"], best)
        self.assertEqual(len(scene.trials()), 6)
        self.completed()
        # The line to paste makes what it needs anew.
        line = json.loads(scene.hyperopt("show", scene.dir, str(other), "--json"))["by_hand"]
        result = subprocess.run(["sh", "-c", line], env=scene.env, cwd="/", text=True, capture_output=True, check=False)
        self.assertEqual((result.stdout, result.returncode), (f"out {other}\n", 0), line + result.stderr)

    def test_failed_ones(self):
        scene = self.scene
        scene.search(TALK + "[ $HYPEROPT_TRIAL != 1 ] || exit 3; " + DONE, num_samples=4,
                     top={"keep": {"folders": "failed", "logs": "failed"}})
        scene.run()
        best = self.best()
        self.assertEqual(self.folders(), sorted({str(best), "1"}))
        self.assertTrue(os.path.exists(os.path.join(scene.attempt(1), "stderr.log")))
        other = next(trial for trial in range(4) if trial not in (best, 1))
        self.assertIsNone(self.kept(other, "stdout.log"))
        self.assertIsNotNone(self.kept(other, "report.jsonl"))
        self.assertIn("were not kept", scene.hyperopt("logs", scene.dir, str(other), code=2))
        # A rerun of the failed one goes on in its folder.
        scene.search(TALK + DONE, num_samples=4, top={"keep": {"folders": "failed", "logs": "failed"}})
        scene.expect(scene.spawn("resume", scene.dir, "--rerun-failed", "--cpus", "4"))
        self.assertEqual(scene.query("select state from trial where id = 1"), [("completed",)])
        self.assertEqual(self.folders(), [str(self.best())])

    def test_logs_alone(self):
        scene = self.scene
        scene.search(TALK + DONE, num_samples=2, top={"keep": {"logs": "none"}})
        scene.run()
        self.assertEqual(self.folders(), ["0", "1"])
        self.assertNotIn("stdout.log", os.listdir(scene.attempt(0)))
        self.assertIn("report.jsonl", os.listdir(scene.attempt(0)))

    def test_killed_at_any_point_of_it(self):
        """Nothing that was to stay is lost, and the next start finishes the work."""
        for point in ("keep.before_drop@2", "keep.after_rename@2", "controller.before_commit@4"):
            with self.subTest(point):
                scene = self.new_scene(os.path.join(self.scene.folder, point))
                os.makedirs(scene.folder, exist_ok=True)
                scene.search(TALK + DONE, num_samples=5, top={"keep": {"folders": "best"}})
                scene.binary = os.path.join(self.build, "hyperopt_faulty")
                scene.env["HYPEROPT_FAILPOINT"] = point
                process = scene.start()
                self.assertEqual(scene.finish(process), -9)
                del scene.env["HYPEROPT_FAILPOINT"]
                scene.expect(scene.start())
                self.scene = scene
                best = self.best()
                self.assertEqual(self.folders(), [str(best)])
                for trial in range(5):
                    self.assertEqual(scene.hyperopt("logs", scene.dir, str(trial), "--stdout"), f"out {trial}\n")
                self.completed()

    def test_what_is_not_finished_is_not_touched(self):
        scene = self.scene
        scene.search(TALK + 'await "go$HYPEROPT_TRIAL"; ' + DONE, num_samples=2, top={"keep": {"folders": "best"}})
        process = scene.start()
        wait_until(lambda: scene.states() == ["running", "running"], "both")
        scene.open("go0")
        wait_until(lambda: scene.states() == ["completed", "running"], "the first")
        scene.hyperopt("stop", scene.dir)
        scene.expect(process, 130)
        self.assertIn("1", self.folders())
        scene.open("go1")
        scene.expect(scene.start())
        self.assertEqual(self.folders(), [str(self.best())])
        self.assertEqual(len(scene.query("select 1 from file where trial = 1 and name = 'report.jsonl'")),
                         0 if self.best() == 1 else 2)

    def test_several_checkpoints_stay(self):
        scene = self.scene
        step = ('save() { mkdir "$HYPEROPT_CHECKPOINT_DIR/$1"; : > "$HYPEROPT_CHECKPOINT_DIR/$1/COMPLETE"; '
                'report "{\\"step\\": $1, \\"loss\\": $2}"; }; ')
        scene.search(step + "save 1 5; save 2 1; save 3 2; save 4 9; save 5 8; save 6 7", num_samples=1,
                     top={"keep": {"checkpoints": {"best": 2, "last": 2}}})
        scene.run()
        self.assertEqual(sorted(os.listdir(os.path.join(scene.attempt(), "checkpoints"))), ["2", "3", "5", "6"])

    def test_check_says_what_to_expect(self):
        scene = self.scene
        scene.search(DONE, num_samples=10000)
        self.assertIn("60000 in 40000 folders", scene.hyperopt("check", scene.config))
        scene.search(DONE, num_samples=10000, top={"keep": {"folders": "best", "logs": "failed"}})
        self.assertIn("folders of the best one stay", scene.hyperopt("check", scene.config))

    def test_results_are_nothing_to_commit(self):
        scene = self.scene
        scene.search(DONE, num_samples=1)
        scene.run()
        self.assertEqual(scene.text("sweep", ".gitignore"), "*\n")


class SnapshotTest(SceneTest):
    def git(self, *words):
        env = {**self.scene.env, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
        subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@x", "-c", "init.defaultBranch=main", *words],
                       cwd=self.scene.folder, env=env, check=True, capture_output=True)

    def write(self, name, text):
        with open(os.path.join(self.scene.folder, name), "w") as file:
            file.write(text)

    def setUp(self):
        super().setUp()
        scene = self.scene
        # The search file names the script by a relative path and by ${config.dir}.
        scene.search("true", num_samples=2, max_concurrent_trials=1, top={"workdir": "snapshot"})
        with open(scene.config) as file:
            search = json.load(file)
        search["command"] = ["sh", "code.sh", "${config.dir}/word.txt", scene.folder]
        self.write("search.yaml", json.dumps(search))
        self.write("code.sh", 'echo "$(cat "$1") $(pwd)"; until [ -e "$2/go$HYPEROPT_TRIAL" ]; do sleep 0.02; done; '
                   'echo "{\\"loss\\": 1}" >> "$HYPEROPT_REPORT"\n')
        self.write("word.txt", "committed\n")
        self.git("init", "-q")
        self.git("add", "code.sh", "word.txt", "search.yaml")
        self.git("commit", "-q", "-m", "x")

    def test_all_trials_run_what_the_sweep_began_with(self):
        scene = self.scene
        self.write("word.txt", "edited\n")  # not committed, and copied all the same
        self.write("loose.txt", "x\n")
        process = scene.start()
        wait_until(lambda: scene.states() == ["running"], "the first")
        self.write("word.txt", "edited again\n")
        self.write("code.sh", "exit 9\n")
        scene.hyperopt("stop", scene.dir)
        scene.expect(process, 130)
        said = scene.said()
        self.assertIn("3 tracked files", said)
        self.assertIn("loose.txt", said)
        scene.open("go0")
        scene.open("go1")
        scene.expect(scene.start())
        copy = os.path.join(scene.dir, "snapshot")
        for trial in (0, 1):
            self.assertEqual(scene.hyperopt("logs", scene.dir, str(trial)), f"edited {copy}\n")
        self.completed_or_more()
        self.assertNotIn("not what the sweep began with", scene.hyperopt("status", scene.dir))

    def completed_or_more(self):
        self.assertEqual(self.scene.states(), ["completed", "completed"])
        self.scene.hyperopt("verify", self.scene.dir)

    def test_without_it_status_says_that_the_code_changed(self):
        scene = self.scene
        with open(scene.config) as file:
            search = json.load(file)
        del search["workdir"]
        self.write("search.yaml", json.dumps(search))
        process = scene.start()
        wait_until(lambda: scene.states() == ["running"], "the first")
        self.assertNotIn("not what the sweep began with", scene.hyperopt("status", scene.dir))
        self.write("word.txt", "other\n")
        self.assertIn("uncommitted changes are others", scene.hyperopt("status", scene.dir))
        self.git("commit", "-q", "-a", "-m", "y")
        self.assertRegex(scene.hyperopt("status", scene.dir), "commit [0-9a-f]{9} was [0-9a-f]{9}")
        self.assertIsNotNone(json.loads(scene.hyperopt("status", scene.dir, "--json"))["code_changed"])
        scene.open("go0")
        scene.open("go1")
        scene.expect(process)
        self.assertNotIn("not what the sweep began with", scene.hyperopt("status", scene.dir))

    def test_outside_of_a_checkout_it_is_refused(self):
        scene = self.new_scene(os.path.join(self.scene.folder, "..", os.path.basename(self.scene.folder) + " bare"))
        os.makedirs(scene.folder)
        self.addCleanup(__import__("shutil").rmtree, scene.folder, ignore_errors=True)
        scene.search(DONE, num_samples=1, top={"workdir": "snapshot"})
        self.assertIn("git init", scene.run(code=2))
        self.assertIn("git init", scene.hyperopt("check", "--config", scene.config, code=2))
        self.assertFalse(os.path.exists(scene.dir))

    def test_a_workdir_that_is_not_there(self):
        scene = self.new_scene(os.path.join(self.scene.folder, "other"))
        os.makedirs(scene.folder)
        scene.search(DONE, num_samples=1, top={"workdir": "none"})
        self.assertIn("other/none is no folder", scene.run(code=2))
        self.assertIn("other/none is no folder", scene.hyperopt("check", "--config", scene.config, code=2))
        self.assertFalse(os.path.exists(scene.dir))
        os.makedirs(os.path.join(scene.folder, "none"))
        scene.run()


class ViewTest(SceneTest):
    def test_a_column_a_parameter_and_a_metric(self):
        scene = self.scene
        scene.search('report "{\\"step\\": 1, \\"loss\\": $HYPEROPT_PARAM_X, \\"accuracy\\": 0.5}"', num_samples=3,
                     parameters={"x": {"space": "uniform", "lower": 0, "upper": 1},
                                 "optimizer.name": {"space": "choice", "categories": ["sgd", "adam"]},
                                 "layers": {"space": "int", "lower": 1, "upper": 4}})
        scene.run()
        rows = scene.query('select loss, x, "optimizer.name", layers, accuracy, state from trials order by loss')
        self.assertEqual(len(rows), 3)
        self.assertEqual(rows, sorted(rows))
        for loss, x, name, layers, accuracy, state in rows:
            self.assertAlmostEqual(loss, x)
            self.assertEqual((type(x), type(layers)), (float, int))
            self.assertIn(name, ("sgd", "adam"))
            self.assertEqual((accuracy, state), (0.5, "completed"))

    def test_it_is_there_while_the_first_trial_runs(self):
        scene = self.scene
        scene.search("await go; " + DONE, num_samples=1)
        process = scene.start()
        wait_until(lambda: scene.states() == ["running"], "the start")
        wait_until(lambda: scene.query("select name from sqlite_master where name = 'trials'"), "the view")
        self.assertEqual(scene.query("select state, loss from trials"), [("running", None)])
        scene.open("go")
        scene.expect(process)


if __name__ == "__main__":
    main(sys.argv)
