#!/usr/bin/env python3
"""Several objectives, end to end: the front of a sweep that was killed on its way, and through ask-tell.

  objectives_test.py BUILD_DIR [unittest's words]
"""

import json
import subprocess
import sys

from scene import SceneTest, main
from sweep import DEADLINE_S

OBJECTIVES = [{"metric": "loss", "goal": "minimize"}, {"metric": "speed", "goal": "maximize"}]
# The first line is of a step that does not count; the objectives may come in two lines.
TRIAL = ('report "{\\"step\\": 1, \\"loss\\": 9, \\"speed\\": 0}"; '
         'report "{\\"step\\": 2, \\"loss\\": $HYPEROPT_PARAM_X}"; '
         'report "{\\"step\\": 2, \\"speed\\": $(awk "BEGIN { print $HYPEROPT_PARAM_X ^ 2 - $HYPEROPT_PARAM_Y }")}"; '
         'mark done x')


def front_of(trials):
    """By the definition, of (trial, loss, speed)."""
    return {a[0] for a in trials
            if not any(b[1] <= a[1] and b[2] >= a[2] and (b[1] < a[1] or b[2] > a[2]) for b in trials)}


class ObjectivesTest(SceneTest):
    def write(self, **more):
        scene = self.scene
        scene.search(TRIAL, num_samples=20)
        with open(scene.config) as file:
            search = json.load(file)
        hyperopt = search["hyperopt"]
        del hyperopt["metric"]
        hyperopt["objectives"] = OBJECTIVES
        hyperopt["parameters"]["y"] = {"space": "uniform", "lower": 0, "upper": 0.3}
        hyperopt["search_alg"] = {"type": "tpe", "random_state": 3}
        hyperopt.update(more)
        with open(scene.config, "w") as file:
            json.dump(search, file)

    def test_the_front_of_a_sweep(self):
        scene = self.scene
        self.write()
        self.assertIn("minimize loss, maximize speed", scene.hyperopt("check", scene.config))
        process = scene.start()
        scene.await_marks("done", 4)
        process.kill()
        process.wait()
        scene.run()
        scene.hyperopt("verify", scene.dir)
        results = []
        for trial in scene.trials():
            params = trial["params"]
            results.append((trial["id"], params["x"], params["x"] ** 2 - params["y"]))
        expected = front_of(results)
        best = json.loads(scene.hyperopt("best", scene.dir, "--json"))
        self.assertEqual({each["trial"] for each in best["front"]}, expected)
        self.assertEqual(best["value"], min(loss for _, loss, _ in results))
        for each in best["front"]:
            _, loss, speed = results[each["trial"]]
            self.assertAlmostEqual(each["values"]["loss"], loss)
            self.assertAlmostEqual(each["values"]["speed"], speed, 4)
        table = scene.hyperopt("trials", scene.dir).splitlines()
        self.assertEqual(table[0].split()[:5], ["trial", "state", "loss", "speed", "step"])
        self.assertAlmostEqual(float(table[1].split()[3]), results[int(table[1].split()[0])][2], 3)
        by_speed = json.loads(scene.hyperopt("trials", scene.dir, "--json", "--sort", "speed"))
        self.assertEqual([trial["id"] for trial in by_speed],
                         [result[0] for result in sorted(results, key=lambda result: -result[2])])
        said = scene.hyperopt("best", scene.dir)
        self.assertIn(f"{len(expected)} trials trade minimize loss, maximize speed off", said)

    def test_a_trial_that_lacks_one_has_failed(self):
        scene = self.scene
        scene.search('report "{\\"loss\\": $HYPEROPT_TRIAL, \\"speed\\": NaN}"; '
                     '[ $HYPEROPT_TRIAL = 0 ] || report "{\\"loss\\": $HYPEROPT_TRIAL, \\"speed\\": 1}"', num_samples=3)
        with open(scene.config) as file:
            search = json.load(file)
        del search["hyperopt"]["metric"]
        search["hyperopt"]["objectives"] = OBJECTIVES
        with open(scene.config, "w") as file:
            json.dump(search, file)
        scene.run()
        trials = scene.trials()
        self.assertEqual([trial["state"] for trial in trials], ["failed", "completed", "completed"])
        self.assertIn("speed", scene.hyperopt("show", scene.dir, "0"))
        best = json.loads(scene.hyperopt("best", scene.dir, "--json"))
        self.assertEqual((best["trial"], [each["trial"] for each in best["front"]]), (1, [1]))
        scene.hyperopt("verify", scene.dir)

    def test_what_can_not_be(self):
        scene = self.scene
        self.write(metric="loss")
        self.assertIn("leave it out here", scene.hyperopt("check", scene.config, code=2))
        self.write(objectives=OBJECTIVES[:1])
        self.assertIn("must be a list of 2 to 4", scene.hyperopt("check", scene.config, code=2))
        self.write(objectives=OBJECTIVES + OBJECTIVES[:1])
        self.assertIn("names a metric that is there", scene.hyperopt("check", scene.config, code=2))

    def test_through_ask_tell(self):
        scene = self.scene
        self.write()
        session = subprocess.Popen([scene.binary, "ask-tell", "--config", scene.config, "--output", scene.dir],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=scene.folder,
                                   env=scene.env)

        def say(**request):
            session.stdin.write(json.dumps(request) + "\n")
            session.stdin.flush()
            return json.loads(session.stdout.readline())
        results = []
        for _ in range(15):
            asked = say(op="ask")
            x, y = asked["params"]["x"], asked["params"]["y"]
            self.assertEqual(say(op="tell", trial=asked["trial"], value=x, speed=x * x - y), {"ok": True})
            results.append((asked["trial"], x, x * x - y))
        session.stdin.close()
        self.assertEqual(session.wait(DEADLINE_S), 0)
        session.stdout.close()
        best = json.loads(scene.hyperopt("best", scene.dir, "--json"))
        self.assertEqual({each["trial"] for each in best["front"]}, front_of(results))


if __name__ == "__main__":
    main(sys.argv)
