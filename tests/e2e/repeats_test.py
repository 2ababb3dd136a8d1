#!/usr/bin/env python3
"""Repeats, end to end: configurations that are run over several seeds, a sweep that is killed on its way, ask-tell.

  repeats_test.py BUILD_DIR [unittest's words]
"""

import contextlib
import json
import math
import os
import sqlite3
import subprocess
import sys

from scene import DONE, SceneTest, main
from sweep import kill, wait_until

# The seed decides how much comes on top of what the setting is worth.
TRIAL = """
mark seeds "$HYPEROPT_SEED $HYPEROPT_PARAM_X"
report "{\\"step\\": 1, \\"loss\\": $(awk "BEGIN { print $HYPEROPT_PARAM_X + ($HYPEROPT_SEED % 97) / 97 }")}"
"""


class RepeatsTest(SceneTest):
    def write(self, scene=None, trial=TRIAL, repeats=3, kind="tpe", **executor):
        scene = scene or self.scene
        scene.search(trial, **{"num_samples": 12, "max_concurrent_trials": 1, **executor})
        with open(scene.config) as file:
            search = json.load(file)
        search["hyperopt"]["repeats"] = repeats
        search["hyperopt"]["search_alg"]["type"] = kind
        with open(scene.config, "w") as file:
            json.dump(search, file)

    def configurations(self, scene=None):
        """Values of the repeats of each configuration, by its first trial."""
        found = {}
        for trial in (scene or self.scene).trials():
            found.setdefault(trial.get("parent", trial["id"]), []).append(trial)
        return found

    def test_the_best_is_the_one_with_the_best_mean(self):
        scene = self.scene
        self.write(max_concurrent_trials=3)
        said = " ".join(scene.hyperopt("check", scene.config).split())
        self.assertIn("14 to 36 trials: 12 configurations, each run once, promising ones up to 3 times", said)
        scene.run()
        self.assertIn("repeats", scene.hyperopt("verify", scene.dir))
        found = self.configurations()
        self.assertEqual(len(found), 12)
        for first, trials in found.items():
            self.assertEqual({json.dumps(trial["params"]) for trial in trials},
                             {json.dumps(trials[0]["params"])}, first)
        seeds = {number: word.split()[0] for number, _, word in scene.marks("seeds")}
        self.assertEqual(len(set(seeds.values())), len(seeds))
        self.assertLess(len(seeds), 36)
        means = {first: sum(trial["best"] for trial in trials) / len(trials) for first, trials in found.items()}
        exported = json.loads(scene.hyperopt("export", scene.dir, "--format", "json"))
        self.assertEqual(exported["sweep"]["value"], "best")
        self.assertEqual(sorted(tuple(sorted(each["trials"])) for each in exported["configurations"]),
                         sorted(tuple(sorted(trial["id"] for trial in trials)) for trials in found.values()))
        self.assertEqual([each["mean"] for each in exported["configurations"]],
                         sorted(each["mean"] for each in exported["configurations"]))
        winner = min(means, key=means.get)
        values = [trial["best"] for trial in found[winner]]
        self.assertEqual(len(values), 3)
        best = json.loads(scene.hyperopt("best", scene.dir, "--json"))
        self.assertAlmostEqual(best["value"], means[winner])
        error = math.sqrt(sum((value - means[winner]) ** 2 for value in values) / 2 / 3)
        self.assertAlmostEqual(best["repeats"]["error"], error)
        self.assertEqual(best["repeats"]["trials"], [trial["id"] for trial in found[winner]])
        self.assertEqual(best["trial"], min(found[winner], key=lambda trial: trial["best"])["id"])
        with open(os.path.join(scene.dir, "best.json")) as file:
            self.assertEqual(json.load(file), best)
        self.assertAlmostEqual(float(scene.hyperopt("best", scene.dir, "--metric-only")), means[winner])
        self.assertIn(" of 3: the mean of trials ", scene.hyperopt("best", scene.dir))
        status = json.loads(scene.hyperopt("status", scene.dir, "--json"))
        self.assertAlmostEqual(status["best"]["value"], means[winner])
        self.assertEqual(status["best"]["repeats"], 3)
        self.assertEqual(status["counts"]["planned"], len(seeds))
        table = [line.split() for line in scene.hyperopt("trials", scene.dir).splitlines()]
        self.assertEqual(table[0], ["trial", "state", "loss", "mean", "error", "n", "of", "step", "x"])
        self.assertEqual([int(row[0]) for row in table[1:4]], best["repeats"]["trials"])
        self.table_by_column(means)
        self.assertIn(f"its settings, trials {found[winner][0]['id']}",
                      scene.hyperopt("show", scene.dir, str(best["trial"])))
        self.assertIn(f"HYPEROPT_SEED={seeds[best['trial']]}", scene.hyperopt("show", scene.dir, str(best["trial"])))
        top = scene.hyperopt("best", scene.dir, "--top", "2").splitlines()
        self.assertEqual(int(top[1].split()[0]), best["trial"])

    def table_by_column(self, means):
        """Sorted by any of the columns; the plot draws what `best` would have said."""
        scene = self.scene

        def column(name, sort):
            lines = [line.split() for line in scene.hyperopt("trials", scene.dir, "--limit", "0",
                                                             "--sort", sort).splitlines()]
            return [float(row[lines[0].index(name)]) for row in lines[1:]]

        for name in ("mean", "loss", "of", "n", "step"):
            values = column(name, name)
            self.assertEqual(values, sorted(values), name)
            self.assertEqual(column(name, f"-{name}"), sorted(values, reverse=True), name)
        said = scene.hyperopt("trials", scene.dir, "--sort", "maen", code=2)
        self.assertIn("did you mean mean?", said)
        self.assertRegex(said, "there are best, .*error, .*loss, mean, n, .*parameters x")
        plot = scene.hyperopt("trials", scene.dir, "--plot").split("\n\n")[0].splitlines()
        self.assertIn("mean loss of the best configuration", plot[0])
        # The newest value is the last in its line: that of the best mean.
        drawn = [line.split("|")[1] for line in plot if "|" in line]
        labels = [line.split("|")[0].split() for line in plot if "|" in line]
        lowest, highest = float(labels[-1][0]), float(labels[0][0])
        end = max(range(len(drawn)), key=lambda line: len(drawn[line]))
        share = (min(means.values()) - lowest) / (highest - lowest)
        self.assertAlmostEqual(end, (1 - share) * (len(drawn) - 1), delta=1)

    def test_killed_in_the_middle_it_decides_as_undisturbed(self):
        undisturbed = self.new_scene(os.path.join(self.scene.folder, "undisturbed"))
        os.mkdir(undisturbed.folder)
        self.write(undisturbed)
        undisturbed.run()
        scene = self.scene
        self.write(scene)
        for count in (3, 8, 13):
            process = scene.start()
            wait_until(lambda: process.poll() is not None or len(scene.states()) > count, f"trial {count}")
            self.assertIsNone(process.poll(), scene.output())
            kill(process.pid)
            process.wait()
        scene.run()
        scene.hyperopt("verify", scene.dir)
        self.assertEqual(scene.parameters(), undisturbed.parameters())
        decided = "select id, state, best, parent from trial order by id"
        self.assertEqual(scene.query(decided), undisturbed.query(decided))
        scene.nothing_left()

    def test_a_repeat_that_fails_puts_its_configuration_behind(self):
        scene = self.scene
        # The second repeat of any configuration below 0.5 fails.
        self.write(trial='bad=$(awk "BEGIN { print ($HYPEROPT_PARAM_X < 0.5) }")\n'
                         'before=$(ls "$here" | grep -c "^ran $HYPEROPT_PARAM_X ")\n'
                         ': > "$here/ran $HYPEROPT_PARAM_X $HYPEROPT_TRIAL"\n'
                         '[ $before = 0 ] || [ $bad = 0 ] || exit 1\n'
                         'report "{\\"step\\": 1, \\"loss\\": $HYPEROPT_PARAM_X}"', kind="random")
        scene.run()
        scene.hyperopt("verify", scene.dir)
        best = json.loads(scene.hyperopt("best", scene.dir, "--json"))
        self.assertFalse(best["repeats"]["failed"])
        self.assertGreaterEqual(best["value"], 0.5)
        found = self.configurations()
        failed = [trials for trials in found.values() if trials[-1]["state"] == "failed"]
        self.assertTrue(failed)
        for trials in failed:
            self.assertEqual([trial["state"] for trial in trials], ["completed", "failed"])

    def test_a_changed_record_is_noticed(self):
        scene = self.scene
        self.write(kind="random")
        scene.run()
        repeat, first = scene.query("select id, parent from trial where parent is not null order by id")[0]
        other = next(trial["id"] for trial in scene.trials() if trial["id"] not in (repeat, first))
        with contextlib.closing(sqlite3.connect(os.path.join(scene.dir, "sweep.db"))) as db:
            db.execute(f"update trial set parent = {other} where id = {repeat}")
            db.commit()
        said = scene.hyperopt("verify", scene.dir, code=1)
        self.assertIn(f"trial {repeat}: it is a repeat of trial {other}", said)
        self.assertIn("are not those of trial", said)

    def test_final_takes_configurations_by_their_mean(self):
        scene = self.scene
        self.write(kind="random")
        scene.run()
        said = scene.hyperopt("final", scene.dir, "--top", "2", "--seeds", "2")
        best = json.loads(scene.hyperopt("best", scene.dir, "--json"))
        self.assertIn(f"trial {best['trial']}", said)
        self.assertEqual(len(scene.query("select id from trial")), len(scene.trials()))

    def test_keep_spares_the_best_of_the_best(self):
        scene = self.scene
        self.write(kind="random")
        with open(scene.config) as file:
            search = json.load(file)
        search["keep"] = {"folders": "best"}
        with open(scene.config, "w") as file:
            json.dump(search, file)
        scene.run()
        best = json.loads(scene.hyperopt("best", scene.dir, "--json"))
        self.assertEqual(os.listdir(os.path.join(scene.dir, "trials")), [str(best["trial"])])
        scene.hyperopt("verify", scene.dir)

    def test_trials_that_are_given_are_repeated_too(self):
        scene = self.scene
        self.write(trial=DONE, kind="random", num_samples=4)
        scene.run()
        scene.hyperopt("add", scene.dir, "--params", '{"x": 0.0}')
        scene.run()
        given = scene.query("select id from trial where history = -1")[0][0]
        self.assertEqual(len(self.configurations()[given]), 3)
        scene.hyperopt("verify", scene.dir)
        scene.hyperopt("resume", scene.dir, "--trials", "+3")
        self.assertEqual(len(self.configurations()), 8)
        scene.hyperopt("verify", scene.dir)


class AskTellTest(SceneTest):
    def test_ask_gives_the_same_settings_with_another_seed(self):
        scene = self.scene
        search = {"hyperopt": {"metric": "loss", "repeats": 3, "search_alg": {"type": "tpe", "random_state": 5},
                               "parameters": {"x": {"space": "uniform", "lower": 0, "upper": 1}},
                               "executor": {"num_samples": 10}}}
        with open(scene.config, "w") as file:
            json.dump(search, file)
        told = self.drive(scene.dir, restart_every=4)
        again = self.drive(os.path.join(scene.folder, "undisturbed"))
        self.assertEqual(told, again)
        found = {}
        for _, params, repeat, _ in told:
            found.setdefault(json.dumps(params), []).append(repeat)
        self.assertEqual(len(found), 10)
        for repeats in found.values():
            self.assertEqual(repeats, list(range(len(repeats))))
        self.assertEqual(max(len(repeats) for repeats in found.values()), 3)
        self.assertEqual(len({seed for *_, seed in told}), len(told))
        scene.hyperopt("verify", scene.dir)
        best = json.loads(scene.hyperopt("best", scene.dir, "--json"))
        self.assertEqual(best["repeats"]["n"], 3)

    def drive(self, folder, restart_every=1000):
        scene = self.scene
        told = []
        while True:
            process = scene.spawn("ask-tell", "--config", scene.config, "--output", folder, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)

            def call(**request):
                print(json.dumps(request), file=process.stdin, flush=True)
                return json.loads(process.stdout.readline())

            for _ in range(restart_every):
                answer = call(op="ask")
                if "done" in answer:
                    process.stdin.close()
                    process.stdout.close()
                    self.assertEqual(process.wait(), 0)
                    return told
                told.append((answer["trial"], answer["params"], answer["repeat"], answer["seed"]))
                value = answer["params"]["x"] + answer["seed"] % 97 / 97
                self.assertEqual(call(op="tell", trial=answer["trial"], value=value), {"ok": True})
            call(op="ask")  # it is handed out again
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()


if __name__ == "__main__":
    main(sys.argv)
