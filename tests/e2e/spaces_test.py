#!/usr/bin/env python3
"""What a search may propose, end to end: conditional parameters, constraints, results known before it begins.

  spaces_test.py BUILD_DIR [unittest's words]
"""

import json
import os
import sqlite3
import sys

from scene import SceneTest, main

SPACE = {"optimizer": {"space": "choice", "categories": ["sgd", "adam"]},
         "momentum": {"space": "uniform", "lower": 0, "upper": 1, "when": {"optimizer": ["sgd"]}},
         "layers": {"space": "int", "lower": 1, "upper": 9}}
TRIAL = 'mark words "$#"; report "{\\"loss\\": $HYPEROPT_PARAM_LAYERS}"'


class SpacesTest(SceneTest):
    def write(self, alg, num_samples=12, parameters=None, **more):
        scene = self.scene
        scene.search(TRIAL, num_samples=num_samples)
        with open(scene.config) as file:
            search = json.load(file)
        search["command"].append("${args}")
        search["hyperopt"]["parameters"] = parameters or SPACE
        search["hyperopt"]["search_alg"] = alg
        search["hyperopt"].update(more)
        with open(scene.config, "w") as file:
            json.dump(search, file)

    def test_conditions_and_constraints_over_a_kill(self):
        scene = self.scene
        self.write({"type": "tpe", "random_state": 3}, constraints=["optimizer != 'adam' or layers > 2"])
        said = scene.hyperopt("check", scene.config)
        self.assertIn("where optimizer is sgd", said)
        self.assertIn("such that   optimizer != 'adam' or layers > 2", said)
        process = scene.start()
        scene.await_marks("words", 3)
        process.kill()
        process.wait()
        scene.run()
        trials = scene.trials()
        self.assertEqual([trial["state"] for trial in trials], ["completed"] * 12)
        for trial in trials:
            params = trial["params"]
            self.assertEqual("momentum" in params, params["optimizer"] == "sgd", params)
            self.assertTrue(params["optimizer"] != "adam" or params["layers"] > 2, params)
        # ${args} has a word less where momentum takes no part; one word is the test's own.
        for trial, _, words in scene.marks("words"):
            self.assertEqual(int(words), 1 + len(trials[trial]["params"]))
        self.assertIn("as they must be", scene.hyperopt("verify", scene.dir))

    def test_what_is_added_by_hand_is_held_to_them(self):
        scene = self.scene
        self.write({"type": "random", "random_state": 3}, num_samples=2, constraints=["layers < 6"])
        scene.run()
        said = scene.hyperopt("add", scene.dir, "--params", '{"layers": 7}', code=2)
        self.assertIn("constraint layers < 6 does not hold", said)
        said = scene.hyperopt("add", scene.dir, "--params", '{"layers": 3, "optimizer": "adam", "momentum": 0.5}')
        self.assertIn("momentum takes no part", said)
        scene.run()
        self.assertEqual(scene.trials()[2]["params"], {"layers": 3, "optimizer": "adam"})
        scene.hyperopt("verify", scene.dir)

    def test_what_is_given_takes_part(self):
        scene = self.scene
        self.write({"type": "random", "random_state": 3}, num_samples=2)
        scene.run()
        for value in (0.123, 0.9, 0.777):
            self.assertIn("added", scene.hyperopt("add", scene.dir, "--params", json.dumps({"momentum": value})))
        table = os.path.join(scene.folder, "rows.csv")
        with open(table, "w") as file:
            file.write("optimizer,layers\nadam,4\nadam,4\nadam,5\n")
        said = scene.hyperopt("add", scene.dir, "--csv", table)
        self.assertIn("1 stand there twice", said)
        scene.run()
        params = [trial["params"] for trial in scene.trials()]
        self.assertEqual([each["momentum"] for each in params[2:5]], [0.123, 0.9, 0.777])
        self.assertEqual({each["optimizer"] for each in params[2:5]}, {"sgd"})
        self.assertEqual(params[5:], [{"optimizer": "adam", "layers": 4}, {"optimizer": "adam", "layers": 5}])
        scene.hyperopt("verify", scene.dir)

    def test_final_of_what_has_not_every_parameter(self):
        scene = self.scene
        either = {"optimizer": {"space": "choice", "categories": ["sgd", "adam"]},
                  "momentum": {"space": "uniform", "lower": 0, "upper": 1, "when": {"optimizer": "sgd"}},
                  "beta": {"space": "uniform", "lower": 0, "upper": 1, "when": {"optimizer": "adam"}},
                  "layers": SPACE["layers"]}
        self.write({"type": "random", "random_state": 3}, num_samples=8, parameters=either)
        scene.run()
        best = json.loads(scene.hyperopt("best", scene.dir, "--json"))
        said = scene.hyperopt("final", scene.dir, "--top", "2", "--seeds", "2")
        self.assertIn("winner: trial", said)
        with open(os.path.join(scene.dir, "best", "params.json")) as file:
            winner = json.load(file)
        self.assertEqual(winner["layers"], best["params"]["layers"])

    def test_a_new_start_from_its_own_results(self):
        scene = self.scene
        self.write({"type": "tpe", "random_state": 3}, num_samples=6)
        scene.run()
        alg = {"type": "tpe", "random_state": 3, "warm_start": [scene.dir]}
        self.write(alg, num_samples=3)
        self.assertIn("6 of 6 trials", scene.run("--fresh"))
        # What can not be read leaves the folder where it is.
        self.write({**alg, "warm_start": ["nowhere"]}, num_samples=3)
        self.assertIn("there is no sweep here", scene.run("--fresh", code=2))
        self.assertEqual(len(scene.trials()), 3)

    def test_warm_start(self):
        scene = self.scene
        self.write({"type": "random", "random_state": 3}, num_samples=20)
        scene.run()
        first = os.path.join(scene.folder, "first")
        os.rename(scene.dir, first)
        narrower = {"layers": {"space": "int", "lower": 1, "upper": 5}, "optimizer": SPACE["optimizer"]}
        alg = {"type": "tpe", "random_state": 5, "warm_start": ["first"]}
        self.write(alg, num_samples=4, parameters=narrower)
        said = scene.hyperopt("check", scene.config)
        self.assertIn(f"warm start from {first}: ", said)
        self.assertIn("momentum is none of this search's parameters", said)
        self.assertIn("layers is out of its range", said)
        out = scene.run()
        self.assertIn("warm start from", out)
        warm = scene.trials()
        with sqlite3.connect(os.path.join(scene.dir, "sweep.db")) as db:
            resolved, = db.execute("select value from sweep_text where name = 'resolved'").fetchone()
        self.assertGreater(len(json.loads(resolved)["hyperopt"]["search_alg"]["known"]), 5)
        # What the first one had is in the record: it may be gone, and the search goes on and proves itself.
        os.rename(first, first + " gone")
        scene.hyperopt("verify", scene.dir)
        scene.hyperopt("resume", scene.dir, "--trials", "+2")
        self.assertEqual(len(scene.trials()), 6)
        scene.hyperopt("verify", scene.dir)
        # Without what is known the proposals are others.
        os.rename(scene.dir, os.path.join(scene.folder, "second"))
        self.write({"type": "tpe", "random_state": 5}, num_samples=4, parameters=narrower)
        scene.run()
        self.assertNotEqual([t["params"] for t in scene.trials()], [t["params"] for t in warm])

    def test_warm_start_that_can_not_be(self):
        scene = self.scene
        self.write({"type": "tpe", "warm_start": ["nowhere"]})
        said = scene.run(code=2)
        self.assertRegex(said, r"search\.yaml:\d+:\d+: hyperopt\.search_alg\.warm_start: ")
        self.assertIn("there is no sweep here", said)
        self.write({"type": "random", "warm_start": ["nowhere"]})
        self.assertIn("has no use with this type", scene.run(code=2))
        self.assertFalse(os.path.exists(os.path.join(scene.dir, "sweep.db")))


if __name__ == "__main__":
    main(sys.argv)
