"""show and logs: one trial, looked at while it runs, after it ended, and among 10,000."""

import json
import os
import sqlite3
import subprocess
import sys
import time

from scene import DONE, SceneTest, main
from sweep import DEADLINE_S, wait_until

CURVE = """for i in 1 2 3 4; do report "{\\"step\\": $i, \\"loss\\": 0.$((9 - i))}"; done
echo out; echo err >&2"""


class ShowTest(SceneTest):
    def test_a_finished_trial(self):
        scene = self.scene
        scene.search(CURVE, num_samples=2, scheduler={"type": "asha", "max_t": 9, "grace_period": 1,
                                                      "reduction_factor": 3})
        scene.run()
        utf8 = dict(scene.env, LC_ALL="C.UTF-8")
        said = scene.hyperopt("show", scene.dir, "1", env=utf8)
        for words in ("trial 1 completed", "loss: best 0.5 at step 4, last 0.5 at step 4; 4 reports", "parameters\n  x",
                      "loss by step", "rung 0 (at 1): 0.8 at 1, went on", "attempt 1: on ", "with exit code 0",
                      "last lines of stderr\n  err"):
            self.assertIn(words, said)
        self.assertRegex(said, "0.8 \\|[\u2800-\u28ff]")
        ascii_only = scene.hyperopt("show", scene.dir, "1", env=dict(scene.env, LC_ALL="C"))
        self.assertRegex(ascii_only, r"0\.8 \|\*")
        self.assertTrue(ascii_only.isascii())
        shown = json.loads(scene.hyperopt("show", scene.dir, "1", "--json"))
        self.assertEqual(shown["curve"], [[1, 0.8], [2, 0.7], [3, 0.6], [4, 0.5]])
        self.assertEqual((shown["state"], shown["best"], shown["best_step"]), ("completed", 0.5, 4))
        self.assertEqual(shown["params"], scene.trials()[1]["params"])
        self.assertEqual([(rung["level"], rung["stopped"]) for rung in shown["rungs"]], [(1, False), (3, False)])
        self.assertEqual(shown["attempts"][0]["exit_code"], 0)
        self.assertEqual(shown["folder"], scene.attempt(1))
        self.assertEqual(shown["stderr"], ["err"])

    def test_before_and_in_the_middle(self):
        scene = self.scene
        scene.search("""report '{"step": 1, "loss": 3}'; mark started .; await go; """ + DONE, num_samples=2,
                     max_concurrent_trials=1)
        process = scene.start()
        scene.await_marks("started", 1)
        wait_until(lambda: scene.recorded() == 1, "the report")
        said = scene.hyperopt("show", scene.dir, "0")
        self.assertIn("trial 0 is running", said)
        self.assertIn("not ended", said)
        waits = scene.hyperopt("show", scene.dir, "1", code=None)
        self.assertTrue("trial 1 is pending" in waits or "there is no trial 1" in waits, waits)
        self.assertNotIn("by hand", waits)
        self.assertIn("there is no trial 7", scene.hyperopt("show", scene.dir, "7", code=2))
        self.assertIn("no number of a trial", scene.hyperopt("show", scene.dir, "x", code=2))
        scene.open("go")
        scene.expect(process)

    def test_attempts_and_their_ends(self):
        scene = self.scene
        scene.search('[ $HYPEROPT_ATTEMPT = 2 ] || { echo boom >&2; kill -9 $$; }; ' + DONE, num_samples=1)
        scene.run()
        said = scene.hyperopt("show", scene.dir, "0")
        self.assertIn("by signal 9", said)
        self.assertIn("attempt 2: on ", said)

    def by_hand(self, shell_env=None):
        line = json.loads(self.scene.hyperopt("show", self.scene.dir, "1", "--json", env=shell_env))["by_hand"]
        return line, subprocess.run(["sh", "-c", line], env=shell_env or self.scene.env, cwd="/", text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=DEADLINE_S, check=False)

    def test_the_line_sets_up_first(self):
        scene = self.scene
        scene.search('echo "flavour $FLAVOUR"; exit 0\n', num_samples=2, max_initial_failures=9)
        with open(scene.config) as file:
            search = json.load(file)
        search["setup"] = "export FLAVOUR='two words'\n"
        with open(scene.config, "w") as file:
            json.dump(search, file)
        scene.run(code=1)
        line, result = self.by_hand()
        self.assertEqual((result.returncode, result.stdout), (0, "flavour two words\n"), line)

    def test_the_line_that_runs_it_by_hand(self):
        """Pasted, it runs the very command: words, folder and variables, and touches nothing recorded."""
        scene = self.scene
        dump = ('shift; pwd; printf "%s\\n" "$@"; cat "$HYPEROPT_PARAMS" "$HYPEROPT_CONFIG"; '
                'env | grep -v -e ^HYPEROPT_TOKEN= -e ^_= -e ^SHLVL= -e ^OLDPWD= -e ^PWD= | sort; exit 0')
        scene.search(dump + "\n", num_samples=2, max_initial_failures=9)
        script = os.path.join(scene.folder, "trial.sh")
        with open(script, "a") as file:
            file.write("\n")
        with open(scene.config) as file:
            search = json.load(file)
        search["command"] += ["${args}", "it's ${x}", "$HOME *", "", "ünï", "${trial.dir}", "${trial.seed}"]
        search["env"] = {"PLAIN": "a b'c\"d $X", "SECRET": {"from": "THE_KEY"}, "THE_KEY": {"from": "THE_KEY"}}
        with open(scene.config, "w") as file:
            json.dump(search, file)
        # What a launcher left is not the trial's, and the key's value is nobody's business.
        scene.env.update(THE_KEY="hush hush", RANK="5", SLURM_PROCID="1")
        scene.run(code=1)
        with open(os.path.join(scene.attempt(1), "stdout.log")) as file:
            recorded = file.read()
        before = scene.text("sweep", "trials", "1", "0", "1", "report.jsonl")
        line, result = self.by_hand()
        self.assertEqual(result.returncode, 0, line + result.stdout)
        self.assertNotIn("hush", line)
        by_hand = os.path.join(scene.dir, "trials", "1", "0", "by-hand")
        self.assertEqual(result.stdout, recorded.replace(scene.attempt(1), by_hand))
        self.assertIn("SECRET=hush hush\n", recorded)
        self.assertEqual(scene.text("sweep", "trials", "1", "0", "1", "report.jsonl"), before)
        _, again = self.by_hand()
        self.assertEqual(again.stdout, result.stdout)

    def test_ranks_by_hand(self):
        scene = self.scene
        scene.search("echo $RANK of $WORLD_SIZE on $CUDA_VISIBLE_DEVICES; " + DONE, num_samples=2,
                     gpu_resources_per_trial=2, top={"ranks": 2})
        scene.run("--gpus", "2")
        _, result = self.by_hand()
        self.assertEqual(sorted(result.stdout.splitlines()), ["0 of 2 on 0", "1 of 2 on 1"])


class LogsTest(SceneTest):
    def logs(self, *words, code=0):
        return self.scene.hyperopt("logs", self.scene.dir, *words, code=code)

    def split(self, *words):
        result = subprocess.run([self.scene.binary, "logs", self.scene.dir, *words], env=self.scene.env, text=True,
                                capture_output=True, timeout=DEADLINE_S, check=True)
        return result.stdout, result.stderr

    def test_of_an_ended_trial(self):
        scene = self.scene
        scene.search("for i in 1 2 3; do echo out$i; echo err$i >&2; done; printf half; " + DONE, num_samples=1)
        scene.run()
        self.assertEqual(self.split("0"), ("out1\nout2\nout3\nhalf", "err1\nerr2\nerr3\n"))
        self.assertEqual(self.split("0", "--stderr"), ("err1\nerr2\nerr3\n", ""))
        self.assertEqual(self.split("0", "--stdout", "--tail", "2"), ("out3\nhalf", ""))
        self.assertEqual(self.split("0", "--stderr", "--tail", "1"), ("err3\n", ""))
        self.assertEqual(self.split("0", "--stderr", "--tail", "0"), ("", ""))
        self.assertEqual(self.split("0", "--stderr", "--tail", "99"), ("err1\nerr2\nerr3\n", ""))
        self.assertEqual(self.split("0", "-f"), ("out1\nout2\nout3\nhalf", "err1\nerr2\nerr3\n"))
        self.assertIn("no attempt 4; it has had 1", self.logs("0", "--attempt", "4", code=2))
        self.assertIn("there is no rank 2", self.logs("0", "--rank", "2", code=2))
        self.assertIn("there is no trial 3", self.logs("3", code=2))

    def follow(self, *words):
        return subprocess.Popen([self.scene.binary, "logs", self.scene.dir, *words], env=self.scene.env, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_follow_over_attempts(self):
        scene = self.scene
        scene.search("echo begin $HYPEROPT_ATTEMPT; await go$HYPEROPT_ATTEMPT; echo end $HYPEROPT_ATTEMPT; "
                     "[ $HYPEROPT_ATTEMPT = 2 ] || kill -9 $$; " + DONE, num_samples=1)
        process = scene.start()
        wait_until(lambda: scene.states() == ["running"], "the start")
        follower = self.follow("0", "-f")
        only_first = self.follow("0", "-f", "--attempt", "1")
        self.assertEqual(follower.stdout.readline(), "begin 1\n")
        scene.open("go1")
        self.assertEqual([follower.stdout.readline() for _ in range(2)], ["end 1\n", "begin 2\n"])
        self.assertEqual(only_first.communicate(timeout=DEADLINE_S)[0], "begin 1\nend 1\n")
        self.assertIsNone(follower.poll())
        scene.open("go2")
        out, err = follower.communicate(timeout=DEADLINE_S)
        self.assertEqual((out, follower.returncode), ("end 2\n", 0))
        self.assertIn("attempt 2", err)
        scene.expect(process)

    def test_follow_ends_with_the_controller(self):
        scene = self.scene
        scene.search("echo begin; mark started .; await go", num_samples=1)
        process = scene.start()
        scene.await_marks("started", 1)
        follower = self.follow("0", "-f")
        self.assertEqual(follower.stdout.readline(), "begin\n")
        scene.hyperopt("stop", scene.dir)
        scene.expect(process, 130)
        _, err = follower.communicate(timeout=DEADLINE_S)
        self.assertEqual(follower.returncode, 0)
        self.assertIn("no sweep runs", err)

    def test_a_reader_that_goes_away(self):
        scene = self.scene
        scene.search("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; " + DONE, num_samples=1)
        scene.run()
        follower = self.follow("0", "-f")
        self.assertEqual(follower.stdout.readline(), "line 0\n")
        follower.stdout.close()
        self.assertEqual(follower.wait(DEADLINE_S), 0)
        self.assertEqual(follower.stderr.read(), "")
        follower.stderr.close()

    def test_ranks(self):
        scene = self.scene
        scene.search("echo rank $RANK; " + DONE, num_samples=1, top={"ranks": 2})
        scene.run()
        self.assertEqual(self.logs("0", "--rank", "1"), "rank 1\n")
        self.assertEqual(self.logs("0"), "rank 0\n")

    def test_a_log_without_its_middle(self):
        scene = self.scene
        scene.search("i=0; while [ $i -lt 3000 ]; do echo $i 0123456789012345678901234567890123456789; i=$((i+1)); "
                     "done; " + DONE, num_samples=1, log_limit=65536)
        scene.run()
        said = self.logs("0", "--stdout")
        self.assertTrue(said.startswith("0 0123"))
        self.assertIn("dropped here, over log_limit]", said)
        self.assertNotIn("\0", said)
        self.assertIn("\n2999 0123", said)


class ManyTest(SceneTest):
    def test_among_ten_thousand(self):
        """The time of an answer is that of one trial's rows; the fastest of ten is compared, at an easy distance."""
        scene = self.scene
        scene.search(CURVE, num_samples=2)
        scene.run()
        database = sqlite3.connect(os.path.join(scene.dir, "sweep.db"))
        with database:
            for table, key in (("trial", "id"), ("parameter", "trial"), ("run", "trial"), ("rung", "trial")):
                columns = [row[1] for row in database.execute(f"pragma table_info({table})")]
                others = ", ".join(column for column in columns if column != key)
                database.execute(
                    f"with recursive n(i) as (select 2 union all select i + 1 from n where i < 10000) "
                    f"insert into {table} ({key}, {others}) select i, {others} from {table}, n where {key} = 1")
        database.close()

        def fastest(*words):
            times = []
            for _ in range(10):
                begin = time.monotonic()
                scene.hyperopt(*words)
                times.append(time.monotonic() - begin)
            return min(times)
        self.assertIn("trial 9999 completed", scene.hyperopt("show", scene.dir, "9999"))
        for words in (("show", scene.dir, "1"), ("show", scene.dir, "9999", "--json"), ("logs", scene.dir, "1")):
            self.assertLess(fastest(*words), 0.5, words)


if __name__ == "__main__":
    main(sys.argv)
