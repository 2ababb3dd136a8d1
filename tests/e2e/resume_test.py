#!/usr/bin/env python3
"""Going on: interruptions, edited files, finished sweeps, budgets.

  resume_test.py BUILD_DIR [unittest's words]
"""

import contextlib
import json
import os
import pty
import signal
import sqlite3
import sys

from scene import DONE, SceneTest, main
from sweep import wait_until

TO_THE_GATE = "mark started .; await go; " + DONE


class ResumeTest(SceneTest):
    def interrupted(self, send, code=130):
        """Starts, interrupts while two trials run, goes on; equal to an undisturbed sweep."""
        scene = self.scene
        scene.search(TO_THE_GATE, num_samples=5)
        process = scene.start()
        scene.await_marks("started", 2)
        send(process)
        scene.expect(process, code)
        self.assertEqual(scene.states(), ["pending", "pending"])
        scene.nothing_left()
        scene.open("go")
        scene.run()
        trials = scene.trials()
        self.assertEqual([trial["attempt"] for trial in trials], [2, 2, 1, 1, 1])
        self.assertEqual({trial["state"] for trial in trials}, {"completed"})
        self.assertEqual(scene.query("select sum(failures), sum(lost) from trial"), [(0, 0)])
        undisturbed = self.new_scene(os.path.join(scene.folder, "undisturbed"))
        os.mkdir(undisturbed.folder)
        undisturbed.search(DONE, num_samples=5)
        undisturbed.run()
        self.assertEqual(scene.parameters(), undisturbed.parameters())
        scene.hyperopt("verify", scene.dir)

    def test_interrupt(self):
        self.interrupted(lambda process: process.send_signal(signal.SIGINT))

    def test_terminate(self):
        self.interrupted(lambda process: process.send_signal(signal.SIGTERM))

    def test_stop_command(self):
        self.interrupted(lambda _: self.scene.hyperopt("stop", self.scene.dir))

    def test_two_interrupts_kill(self):
        # A trial that ignores TERM, and a grace that is no help.
        scene = self.scene
        scene.search("trap '' TERM; mark started .; await go; " + DONE, stop_grace_s=600)
        process = scene.start()
        scene.await_marks("started", 2)
        process.send_signal(signal.SIGINT)
        wait_until(lambda: all(os.path.exists(os.path.join(scene.attempt(n), "stop.json")) for n in (0, 1)),
                   "stop.json")
        process.send_signal(signal.SIGINT)
        scene.expect(process, 130)
        self.assertEqual(scene.states(), ["pending", "pending"])
        scene.nothing_left()
        scene.open("go")
        scene.run()
        self.assertEqual({trial["state"] for trial in scene.trials()}, {"completed"})

    def test_closed_terminal(self):
        scene = self.scene
        scene.search(TO_THE_GATE)
        master, slave = pty.openpty()

        def take_terminal():
            os.setsid()
            import fcntl
            import termios
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        process = scene.start(stdin=slave, stdout=slave, stderr=slave, preexec_fn=take_terminal)
        os.close(slave)
        scene.await_marks("started", 2)
        os.close(master)
        scene.expect(process, 130)
        self.assertEqual(scene.states(), ["pending", "pending"])
        scene.open("go")
        scene.run()
        self.assertEqual({trial["state"] for trial in scene.trials()}, {"completed"})
        scene.nothing_left()

    def test_grid_repeats_no_cell(self):
        # num_samples times all cells, each once a sample, also over interruptions and kills.
        scene = self.scene
        grid = {"a": {"space": "grid_search", "values": [1, 2, 3]},
                "b": {"space": "grid_search", "values": ["x", "y"]},
                "x": {"space": "uniform", "lower": 0, "upper": 1}}
        scene.search('mark ran "$HYPEROPT_PARAM_A$HYPEROPT_PARAM_B"; [ $HYPEROPT_TRIAL -lt 2 ] || await go; ' + DONE,
                     parameters=grid, num_samples=2)
        process = scene.start()
        wait_until(lambda: scene.states() == ["completed", "completed", "running", "running"], "two, and two run")
        scene.await_marks("ran", 4)
        process.send_signal(signal.SIGINT)
        scene.expect(process, 130)
        process = scene.start()
        scene.await_marks("ran", 6)
        process.kill()
        process.wait()
        scene.open("go")
        scene.run()
        cells = [f"{t['params']['a']}{t['params']['b']}" for t in scene.trials()]
        self.assertEqual(sorted(cells), sorted(2 * ["1x", "1y", "2x", "2y", "3x", "3y"]))
        self.assertEqual([len([1 for ran in scene.marks("ran") if ran[0] == n]) for n in range(12)],
                         [1, 1, 2, 2] + [1] * 8)
        scene.hyperopt("verify", scene.dir)

    def test_rungs_are_those_of_the_record(self):
        # Interrupted between rungs: each entry is there once, and is judged with those of before.
        scene = self.scene
        trial = """
mark from "${HYPEROPT_RESUME_FROM:-none}"
n=0
while [ $n -lt 4 ]; do
  n=$((n + 1)); report "{\\"step\\": $n, \\"loss\\": $HYPEROPT_TRIAL}"
  [ $n != 2 ] || [ $HYPEROPT_TRIAL != 0 ] || await go
done"""
        scene.search(trial, num_samples=5, max_concurrent_trials=1,
                     scheduler={"type": "asha", "max_t": 4, "grace_period": 1, "reduction_factor": 2})
        process = scene.start()
        wait_until(lambda: scene.recorded() == 2, "the first rung")
        process.send_signal(signal.SIGINT)
        scene.expect(process, 130)
        rungs = scene.query("select trial, rung, value, stopped from rung order by trial, rung")
        self.assertEqual(rungs, [(0, 0, 0, 0), (0, 1, 0, 0)])
        scene.open("go")
        scene.run()
        self.assertEqual(scene.query("select trial, rung, value, stopped from rung where trial = 0 order by rung"),
                         rungs)
        self.assertEqual(scene.query("select trial, rung, stopped from rung where trial > 0 order by trial, rung"),
                         [(n, 0, 1) for n in range(1, 5)])
        self.assertEqual(scene.states(), ["completed"] + ["stopped"] * 4)
        scene.hyperopt("verify", scene.dir)

    def test_finished_says_so(self):
        scene = self.scene
        scene.search("mark started .; " + DONE)
        scene.run()
        trials = scene.trials()
        self.assertIn("4 finished before", scene.run())
        scene.hyperopt("resume", scene.dir)
        self.assertEqual(scene.trials(), trials)
        self.assertEqual(len(scene.marks("started")), 4)
        scene.nothing_left()

    def test_more_trials(self):
        scene = self.scene
        scene.search(DONE, num_samples=3)
        scene.run()
        before = scene.trials()
        scene.hyperopt("resume", scene.dir, "--trials", "+2")
        self.assertEqual(scene.trials()[:3], before)
        scene.hyperopt("resume", scene.dir, "--trials", "+2")
        scene.hyperopt("resume", scene.dir)
        trials = scene.trials()
        self.assertEqual(len(trials), 7)
        whole = self.new_scene(os.path.join(scene.folder, "whole"))
        os.mkdir(whole.folder)
        whole.search(DONE, num_samples=7)
        whole.run()
        self.assertEqual([t["params"] for t in trials], [t["params"] for t in whole.trials()])
        self.completed()

    def test_rerun_failed(self):
        scene = self.scene
        scene.search(f'[ $HYPEROPT_TRIAL != 1 ] || [ -e "$here/mended" ] || exit 4; {DONE}')
        scene.run()
        self.assertEqual(scene.states(), ["completed", "failed", "completed", "completed"])
        scene.hyperopt("resume", scene.dir)  # alone it runs nothing again
        self.assertEqual(scene.states()[1], "failed")
        scene.open("mended")
        scene.hyperopt("resume", scene.dir, "--rerun-failed")
        trials = scene.trials()
        self.assertEqual([t["state"] for t in trials], ["completed"] * 4)
        self.assertEqual([t["attempt"] for t in trials], [1, 2, 1, 1])

    def test_verify_after_a_rerun(self):
        """A sampler saw the failures; who was proposed after the rerun did not."""
        for kind, repeats in (("tpe", 1), ("gp", 1), ("cmaes", 1), ("gp", 3)):
            with self.subTest(kind=kind, repeats=repeats):
                scene = self.new_scene(os.path.join(self.scene.folder, f"{kind} {repeats}"))
                os.mkdir(scene.folder)
                failing = "case $HYPEROPT_TRIAL in 3|5|8|9) [ -e \"$here/mended\" ] || exit 4;; esac"
                scene.search(f"{failing}; {DONE}", num_samples=14, max_concurrent_trials=3)
                with open(scene.config) as file:
                    search = json.load(file)
                search["hyperopt"]["search_alg"]["type"] = kind
                search["hyperopt"]["repeats"] = repeats
                with open(scene.config, "w") as file:
                    json.dump(search, file)
                scene.run()
                scene.hyperopt("verify", scene.dir)
                self.assertEqual(scene.states().count("failed"), 4)
                scene.open("mended")
                scene.hyperopt("resume", scene.dir, "--rerun-failed", "--trials", "+8")
                self.assertEqual(scene.states().count("failed"), 0)
                self.assertIn("as they must be", scene.hyperopt("verify", scene.dir))
                # What was proposed before the rerun is held against what was known then, and after it as well.
                last = len(scene.states()) - 1
                for trial in ([4, 12] if repeats == 1 else []) + [last]:
                    value = scene.query(f"select value from parameter where trial = {trial}")[0][0]
                    self.tamper(scene, trial, "0.123456")
                    self.assertIn(f"trial {trial}", scene.hyperopt("verify", scene.dir, code=1))
                    self.tamper(scene, trial, value)
                scene.hyperopt("verify", scene.dir)

    def tamper(self, scene, trial, value):
        with contextlib.closing(sqlite3.connect(os.path.join(scene.dir, "sweep.db"))) as database, database:
            database.execute("update parameter set value = ? where trial = ?", (value, trial))

    def test_no_folder_of_sockets_is_left(self):
        """Neither of an end nor of an interruption; several that begin and end at once do each other no harm."""
        scene = self.scene
        scene.search(TO_THE_GATE, num_samples=4)
        process = scene.start()
        scene.await_marks("started", 2)
        folder = scene.socket_folder()
        self.assertIn("controller.lock", os.listdir(folder))
        others = []
        for number in range(5):
            other = self.new_scene(os.path.join(scene.folder, str(number)))
            os.mkdir(other.folder)
            other.search(DONE, num_samples=3)
            others.append((other, other.start("--cpus", "1")))
        for other, started in others:
            other.expect(started)
            self.assertFalse(os.path.exists(other.socket_folder()))
        self.assertIsNone(process.poll())
        self.assertIn("controller.lock", os.listdir(folder))
        process.send_signal(signal.SIGINT)
        scene.expect(process, 130)
        self.assertFalse(os.path.exists(folder))
        scene.open("go")
        scene.run()
        self.assertEqual(scene.states(), ["completed"] * 4)
        self.assertEqual(scene.query("select count(*) from executor"), [(1,)])
        self.assertFalse(os.path.exists(scene.socket_folder()))

    def test_limits_of_an_edited_file_apply(self):
        scene = self.scene
        scene.search(DONE, num_samples=2)
        scene.run()
        before = scene.trials()
        scene.search(DONE, num_samples=3, max_concurrent_trials=1, stop_grace_s=6, top={"env": {"A": "1"}})
        said = scene.run()
        for key in ("num_samples", "max_concurrent_trials", "stop_grace_s"):
            self.assertRegex(said, f"changed: .*{key}: ")
        self.assertEqual(scene.trials()[:2], before)
        self.assertEqual(len(scene.trials()), 3)

    def test_meaning_of_an_edited_file_is_refused(self):
        scene = self.scene
        scene.search(DONE, num_samples=2)
        scene.run()
        before = scene.trials()
        changes = {"hyperopt.metric": "accuracy", "hyperopt.goal": "maximize",
                   "hyperopt.parameters.x.upper": 2, "hyperopt.search_alg.random_state": 8,
                   "hyperopt.executor.scheduler.type": "asha", "command": "true"}
        for key, value in changes.items():
            with self.subTest(key):
                said = scene.run("--set", f"{key}={json.dumps(value)}", code=2)
                self.assertIn(key.removesuffix(".upper").removesuffix(".type") + ": ", said)
                self.assertIn("--fresh", said)
                self.assertIn("--output", said)
        self.assertEqual(scene.trials(), before)
        self.assertEqual(os.listdir(scene.folder).count("sweep"), 1)

    def test_fresh_renames(self):
        scene = self.scene
        scene.search(DONE, num_samples=2)
        scene.run()
        before = scene.trials()
        scene.search(DONE, num_samples=2, seed=8)
        scene.run("--fresh")
        self.assertNotEqual([t["params"] for t in scene.trials()], [t["params"] for t in before])
        old, = [name for name in os.listdir(scene.folder) if name.startswith("sweep.")]
        kept = json.loads(scene.hyperopt("export", os.path.join(scene.folder, old), "--format", "json"))
        self.assertEqual(kept["trials"], before)

    def test_an_edit_before_anything_ran_starts_over(self):
        scene = self.scene
        scene.search(DONE, gpu_resources_per_trial=1)
        process = scene.start("--gpus", "1", "--no-local-executor", "--listen", "tcp://127.0.0.1:0")
        wait_until(lambda: "may join" in scene.said() and os.path.exists(os.path.join(scene.dir, "sweep.db")),
                   "a record")
        process.send_signal(signal.SIGINT)
        scene.expect(process, 130)
        scene.search(DONE, seed=9)
        self.assertIn("starting over", scene.run())
        self.completed()

    def test_time_budget_covers_what_waits(self):
        scene = self.scene
        scene.search(f"[ $HYPEROPT_TRIAL = 0 ] || trap : TERM; {DONE}\n[ $HYPEROPT_TRIAL = 0 ] || await never",
                     num_samples=6, time_budget_s=1.5, stop_grace_s=1)
        said = scene.run()
        self.assertIn("time budget is over", said)
        trials = scene.trials()
        self.assertEqual(trials[0]["state"], "completed")
        self.assertEqual({(t["state"], t["reason"]) for t in trials[1:]}, {("stopped", "budget")})
        scene.nothing_left()
        # It counts the time alive over all sessions: nothing more starts.
        attempts = [t["attempt"] for t in trials]
        scene.run()
        self.assertEqual([t["attempt"] for t in scene.trials()], attempts)

    def test_time_budget_ends_a_wait_for_executors(self):
        scene = self.scene
        scene.search(DONE, num_samples=3, time_budget_s=1.5)
        process, _ = scene.listen()  # and nobody joins
        scene.expect(process, 1)
        self.assertIn("time budget is over", scene.said())
        self.assertEqual(scene.query("select count(*) from run"), [(0,)])
        self.assertEqual(scene.query("select id from trial where state in ('pending', 'running')"), [])
        scene.nothing_left()


if __name__ == "__main__":
    main(sys.argv)
