#!/usr/bin/env python3
"""A sweep that is changed while it lives: add, stop TRIAL, pause, set, --amend, final, hooks.

  living_test.py BUILD_DIR [unittest's words]
"""

import json
import os
import signal
import sys

from scene import DONE, SceneTest, main
from sweep import group_lives, wait_until

AT_THE_GATE = "mark started .; await go; " + DONE


class LivingTest(SceneTest):
    def status(self):
        return json.loads(self.scene.hyperopt("status", self.scene.dir, "--json"))

    def events(self, kind):
        return self.scene.query(f"select trial, detail from event where kind = '{kind}' order by number")

    def start_at_gate(self, **executor):
        self.scene.search(AT_THE_GATE, **{"num_samples": 4, **executor})
        process = self.scene.start()
        self.scene.await_marks("started", 2)
        return process

    def finish(self, process):
        self.scene.open("go")
        self.scene.expect(process)
        self.scene.hyperopt("verify", self.scene.dir)
        self.scene.nothing_left()


class AddTest(LivingTest):
    def test_add_settings_to_a_running_sweep(self):
        scene = self.scene
        process = self.start_at_gate()
        said = scene.hyperopt("add", scene.dir, "--params", '{"x": 0.25}')
        self.assertEqual(said, "added: trial 2\n")
        self.assertEqual(self.status()["counts"]["planned"], 5)
        # Outside of its range is said, and run.
        self.assertIn("x = 7.0 is not in its space", scene.hyperopt("add", scene.dir, "--params", '{"x": 7}'))
        self.finish(process)
        trials = scene.trials()
        self.assertEqual([trial["state"] for trial in trials], ["completed"] * 6)
        self.assertEqual((trials[2]["params"], trials[3]["params"]), ({"x": 0.25}, {"x": 7.0}))
        self.assertEqual([trial for trial, _ in self.events("added")], [2, 3])
        self.assertIn("2 given by hand", scene.hyperopt("verify", scene.dir))

    def test_proposals_are_those_of_an_undisturbed_sweep(self):
        scene = self.scene
        process = self.start_at_gate()
        scene.hyperopt("add", scene.dir, "--params", '{"x": 0.25}')
        self.finish(process)
        added = [trial["params"]["x"] for trial in scene.trials()]
        plain = self.new_scene(os.path.join(scene.folder, "plain"))
        os.makedirs(plain.folder, exist_ok=True)
        plain.search(DONE)
        plain.run()
        self.assertEqual([x for x in added if x != 0.25], [trial["params"]["x"] for trial in plain.trials()])

    def test_wrong_settings_are_refused_and_nothing_is_added(self):
        scene = self.scene
        process = self.start_at_gate()
        for params, word in (('{"y": 1}', "no parameter y"), ('{"x": "a"}', "of another type"),
                             ('{"x": 1', "write a JSON object"), ('[1]', "write a JSON object")):
            self.assertIn(word, scene.hyperopt("add", scene.dir, "--params", params, code=2))
        self.assertIn("add wants", scene.hyperopt("add", scene.dir, code=2))
        self.finish(process)
        self.assertEqual(len(scene.trials()), 4)

    def test_the_same_settings_twice_are_one_trial(self):
        scene = self.scene
        process = self.start_at_gate()
        scene.hyperopt("add", scene.dir, "--params", '{"x": 0.25}')
        self.assertIn("trial 2 has these already", scene.hyperopt("add", scene.dir, "--params", '{"x": 0.25}'))
        self.assertIn("trial 3", scene.hyperopt("add", scene.dir, "--again", "--params", '{"x": 0.25}'))
        table = os.path.join(scene.folder, "runs of mine.csv")
        with open(table, "w") as file:
            file.write("x\n0.25\n0.5\n1e-1\n")
        self.assertIn("trials 4 to 5", scene.hyperopt("add", scene.dir, "--csv", table))
        with open(table, "a") as file:
            file.write("oops,1\n")
        self.assertIn("runs of mine.csv:5", scene.hyperopt("add", scene.dir, "--csv", table, code=2))
        self.finish(process)
        self.assertEqual(len(scene.trials()), 8)

    def test_more_trials(self):
        scene = self.scene
        process = self.start_at_gate()
        self.assertIn("7 trials are planned, 4 before", scene.hyperopt("add", scene.dir, "--trials", "3"))
        self.finish(process)
        self.assertEqual(len(scene.trials()), 7)
        # And where none runs.
        self.assertIn("hyperopt resume", scene.hyperopt("add", scene.dir, "--trials", "2"))
        self.assertEqual((self.status()["state"], self.status()["counts"]["planned"]), ("interrupted", 9))
        scene.run()
        self.assertEqual(len(scene.trials()), 9)
        self.completed()

    def test_more_trials_than_any_sweep_has(self):
        scene = self.scene
        scene.search(DONE)
        scene.run()
        most = str(2**31)
        self.assertIn("a sweep has 2147483648 trials at most",
                      scene.hyperopt("add", scene.dir, "--trials", str(2**63 - 1), code=2))
        self.assertIn("too many", scene.hyperopt("add", scene.dir, "--trials", most, code=2))
        self.assertIn("too many", scene.hyperopt("resume", scene.dir, "--trials", "+" + most, code=2))
        self.assertEqual((self.status()["state"], self.status()["counts"]["planned"]), ("finished", 4))

    def test_a_table_with_open_cells_twice(self):
        scene = self.scene
        scene.search(DONE, num_samples=1, parameters={name: {"space": "uniform", "lower": 0, "upper": 1} for name in "xy"})
        scene.run()
        table = os.path.join(scene.folder, "runs.csv")
        with open(table, "w") as file:
            file.write("x,y\n0.25,\n,\n0.5,0.75\n")
        said = scene.hyperopt("add", scene.dir, "--csv", table)
        self.assertIn("runs.csv:3: every cell is empty", said)
        self.assertIn("trials 1 to 2", said)
        with open(table, "a") as file:
            file.write(",0.25\n")
        said = scene.hyperopt("add", scene.dir, "--csv", table)
        self.assertIn("2 are trials already", said)
        self.assertIn("added: trial 3\n", said)

    def test_what_is_said_of_rows_names_them(self):
        scene = self.scene
        scene.search(DONE)
        scene.run()
        table = os.path.join(scene.folder, "runs.csv")
        with open(table, "w") as file:
            file.write("x\n0.25\n\n7\n8\n")
        said = scene.hyperopt("add", scene.dir, "--csv", table)
        self.assertIn(f"{table}:4: x = 7.0 is not in its space", said)
        self.assertIn(f"{table}:5: x = 8.0 is not in its space", said)
        with open(table, "a") as file:
            file.write("a\n")
        self.assertIn(f"{table}:6: x: \"a\" is of another type", scene.hyperopt("add", scene.dir, "--csv", table, code=2))
        said = scene.hyperopt("add", scene.dir, "--params", '{"x": 0.5}', "--params", '{"x": 9}')
        self.assertIn("\ntrial 8: x = 9.0 is not in its space", said)
        self.assertIn("\nx = 10.0 is not in its space", scene.hyperopt("add", scene.dir, "--params", '{"x": 10}'))

    def test_what_changes_nothing_holds_from_no_start(self):
        scene = self.scene
        scene.search(DONE)
        scene.run()
        self.assertEqual(scene.hyperopt("stop", scene.dir, "0"), "trial 0 completed: nothing to stop\n")
        self.assertEqual(scene.hyperopt("unpause", scene.dir), "not paused\n")
        self.assertIn("holds from the next start", scene.hyperopt("pause", scene.dir))
        self.assertEqual(scene.hyperopt("pause", scene.dir), "paused already\n")

    def test_add_where_no_controller_runs(self):
        scene = self.scene
        scene.search(DONE)
        scene.run()
        self.assertIn("it holds from the next start", scene.hyperopt("add", scene.dir, "--params", '{"x": 0.25}'))
        scene.hyperopt("verify", scene.dir)
        self.assertEqual(scene.states(), ["completed"] * 4 + ["pending"])
        scene.run()
        self.completed()
        self.assertEqual(scene.trials()[4]["params"], {"x": 0.25})

    def test_controller_is_killed_between_commit_and_answer(self):
        scene = self.scene
        scene.search(AT_THE_GATE, num_samples=4)
        scene.binary = os.path.join(self.build, "hyperopt_faulty")
        process = scene.start(env={**scene.env, "HYPEROPT_FAILPOINT": "controller.before_answer"})
        scene.binary = os.path.join(self.build, "hyperopt")
        scene.await_marks("started", 2)
        # It finds out that it is done, and does not do it twice.
        self.assertIn("added: trial 2", scene.hyperopt("add", scene.dir, "--params", '{"x": 0.25}'))
        self.assertEqual(process.wait(), -signal.SIGKILL)
        self.assertEqual(len(self.events("added")), 1)
        scene.hyperopt("verify", scene.dir)
        self.finish(scene.start())
        self.assertEqual([trial["state"] for trial in scene.trials()], ["completed"] * 5)

    def test_command_is_killed_after_its_commit(self):
        scene = self.scene
        scene.search(AT_THE_GATE, num_samples=4)
        process = scene.start()
        scene.await_marks("started", 2)
        process.kill()
        process.wait()
        faulty = os.path.join(self.build, "hyperopt_faulty")
        env = {**scene.env, "HYPEROPT_FAILPOINT": "change.after_commit"}
        binary, scene.binary = scene.binary, faulty
        scene.hyperopt("add", scene.dir, "--params", '{"x": 0.25}', env=env, code=None)
        scene.binary = binary
        self.assertEqual(len(self.events("added")), 1)
        self.assertIn("trial 2 has these already", scene.hyperopt("add", scene.dir, "--params", '{"x": 0.25}'))
        self.finish(scene.start())


class StopTrialTest(LivingTest):
    def test_running_and_pending(self):
        scene = self.scene
        process = self.start_at_gate()
        scene.hyperopt("add", scene.dir, "--params", '{"x": 0.25}')
        said = scene.hyperopt("stop", scene.dir, "0", "2")
        self.assertEqual(said.splitlines(), ["trial 0 is told to stop, for good",
                                             "trial 2 is stopped before it starts"])
        wait_until(lambda: scene.states()[0] == "stopped", "its end")
        self.assertIn("nothing to stop", scene.hyperopt("stop", scene.dir, "0"))
        self.assertIn("there is no trial 99", scene.hyperopt("stop", scene.dir, "1", "99", code=2))
        self.finish(process)
        trials = scene.trials()
        self.assertEqual([trial["state"] for trial in trials],
                         ["stopped", "completed", "stopped", "completed", "completed"])
        self.assertEqual([trials[0]["reason"], trials[2]["reason"]], ["user", "user"])

    def test_where_no_controller_runs(self):
        scene = self.scene
        process = self.start_at_gate()
        process.kill()
        process.wait()
        self.assertIn("told to stop", scene.hyperopt("stop", scene.dir, "1"))
        self.finish(scene.start())
        trials = scene.trials()
        self.assertEqual((trials[1]["state"], trials[1]["reason"]), ("stopped", "user"))
        self.assertEqual([trial["state"] for trial in trials].count("completed"), 3)


class PauseTest(LivingTest):
    def test_pause_holds_over_a_restart(self):
        scene = self.scene
        process = self.start_at_gate()
        self.assertIn("nothing new starts, 2 running go on", scene.hyperopt("pause", scene.dir))
        self.assertEqual(scene.hyperopt("pause", scene.dir), "paused already\n")
        self.assertEqual(self.status()["state"], "paused")
        self.assertIn("paused", scene.hyperopt("status", scene.dir))
        scene.open("go")
        wait_until(lambda: scene.states() == ["completed", "completed"], "the two that ran")
        process.kill()
        process.wait()
        process = scene.start()
        wait_until(lambda: self.status()["state"] == "paused" and self.status()["executors"] == 1, "the next life")
        self.assertEqual(len(scene.states()), 2)
        self.assertIn("new trials start again", scene.hyperopt("unpause", scene.dir))
        self.finish(process)
        self.assertEqual(scene.states(), ["completed"] * 4)

    def test_unpause_where_no_controller_runs(self):
        scene = self.scene
        process = self.start_at_gate()
        scene.hyperopt("pause", scene.dir)
        process.kill()
        process.wait()
        self.assertIn("paused: nothing new starts", scene.hyperopt("status", scene.dir))
        scene.hyperopt("unpause", scene.dir)
        self.finish(scene.start())
        self.assertEqual(scene.states(), ["completed"] * 4)


class SetTest(LivingTest):
    def test_other_limits(self):
        scene = self.scene
        process = self.start_at_gate(num_samples=6)
        said = scene.hyperopt("set", scene.dir, "max_concurrent_trials=1", "num_samples=3")
        self.assertIn("max_concurrent_trials: 2 -> 1", said)
        self.assertIn("2 run; the next starts when fewer than 1 are left", said)
        status = self.status()
        self.assertEqual((status["max_concurrent_trials"], status["counts"]["planned"]), (1, 3))
        for word in ("metric=x", "heartbeat_s=1"):
            self.assertIn("can not be set while a sweep lives", scene.hyperopt("set", scene.dir, word, code=2))
        self.assertIn("max_concurrent_trials", scene.hyperopt("set", scene.dir, "max_concurrent_trials=x", code=2))
        self.finish(process)
        self.assertEqual(len(scene.trials()), 3)
        self.assertEqual(len(self.events("set")), 1)

    def test_holds_over_a_restart_until_the_file_is_edited(self):
        scene = self.scene
        process = self.start_at_gate()
        scene.hyperopt("set", scene.dir, "num_samples=3")
        process.kill()
        process.wait()
        self.finish(scene.start())
        self.assertEqual(len(scene.trials()), 3)
        scene.search(AT_THE_GATE, num_samples=5)
        self.assertIn("the search file was edited and wins", scene.run())
        self.assertEqual(len(scene.trials()), 5)

    def test_gpus(self):
        scene = self.scene
        scene.search(AT_THE_GATE, num_samples=3, max_concurrent_trials=4, gpu_resources_per_trial=1)
        process = scene.start("--gpus", "2")
        scene.await_marks("started", 2)
        self.assertIn("gpus: all -> 1", scene.hyperopt("set", scene.dir, "gpus=1"))
        scene.hyperopt("stop", scene.dir, "0")
        wait_until(lambda: scene.states()[0] == "stopped", "a free device")
        wait_until(lambda: "set gpus=1" in self.status()["waits"], "what it waits for")
        self.assertEqual(len(scene.states()), 2)
        scene.hyperopt("set", scene.dir, "gpus=all")
        scene.await_marks("started", 3)
        self.finish(process)


class AmendTest(LivingTest):
    def test_other_ranges_and_a_new_parameter(self):
        scene = self.scene
        scene.search(DONE, num_samples=3)
        scene.run()
        before = scene.trials()
        other = {"x": {"space": "uniform", "lower": 5, "upper": 6}, "y": {"space": "int", "lower": 1, "upper": 3}}
        scene.search(DONE, parameters=other, num_samples=5)
        self.assertIn("--amend", scene.run(code=2))
        said = scene.run("--amend")
        self.assertIn("added: y", said)
        self.assertIn("changed: x", said)
        trials = scene.trials()
        self.assertEqual([trial["params"] for trial in trials[:3]], [trial["params"] for trial in before])
        for trial in trials[3:]:
            self.assertTrue(5 <= trial["params"]["x"] <= 6 and trial["params"]["y"] in (1, 2, 3), trial)
        self.assertEqual(len(trials), 5)
        self.completed()
        # The same line goes on under the new file, and says that nothing is left.
        scene.run()
        self.assertIn("nothing to amend", scene.run("--amend"))

    def test_a_grid_runs_what_has_not_run(self):
        scene = self.scene
        scene.search(DONE, parameters={"x": {"space": "grid_search", "values": [1, 2, 3]}}, num_samples=1)
        scene.run()
        scene.search(DONE, parameters={"x": {"space": "grid_search", "values": [2, 3, 4, 5]}}, num_samples=1)
        self.assertIn("2 of the grid have run already", scene.run("--amend"))
        self.assertEqual([trial["params"]["x"] for trial in scene.trials()], [1, 2, 3, 4, 5])
        self.completed()

    def test_a_list_has_no_more_than_its_rows(self):
        scene = self.scene
        scene.search(DONE, num_samples=5)
        scene.run()
        with open(os.path.join(scene.folder, "runs.csv"), "w") as file:
            file.write("x\n0.25\n0.5\n")
        with open(scene.config) as file:
            search = json.load(file)
        search["hyperopt"]["search_alg"] = {"type": "list", "file": "runs.csv"}
        search["hyperopt"]["executor"]["num_samples"] = 2
        with open(scene.config, "w") as file:
            json.dump(search, file)
        scene.run("--amend")
        self.assertEqual([trial["params"]["x"] for trial in scene.trials()[5:]], [0.25, 0.5])
        scene.hyperopt("verify", scene.dir)
        for words in (["add", scene.dir, "--trials", "3"], ["resume", scene.dir, "--trials", "+3"]):
            said = scene.hyperopt(*words, code=2)
            self.assertIn("all 2 rows", said)
            self.assertIn("--csv", said)
        scene.hyperopt("add", scene.dir, "--params", '{"x": 0.75}')
        scene.hyperopt("resume", scene.dir)
        scene.hyperopt("verify", scene.dir)
        self.assertEqual(len(scene.trials()), 8)

    def test_what_cannot_be_compared_is_refused(self):
        scene = self.scene
        scene.search(DONE, num_samples=2)
        scene.run()
        with open(scene.config) as file:
            search = json.load(file)
        search["hyperopt"]["metric"] = "other"
        with open(scene.config, "w") as file:
            json.dump(search, file)
        said = scene.run("--amend", code=2)
        self.assertIn("hyperopt.metric", said)
        self.assertIn("--fresh", said)

    def test_unfinished_trials_outside_of_it_end(self):
        scene = self.scene
        process = self.start_at_gate()
        process.kill()
        process.wait()
        scene.search(AT_THE_GATE, parameters={"x": {"space": "uniform", "lower": 5, "upper": 6}})
        process = scene.start("--amend")
        wait_until(lambda: scene.states()[:2] == ["stopped", "stopped"], "their ends")
        self.finish(process)
        self.assertEqual(scene.states(), ["stopped", "stopped", "completed", "completed"])


class FinalTest(LivingTest):
    def test_a_word_of_the_environment_stays_as_it_was_written(self):
        scene = self.scene
        scene.search(DONE, num_samples=2)
        with open(scene.config) as file:
            search = json.load(file)
        search["command"].append("${env.PATH}")
        search["env"] = {"HERE": "${env.PATH}/here"}
        with open(scene.config, "w") as file:
            json.dump(search, file)
        scene.run()
        scene.hyperopt("final", scene.dir, "--top", "1", "--seeds", "1")
        with open(os.path.join(scene.dir, "best", "command.json")) as file:
            self.assertEqual(json.load(file)[-1], "${env.PATH}")

    def test_the_best_with_several_seeds(self):
        scene = self.scene
        trial = ("mark seeds $HYPEROPT_SEED; report \"{\\\"step\\\": 1, \\\"loss\\\": "
                 "$(awk -v x=$HYPEROPT_PARAM_X -v s=$HYPEROPT_SEED 'BEGIN { print x + (s % 100) / 10000 }')}\"")
        scene.search(trial, num_samples=6)
        scene.run()
        before = scene.parameters()
        best = sorted(scene.trials(), key=lambda t: t["best"])[:2]
        said = scene.hyperopt("final", scene.dir, "--top", "2", "--seeds", "3")
        self.assertIn("winner: trial", said)
        self.assertEqual(scene.parameters(), before)
        runs = json.loads(scene.hyperopt("export", os.path.join(scene.dir, "final"), "--format", "json"))["trials"]
        self.assertEqual([run["params"] for run in runs], [best[0]["params"]] * 3 + [best[1]["params"]] * 3)
        seeds = [word for _, _, word in scene.marks("seeds")]
        self.assertEqual(len(set(seeds)), 12)
        winner = json.loads(scene.text("sweep", "best", "best.json"))
        values = {c["trial"]: c["values"] for c in winner["configurations"]}
        for configuration in winner["configurations"]:
            mean = sum(configuration["values"]) / 3
            self.assertAlmostEqual(configuration["mean"], mean)
            deviation = (sum((v - mean) ** 2 for v in configuration["values"]) / 2) ** 0.5
            self.assertAlmostEqual(configuration["deviation"], deviation)
        self.assertEqual(winner["trial"], min(values, key=lambda t: sum(values[t])))
        self.assertEqual(json.loads(scene.text("sweep", "best", "params.json")), winner["params"])
        self.assertEqual(json.loads(scene.text("sweep", "best", "command.json"))[0], "sh")
        # Again: the runs are there, the same words come out.
        again = scene.hyperopt("final", scene.dir, "--top", "2", "--seeds", "3")
        self.assertEqual(again[again.index("loss, minimize"):], said[said.index("loss, minimize"):])
        self.assertEqual(len(scene.marks("seeds")), 12)
        scene.hyperopt("verify", os.path.join(scene.dir, "final"))
        scene.hyperopt("verify", scene.dir)

    def test_what_it_fixes_can_not_be_set(self):
        scene = self.scene
        scene.search(DONE, num_samples=1)
        scene.run()
        for setting in ("hyperopt.goal=maximize", "hyperopt.parameters.x.upper=3", "hyperopt.executor.num_samples=3",
                        "hyperopt.executor.scheduler={type: fifo}", "hyperopt.executor={num_samples: 3}"):
            said = scene.hyperopt("final", scene.dir, "--set", setting, code=2)
            self.assertIn("final fixes hyperopt.", said)
        self.assertFalse(os.path.exists(os.path.join(scene.dir, "final")))
        scene.hyperopt("final", scene.dir, "--seeds", "1", "--set", "hyperopt.executor.max_concurrent_trials=1")
        self.assertTrue(os.path.exists(os.path.join(scene.dir, "final", "sweep.db")))

    def test_before_there_is_a_best(self):
        scene = self.scene
        scene.search("exit 3", num_samples=2)
        scene.run(code=1)
        self.assertIn("no trial has a finite loss", scene.hyperopt("final", scene.dir, code=1))


class HooksTest(LivingTest):
    def hooks(self, **commands):
        return {"hooks": {name: ["sh", "-c", script, "hook", self.scene.folder] for name, script in commands.items()}}

    def test_best_and_end(self):
        scene = self.scene
        scene.search(DONE, num_samples=4, max_concurrent_trials=1,
                     top=self.hooks(on_best='cat >> "$1/best"', on_end='cat > "$1/end"; echo well'))
        scene.run()
        lines = [json.loads(line) for line in scene.text("best").splitlines()]
        self.assertEqual(lines[-1]["event"], "best")
        lowest = min(scene.trials(), key=lambda t: t["best"])
        self.assertEqual((lines[-1]["best"]["trial"], lines[-1]["best"]["params"]), (lowest["id"], lowest["params"]))
        end = json.loads(scene.text("end"))
        self.assertEqual((end["event"], end["code"], end["counts"]["completed"]), ("end", 0, 4))
        self.assertIn("well", scene.text("sweep", "hooks.log"))

    def test_one_that_hangs_stops_nothing(self):
        scene = self.scene
        scene.search(DONE, num_samples=4, top=self.hooks(on_best='echo $$ > "$1/pid"; sleep 600 & wait'))
        process = scene.start()
        wait_until(lambda: scene.states() == ["completed"] * 4, "the sweep")
        wait_until(lambda: "done after" in scene.said(), "its last words")
        process.send_signal(signal.SIGINT)
        scene.expect(process)
        self.assertEqual(scene.states(), ["completed"] * 4)
        group = int(scene.text("pid"))
        wait_until(lambda: not group_lives(group), "the hook's group")

    def test_one_does_not_outlive_its_controller(self):
        scene = self.scene
        scene.search(DONE + "; await go", num_samples=4, top=self.hooks(on_best='echo $$ > "$1/pid"; exec sleep 600'))
        process = scene.start()
        wait_until(lambda: os.path.exists(os.path.join(scene.folder, "pid")) and scene.text("pid"), "the hook")
        process.kill()
        process.wait()
        wait_until(lambda: not group_lives(int(scene.text("pid"))), "the hook's end")

    def test_one_that_cannot_start_is_a_line(self):
        scene = self.scene
        scene.search(DONE, num_samples=2, top={"hooks": {"on_end": ["/no/such/program"]}})
        scene.run()
        self.assertIn("can not be started", scene.text("sweep", "hooks.log"))

    def test_stuck(self):
        scene = self.scene
        scene.search(DONE, num_samples=2, stuck_s=1, top=self.hooks(on_stuck='cat > "$1/stuck"'))
        process, endpoint = scene.listen()
        wait_until(lambda: os.path.exists(os.path.join(scene.folder, "stuck")) and scene.text("stuck"), "the hook")
        self.assertEqual(json.loads(scene.text("stuck"))["why"], "no executor is heard from")
        scene.executor("late", endpoint, "--cpus", "2")
        scene.expect(process)


if __name__ == "__main__":
    import sys
    main(sys.argv)
