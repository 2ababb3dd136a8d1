#!/usr/bin/env python3
"""Early stopping by rules that look at curves: whole sweeps, and what a restart makes of them.

  rules_test.py BUILD_DIR [unittest's words]
"""

import json
import signal
import sys

from scene import SceneTest, main
from sweep import wait_until

# Trial n reports n, 4 times; after each report it waits for the gate n.STEP.
STEP_BY_STEP = """
n=0
while [ $n -lt 4 ]; do
  n=$((n + 1)); report "{\\"step\\": $n, \\"loss\\": $HYPEROPT_TRIAL}"
  mark steps $n; await "$HYPEROPT_TRIAL.$n"
done"""
# The same to its end, but that one who is told to stop waits for it.
TO_THE_END = """
n=0
while [ $n -lt 4 ]; do
  n=$((n + 1)); report "{\\"step\\": $n, \\"loss\\": %s}"
  [ $n != %s ] || await never
done"""

MEDIAN = {"type": "median_stopping_rule", "time_attr": "training_iteration", "grace_period": 2,
          "min_samples_required": 2}


class RulesTest(SceneTest):
    def ends(self):
        return [(trial["state"], trial["reason"]) for trial in self.scene.trials()]

    def verified(self):
        self.assertIn("as they must be", self.scene.hyperopt("verify", self.scene.dir))

    def test_median(self):
        # Losses 0, 1, 2, 3, 4, one after another: the first two have too few others, the rest are worse than
        # the median of those before them.
        scene = self.scene
        scene.search(TO_THE_END % ("$HYPEROPT_TRIAL", "$([ $HYPEROPT_TRIAL -lt 2 ] && echo 9 || echo 2)"),
                     num_samples=5, max_concurrent_trials=1, scheduler=MEDIAN)
        scene.run()
        self.assertEqual(self.ends(), [("completed", "")] * 2 + [("stopped", "pruned")] * 3)
        self.assertEqual(scene.query("select trial, level, stopped from rung order by trial"),
                         [(2, 2, 1), (3, 2, 1), (4, 2, 1)])
        self.verified()
        scene.nothing_left()

    def test_median_after_a_crash(self):
        # The controller dies when two curves are recorded; the one that takes over knows them.
        scene = self.scene
        scene.search(STEP_BY_STEP, num_samples=3, max_concurrent_trials=3, scheduler=MEDIAN)
        for step in (1, 2, 3, 4):
            scene.open(f"0.{step}")
            scene.open(f"1.{step}")
        process = scene.start()
        wait_until(lambda: scene.recorded(0) == 4 and scene.recorded(1) == 4, "the first two trials")
        wait_until(lambda: scene.recorded(2) == 1, "the third one's first report")
        process.send_signal(signal.SIGKILL)
        process.wait()
        scene.open("2.1")
        scene.run()
        self.assertEqual(self.ends(), [("completed", "")] * 2 + [("stopped", "pruned")])
        self.verified()
        scene.nothing_left()

    def test_simulate(self):
        # Four trials to their end; under asha two would have ended at the first rung.
        scene = self.scene
        scene.search(TO_THE_END % ("$HYPEROPT_TRIAL", 9), num_samples=4, max_concurrent_trials=1)
        scene.run()
        asha = "{type: asha, max_t: 4, reduction_factor: 2}"
        said = json.loads(scene.hyperopt("simulate", scene.dir, "--scheduler", asha, "--json"))
        self.assertEqual((said["recorded"]["time"], said["recorded"]["best"]), (16, 0))
        # Losses rise from trial to trial: after the first one each is stopped at once.
        self.assertEqual((said["simulated"]["time"], said["simulated"]["ended_early"]), (4 + 3, 3))
        self.assertEqual(said["simulated"]["cut_short"], [])
        self.assertIn("3 of 4 trials end before", scene.hyperopt("simulate", scene.dir, "--scheduler", asha))
        self.assertIn("did you mean asha?", scene.hyperopt("simulate", scene.dir, "--scheduler", "asah", code=2))
        self.assertIn("no report says epoch", scene.hyperopt(
            "simulate", scene.dir, "--scheduler", "{type: target, value: 1, time_attr: epoch}", code=2))
        # Promotion trains none of them further than it must to know the best.
        promotion = "{type: asha, mode: promotion, max_t: 4, reduction_factor: 2}"
        said = json.loads(scene.hyperopt("simulate", scene.dir, "--scheduler", promotion, "--json"))
        self.assertLess(said["simulated"]["time"], 16)
        self.assertEqual(said["simulated"]["best"], 0)
        self.assertIn("pbt can not be replayed", scene.hyperopt("simulate", scene.dir, "--scheduler", "pbt", code=2))
        said = scene.hyperopt("simulate", scene.dir, "--scheduler", "type: [", code=2)
        self.assertTrue(said.startswith("--scheduler: not valid YAML"), said)
        self.assertNotIn("--set", said)
        for number in ("0", "-1", "a", "1.5"):
            self.assertIn(f"--concurrency: {number} is not a whole number of 1 or more",
                          scene.hyperopt("simulate", scene.dir, "--concurrency", number, code=2))
        # A sweep whose trials were stopped does not know how they would have gone on.
        scene.search(TO_THE_END % ("$HYPEROPT_TRIAL", "$([ $HYPEROPT_TRIAL -lt 2 ] && echo 9 || echo 2)"),
                     num_samples=4, max_concurrent_trials=1, scheduler=MEDIAN)
        scene.run("--fresh")
        said = json.loads(scene.hyperopt("simulate", scene.dir, "--scheduler", "fifo", "--json"))
        self.assertEqual(said["simulated"]["cut_short"], [2, 3])

    def test_simulate_another_sampler(self):
        # The loss is the distance from 0.7: gp comes to the good ones before an order of chance does.
        scene = self.scene
        scene.search('report "{\\"loss\\": $(awk "BEGIN { d = $HYPEROPT_PARAM_X - 0.7; print d * d }")}"',
                     num_samples=60, max_concurrent_trials=4)
        scene.run()
        losses = [trial["best"] for trial in scene.trials()]
        words = ("simulate", scene.dir, "--sampler", "{type: gp, random_state: 3}", "--seeds", "2", "--concurrency", "1",
                 "--json")
        said = json.loads(scene.hyperopt(*words))
        self.assertEqual((said["trials"], said["seeds"], said["sampler"]), (60, 2, "gp"))
        after = {each["trials"]: each for each in said["best_after"]}
        self.assertEqual(list(after), [1, 2, 5, 10, 20, 50])
        for trials, each in after.items():
            self.assertEqual(each["recorded"], min(losses[:trials]))
        self.assertAlmostEqual(after[1]["random"], sum(losses) / 60)
        # Of two drawn, over all pairs.
        pairs = [min(a, b) for n, a in enumerate(losses) for b in losses[:n]]
        self.assertAlmostEqual(after[2]["random"], sum(pairs) / len(pairs))
        self.assertLess(after[20]["simulated"], after[20]["random"])
        self.assertLess(said["to_best"]["simulated"], 20)
        self.assertLess(said["distance"], 0.5)
        self.assertEqual(json.loads(scene.hyperopt(*words)), said)
        text = scene.hyperopt("simulate", scene.dir, "--sampler", "sobol", "--seeds", "2",
                              "--scheduler", "{type: asha, max_t: 9}")
        for words in ("sobol: each proposal is answered with the nearest of the 60", "trials to the best of all",
                      "never run can not be found", "60 reports"):
            self.assertIn(words, " ".join(text.split()))
        self.assertIn("choose nothing", scene.hyperopt(
            "simulate", scene.dir, "--sampler", "{type: list, rows: [{x: 0.1}]}", code=2))
        self.assertIn("did you mean tpe?", scene.hyperopt("simulate", scene.dir, "--sampler", "tpee", code=2))

    def test_any(self):
        # Trial 0 reaches the target, 1 stands still, 2 is worse than both at the second rung of asha.
        scene = self.scene
        scene.search("""
case $HYPEROPT_TRIAL in
  0) losses="5 4 3 1";;
  1) losses="2 2 2 2";;
  2) losses="6 6 6 6";;
esac
n=0
for loss in $losses; do
  n=$((n + 1)); report "{\\"step\\": $n, \\"loss\\": $loss}"
  await "$HYPEROPT_TRIAL.$n"
done""", num_samples=3, max_concurrent_trials=1, scheduler={
            "type": "any", "time_attr": "step", "of": [
                {"type": "asha", "max_t": 9, "grace_period": 2, "reduction_factor": 2},
                {"type": "target", "value": 1.5},
                {"type": "patience", "patience": 2}]})
        for step in (1, 2, 3):
            for trial in (0, 1):
                scene.open(f"{trial}.{step}")
        scene.open("2.1")
        said = scene.run()
        self.assertEqual(self.ends(),
                         [("completed", "target"), ("completed", "converged"), ("stopped", "pruned")])
        self.assertIn("2 completed, 1 stopped", said)
        self.verified()
        shown = scene.hyperopt("show", scene.dir, "1")
        self.assertIn("converged", shown)
        # Another rule is another search.
        scene.search("true", num_samples=3, scheduler={"type": "patience", "patience": 2})
        self.assertIn("hyperopt.executor.scheduler", scene.hyperopt(
            "--config", scene.config, "--output", scene.dir, code=2))
        scene.nothing_left()


if __name__ == "__main__":
    main(sys.argv)
