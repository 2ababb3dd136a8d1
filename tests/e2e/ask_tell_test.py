#!/usr/bin/env python3
"""hyperopt ask-tell, driven as a program of somebody's own would: the protocol, early stopping,
what is left after kill -9, and the examples' clients.

  ask_tell_test.py BUILD_DIR [unittest's words]
"""

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = ""
LIMIT_S = 300  # against hanging for ever; nothing is judged by it

SEARCH = """
hyperopt:
  goal: minimize
  metric: loss
  search_alg: {type: %s, random_state: 3}
  parameters:
    x: {space: uniform, lower: -5, upper: 5}
    k: {space: int, lower: 1, upper: 8}
  executor:
    num_samples: 12
    scheduler: {type: asha, max_t: 9, grace_period: 1, reduction_factor: 3}
"""


class AskTell:
    def __init__(self, *words):
        self.process = subprocess.Popen([os.path.join(BUILD, "hyperopt"), "ask-tell", *words], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def line(self, text):
        print(text, file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def call(self, **request):
        return self.line(json.dumps(request))

    def close(self):
        self.process.stdin.close()
        code = self.process.wait(LIMIT_S)
        self.process.stdout.close()
        return code

    def kill(self):
        self.process.kill()
        self.close()


class AskTellTest(unittest.TestCase):
    def setUp(self):
        self.base = tempfile.mkdtemp(prefix="hyperopt ask tell ")
        self.addCleanup(shutil.rmtree, self.base, ignore_errors=True)
        self.out = os.path.join(self.base, "a sweep")

    def file(self, kind="gp"):
        path = os.path.join(self.base, kind + ".yaml")
        with open(path, "w") as file:
            file.write(SEARCH % kind)
        return path

    def hyperopt(self, *words):
        return subprocess.run([os.path.join(BUILD, "hyperopt"), *words], capture_output=True, text=True,
                              timeout=LIMIT_S)

    def test_bad_lines_are_answered_and_change_nothing(self):
        session = AskTell("--config", self.file())
        for line in ("rubbish", "[]", "{}", '{"op":"dance"}', '{"op":"tell"}', '{"op":"tell","trial":0,"value":1}',
                     '{"op":"tell","trial":-1,"value":1}', '{"op":"tell","trial":1e99,"value":1}'):
            self.assertEqual(list(session.line(line)), ["error"], line)
        self.assertEqual(session.call(op="ask")["trial"], 0)
        for wrong in ({"value": "much"}, {"state": "lost"}, {}, {"value": 1, "stopped": "yes"}):
            self.assertIn("error", session.call(op="tell", trial=0, **wrong))
        self.assertIn("error", session.call(op="report", trial=0, value=1))
        self.assertEqual(session.line('{"op":"tell","trial":0,"value":NaN}'), {"ok": True})
        self.assertIn("has ended", session.call(op="tell", trial=0, value=1)["error"])
        self.assertEqual(session.close(), 0)

    def test_the_scheduler_stops_what_is_worse(self):
        session = AskTell("--config", self.file("random"), "--output", self.out)
        stopped = 0
        while "trial" in (asked := session.call(op="ask")):
            value, stop = asked["trial"] + abs(asked["params"]["x"]), False
            for step in range(1, 10):
                answer = session.call(op="report", trial=asked["trial"], step=step, value=value)
                if stop := answer["stop"]:
                    break
            stopped += stop and step < 9
            self.assertEqual(session.call(op="tell", trial=asked["trial"], value=value, stopped=stop), {"ok": True})
        self.assertGreater(stopped, 0)
        self.assertEqual(session.close(), 0)
        verified = self.hyperopt("verify", self.out)
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)

    def promotion(self, kind, kill_every=0):
        """Runs a promotion sweep, one trial at a time; what was asked for, in order."""
        path, out = self.file(kind), os.path.join(self.base, f"{kind} {kill_every}")
        with open(path) as file:
            text = file.read().replace("type: asha", "type: asha, mode: promotion")
        with open(path, "w") as file:
            file.write(text)
        words = ["--config", path, "--output", out]
        session, asks = AskTell(*words), []
        while "trial" in (asked := session.call(op="ask")):
            asks.append(asked)
            begin = asked.get("step", 0)
            self.assertGreater(asked["budget"], begin)
            if kill_every and len(asks) % kill_every == 0:  # before anything of it is told
                session.kill()
                session = AskTell(*words)
                self.assertEqual(session.call(op="ask"), asked)
            for step in range(begin + 1, asked["budget"] + 1):
                value = asked["trial"] % 4 + abs(asked["params"]["x"]) + 1 / step
                answer = session.call(op="report", trial=asked["trial"], step=step, value=value)
                self.assertEqual(answer["stop"], step == asked["budget"], asked)
            self.assertEqual(answer.get("paused", False), asked["budget"] < 9)
            if asked["budget"] < 9:
                self.assertIn("waits at its rung", session.call(op="report", trial=asked["trial"], step=99,
                                                                value=1)["error"])
                # As one says it who knows of stopping alone.
                self.assertEqual(session.call(op="tell", trial=asked["trial"], value=value, stopped=True), {"ok": True})
            else:
                self.assertEqual(session.call(op="tell", trial=asked["trial"], value=value), {"ok": True})
        self.assertEqual(asked, {"done": True})
        self.assertEqual(session.close(), 0)
        verified = self.hyperopt("verify", out)
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)
        return asks

    def test_promotion_hands_out_a_trial_again(self):
        for kind in ("random", "tpe", "gp"):
            asks = self.promotion(kind)
            self.assertGreater(len(asks), 12)
            self.assertEqual(len({asked["trial"] for asked in asks}), 12)
            self.assertEqual(self.promotion(kind, kill_every=3), asks)

    def test_promotion_with_several_out(self):
        path = self.file("random")
        with open(path) as file:
            text = file.read().replace("type: asha", "type: asha, mode: promotion")
        with open(path, "w") as file:
            file.write(text)
        session = AskTell("--config", path)
        out = [session.call(op="ask") for _ in range(12)]
        self.assertEqual(session.call(op="ask"), {"wait": True})
        for asked in out:
            session.call(op="report", trial=asked["trial"], step=1, value=asked["trial"])
        again = session.call(op="ask")
        self.assertEqual((again["trial"], again["step"], again["budget"]), (0, 1, 3))
        session.close()

    def test_what_was_told_outlives_a_kill(self):
        for kind in ("gp", "tpe"):
            out, straight = os.path.join(self.base, kind), []
            session = AskTell("--config", self.file(kind))
            while "trial" in (asked := session.call(op="ask")):
                straight.append(asked)
                session.call(op="tell", trial=asked["trial"], value=asked["params"]["x"] ** 2)
            session.close()
            self.assertEqual(len(straight), 12)
            again = []
            while len(again) < 12:
                session = AskTell("--config", self.file(kind), "--output", out)
                first, second = session.call(op="ask"), None
                session.call(op="tell", trial=first["trial"], value=first["params"]["x"] ** 2)
                again.append(first)
                second = session.call(op="ask")  # open when the kill comes: handed out again
                session.kill()
                if "trial" not in second:
                    break
            self.assertEqual(again, straight)
            verified = self.hyperopt("verify", out)
            self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)

    def test_steps_from_zero_with_gaps_count_the_same_over_a_kill(self):
        """A report of step 0 comes before the first iteration; steps need not be iterations."""
        for kills in ((), (1, 2, 3, 4)):
            out = os.path.join(self.base, f"gaps {len(kills)}")
            session = AskTell("--config", self.file("random"), "--output", out)
            asked = session.call(op="ask")
            for number, step in enumerate((0, 10, 20, 30, 40)):
                if number in kills:
                    session.kill()
                    session = AskTell("--config", self.file("random"), "--output", out)
                    self.assertEqual(session.call(op="ask"), asked)
                self.assertEqual(session.call(op="report", trial=0, step=step, value=1), {"ok": True, "stop": False})
            self.assertEqual(session.call(op="tell", trial=0, value=1), {"ok": True})
            self.assertEqual(session.close(), 0)
            with contextlib.closing(sqlite3.connect(os.path.join(out, "sweep.db"))) as db:
                self.assertEqual(db.execute("select level, time from rung order by level").fetchall(), [(1, 1), (3, 3)])
            verified = self.hyperopt("verify", out)
            self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)

    def test_the_clients_of_the_examples(self):
        folder = os.path.join(REPOSITORY, "examples", "ask-tell")
        binary = os.path.join(BUILD, "hyperopt")
        python = subprocess.run([sys.executable, os.path.join(folder, "client.py"), binary, self.out],
                                capture_output=True, text=True, timeout=LIMIT_S)
        self.assertEqual(python.returncode, 0, python.stderr)
        self.assertLess(float(python.stdout.split()[1]), 1)
        shell = subprocess.run(["sh", os.path.join(folder, "client.sh"), binary], capture_output=True, text=True,
                               timeout=LIMIT_S)
        self.assertEqual(shell.returncode, 0, shell.stderr)
        self.assertEqual(len(shell.stdout.splitlines()), 20)


if __name__ == "__main__":
    BUILD = os.path.abspath(sys.argv.pop(1))
    unittest.main()
