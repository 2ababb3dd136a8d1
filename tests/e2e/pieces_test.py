#!/usr/bin/env python3
"""Trials that run in pieces: promotion ASHA and population based training, with examples/checkpoints.

  pieces_test.py BUILD_DIR [unittest's words]
"""

import json
import os
import shutil
import signal
import sys

from scene import SceneTest, main
from sweep import kill, wait_until

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLE = os.path.join(REPOSITORY, "examples", "checkpoints")
RUNGS = "select trial, bracket, rung, level, value, time, late, stopped from rung order by arrival"
DECISIONS = "select kind, trial, detail from event where kind in ('promoted', 'replaced') order by number"
# A trial of sh: runs to its budget, an epoch a line. What it saves is its step.
EPOCHS = """
step=0
[ -n "$HYPEROPT_RESUME_FROM" ] && step=${HYPEROPT_RESUME_FROM##*/}
mark began "$step..$HYPEROPT_BUDGET"
while [ $step -lt %s ]; do
  step=$((step + 1))
  %s
  report "{\\"step\\": $step, \\"loss\\": $HYPEROPT_PARAM_X}"
done
"""
SAVE = 'mkdir "$HYPEROPT_CHECKPOINT_DIR/$step"; : > "$HYPEROPT_CHECKPOINT_DIR/$step/COMPLETE"'
PROMOTION = {"type": "asha", "mode": "promotion", "max_t": 9, "grace_period": 1, "reduction_factor": 3}


class PiecesTest(SceneTest):
    def example(self, scene, name, **executor):
        with open(os.path.join(EXAMPLE, name)) as file:
            text = file.read()
        shutil.copy(os.path.join(EXAMPLE, "train.py"), scene.folder)
        with open(scene.config, "w") as file:
            file.write(text)
        words = {"max_concurrent_trials": 1, "heartbeat_s": 0.3, "controller_lost_s": 60, **executor}
        return [word for key, value in words.items() for word in ("--set", f"hyperopt.executor.{key}={value}")]

    def found(self, scene):
        """What a sweep decided, and what came of it; nothing of when and where."""
        return {"rungs": scene.query(RUNGS), "decisions": scene.query(DECISIONS), "parameters": scene.parameters(),
                "trials": scene.query("select id, state, reason, best, best_step, last, last_step, parent "
                                      "from trial order by id")}

    def killed_equals_undisturbed(self, name, kills, **executor):
        """One trial at a time, so that what comes first is no matter of chance."""
        undisturbed = self.new_scene(os.path.join(self.scene.folder, "undisturbed"))
        os.mkdir(undisturbed.folder)
        undisturbed.run(*self.example(undisturbed, name, **executor))
        undisturbed.hyperopt("verify", undisturbed.dir)
        expected = self.found(undisturbed)
        scene = self.scene
        words = self.example(scene, name, **executor)
        entries = len(expected["rungs"])
        for part in range(1, kills + 1):
            process = scene.start(*words)
            reached = lambda: process.poll() is not None or self.entries(scene) >= entries * part // (kills + 1)
            wait_until(reached, "the middle of the sweep")
            self.assertIsNone(process.poll(), scene.output())
            kill(process.pid)
            process.wait()
        scene.run(*words)
        self.assertEqual(self.found(scene), expected)
        scene.hyperopt("verify", scene.dir)
        scene.nothing_left()
        return expected

    def entries(self, scene):
        try:
            return scene.query("select count(*) from rung")[0][0]
        except Exception:  # not there yet
            return 0

    def test_promotion_killed_in_the_middle(self):
        expected = self.killed_equals_undisturbed("search.yaml", 3, num_samples=9)
        self.assertEqual({state for _, state, *_ in expected["trials"]}, {"completed"})
        self.assertTrue(expected["decisions"])

    def test_population_killed_in_the_middle(self):
        expected = self.killed_equals_undisturbed("pbt.yaml", 3, num_samples=4)
        self.assertIn("replaced", {kind for kind, *_ in expected["decisions"]})

    def test_promotion_runs_each_epoch_once(self):
        scene = self.scene
        scene.search(EPOCHS % ("$HYPEROPT_BUDGET", SAVE), num_samples=9, scheduler=PROMOTION)
        scene.run()
        began = scene.marks("began")
        for number, trial in enumerate(scene.trials()):
            pieces = [word.split("..") for of, _, word in began if of == number]
            # Each piece begins where the one before it ended.
            self.assertEqual([first for first, _ in pieces][1:], [last for _, last in pieces][:-1])
            self.assertEqual([report["step"] for report in trial["reports"]], list(range(1, int(pieces[-1][1]) + 1)))
            self.assertEqual(trial["state"], "completed")
        # Losses are constant, so that the best third is that of the parameters.
        best = sorted(scene.trials(), key=lambda trial: trial["best"])[:3]
        for trial in best:
            self.assertGreater(trial["steps"], 1)
        self.assertEqual(best[0]["steps"], 9)
        scene.hyperopt("verify", scene.dir)

    def test_a_trainer_that_ignores_its_budget_is_stopped(self):
        scene = self.scene
        scene.search("trap 'exit 0' TERM\n" + EPOCHS % ("100000", SAVE + "; sleep 0.05"), num_samples=4,
                     scheduler=PROMOTION)
        scene.run()
        for trial in scene.trials():
            self.assertEqual(trial["state"], "completed", trial)
        rungs = scene.query("select trial, level, time from rung where late = 0")
        self.assertEqual(len([rung for rung in rungs if rung[1] == 1]), 4)
        stop = json.loads(scene.text(scene.attempt(), "stop.json"))
        self.assertEqual(stop["reason"], "budget")
        scene.hyperopt("verify", scene.dir)

    def test_a_trainer_without_checkpoints_begins_anew_and_is_told_of(self):
        scene = self.scene
        scene.search(EPOCHS % ("$HYPEROPT_BUDGET", ":"), num_samples=4, scheduler=PROMOTION)
        said = scene.run()
        self.assertEqual(said.count("goes on from its start: it left no complete checkpoint"), 1, said)
        trials = scene.trials()
        self.assertEqual({trial["state"] for trial in trials}, {"completed"})
        self.assertGreater(max(trial["steps"] for trial in trials), 1)
        scene.hyperopt("verify", scene.dir)

    def test_what_waits_is_seen_and_survives_an_interrupt(self):
        scene = self.scene
        scene.search("mark here .; [ $HYPEROPT_TRIAL = 4 ] && await go\n" + EPOCHS % ("$HYPEROPT_BUDGET", SAVE),
                     num_samples=5, max_concurrent_trials=1, scheduler=PROMOTION)
        process = scene.start()
        wait_until(lambda: scene.states()[4:] == ["running"], "the last trial")
        states = scene.states()
        waiting = states.index("paused")
        self.assertIn("waits at ", scene.hyperopt("explain", scene.dir, str(waiting)))
        self.assertIn(f"{states.count('paused')} paused", scene.hyperopt("status", scene.dir))
        process.send_signal(signal.SIGINT)
        scene.expect(process, 130)
        self.assertEqual(scene.states()[waiting], "paused")
        self.assertIn("waits at ", scene.hyperopt("explain", scene.dir, str(waiting)))
        # One that waits can be ended for good.
        self.assertIn("goes on no more", scene.hyperopt("stop", scene.dir, str(waiting)))
        scene.open("go")
        scene.run()
        states = scene.states()
        self.assertEqual(states.pop(waiting), "stopped")
        self.assertEqual(set(states), {"completed"})
        scene.hyperopt("verify", scene.dir)

    def test_a_better_one_without_a_checkpoint_is_not_copied(self):
        scene = self.scene
        # One at a time, so that each is compared with all of them.
        scene.search(EPOCHS % ("$HYPEROPT_BUDGET", ":"), num_samples=4, max_concurrent_trials=1,
                     scheduler={"type": "pbt", "max_t": 6, "perturbation_interval": 2})
        said = scene.run()
        self.assertEqual(said.count("keeps its place: the better one"), 1, said)
        self.assertEqual(scene.states(), ["completed"] * 4)
        scene.hyperopt("verify", scene.dir)

    def test_folders_of_those_copied_stay_until_the_end(self):
        scene = self.scene
        scene.run(*self.example(scene, "pbt.yaml", num_samples=4), "--set", "keep.folders=best")
        self.assertTrue(any(trial.get("parent") is not None for trial in scene.trials()))
        scene.hyperopt("verify", scene.dir)
        best = json.loads(scene.text(scene.dir, "best.json"))["trial"]
        self.assertEqual(os.listdir(os.path.join(scene.dir, "trials")), [str(best)])


if __name__ == "__main__":
    main(sys.argv)
