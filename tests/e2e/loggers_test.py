#!/usr/bin/env python3
"""`loggers`: what trials report goes to TensorBoard's files and an MLflow server while the sweep runs."""

import contextlib
import glob
import os
import signal
import socket
import sys
import threading

from exports_test import FakeMlflow, fields, records
from scene import DONE, SceneTest, main
from sweep import kill, wait_until

# Reports a step, waits for the test, reports another.
TRIAL = """
report "{\\"step\\": 1, \\"loss\\": $HYPEROPT_PARAM_X, \\"acc\\": 0.5}"
await gate$HYPEROPT_TRIAL
report "{\\"step\\": 2, \\"loss\\": 0.25}"
"""
FIRST = [("acc", 1), ("loss", 1)]
BOTH = [*FIRST, ("loss", 2)]


class LoggersTest(SceneTest):
    def setUp(self):
        super().setUp()
        self.fake = self.new_fake()

    def new_fake(self, port=0):
        fake = FakeMlflow(port)
        self.addCleanup(fake.close)
        return fake

    def search(self, trial=TRIAL, loggers=None, **executor):
        if loggers is None:
            loggers = ["tensorboard", {"type": "mlflow", "uri": self.fake.uri}]
        self.scene.search(trial, top={"loggers": loggers, "name": "a sweep"}, **executor)

    def let_go(self, *trials):
        for trial in trials:
            self.scene.open(f"gate{trial}")

    # ---- what is there ----

    def events(self, trial, folder=None):
        """(scalars as [(tag, step)], other tags) of a trial's event file; a torn end is left out."""
        found = glob.glob(os.path.join(glob.escape(folder or os.path.join(self.scene.dir, "tensorboard")),
                                       f"trial-{trial:05}", "events.out.tfevents.*"))
        if not found:
            return [], []
        self.assertEqual(len(found), 1)
        with open(found[0], "rb") as file:
            data = file.read()
        scalars, others = [], []
        with contextlib.suppress(Exception):
            for record in records(data):
                event = fields(record)
                for summary in event.get(5, []):
                    value = fields(fields(summary)[1][0])
                    if 2 in value:
                        scalars.append((value[1][0].decode(), event[2][0]))
                    else:
                        others.append(value[1][0].decode())
        return scalars, others

    def logged(self, trial, fake=None):
        run = (fake or self.fake).run_of(trial)
        return [(name, step) for name, step, _ in run["metrics"]] if run else []

    def all_there(self, fake=None, trials=None):
        """Both have exactly what the record has, once."""
        fake = fake or self.fake
        status = {"completed": "FINISHED", "stopped": "KILLED", "failed": "FAILED"}
        for trial in trials or self.scene.trials():
            said = [(name, report["step"], value) for report in trial["reports"]
                    for name, value in sorted(report.items()) if name not in ("step", "attempt")]
            run = fake.run_of(trial["id"])
            self.assertEqual(run["metrics"], said)
            self.assertEqual(float(run["params"]["x"]), trial["params"]["x"])
            self.assertEqual((run["status"], run["tags"]["hyperopt.state"]), (status[trial["state"]], trial["state"]))
            scalars, others = self.events(trial["id"])
            self.assertEqual(scalars, [(name, step) for name, step, _ in said])
            self.assertEqual(others, ["_hparams_/session_start_info", "_hparams_/session_end_info"])
        self.assertEqual(fake.broken, [])

    def logger_pids(self):
        found = []
        for pid in self.scene.own_processes():
            with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
                if file.read().split(b"\0")[1:2] == [b"logger"]:
                    found.append(pid)
        return found

    # ---- ----

    def test_while_it_runs_and_once(self):
        self.search()
        sweep = self.scene.start()
        wait_until(lambda: all(self.logged(trial) == FIRST and self.events(trial)[0] == FIRST for trial in (0, 1)),
                   "the first step of both")
        self.assertEqual(self.fake.run_of(0)["status"], "RUNNING")
        self.assertEqual(self.events(0)[1], ["_hparams_/session_start_info"])
        self.let_go(0)
        wait_until(lambda: self.logged(2) == FIRST, "the next trial's")
        self.assertEqual(self.logged(0), BOTH)
        self.let_go(1, 2, 3)
        self.scene.expect(sweep)
        self.all_there()
        said = self.scene.said()
        self.assertEqual(said.count(f"mlflow: experiment a sweep (id 0) at {self.fake.uri}\n"), 1)
        self.assertEqual(said.count(f"tensorboard: event files in {self.scene.dir}/tensorboard\n"), 1)
        # Logged to the same place by hand: nothing is there twice.
        asked = len(self.fake.asked)
        self.assertIn("4 runs in experiment a sweep", self.scene.hyperopt("export", self.scene.dir, "--format", "mlflow"))
        self.assertEqual({name for name, _, _ in self.fake.asked[asked:]}, {"experiments/search", "runs/search"})
        self.completed()

    def test_names_of_ones_own(self):
        runs = os.path.join(self.scene.folder, "all runs")
        self.search(DONE, loggers=[{"type": "tensorboard", "dir": "all runs"},
                                   {"type": "mlflow", "uri": self.fake.uri + "/", "experiment": "mine"}])
        said = self.scene.hyperopt("check", self.scene.config)
        self.assertIn("tensorboard: event files in", said)
        self.assertIn("mlflow: experiment mine at " + self.fake.uri, said)
        self.scene.run()
        self.scene.run("--fresh")  # another sweep: beside the first one's
        folders = os.listdir(runs)
        self.assertEqual(len(folders), 2)
        for folder in folders:
            self.assertTrue(folder.startswith("a sweep-"), folder)
            for trial in range(4):
                self.assertEqual(self.events(trial, os.path.join(runs, folder))[0], [("loss", 1)])
        self.assertEqual((list(self.fake.experiments), len(self.fake.runs)), (["mine"], 8))

    def test_what_leads_nowhere_is_an_error_before_the_sweep(self):
        self.search(DONE, loggers=["mlflow"])
        for words in (["check", self.scene.config], ["--config", self.scene.config, "--output", self.scene.dir]):
            self.assertIn("MLFLOW_TRACKING_URI", self.scene.hyperopt(*words, code=2))
        self.search(DONE, loggers=["mlflw"])
        self.assertIn("did you mean mlflow?", self.scene.hyperopt("check", self.scene.config, code=2))
        self.assertFalse(os.path.exists(self.scene.dir))
        self.search(DONE, loggers=["mlflow"])
        self.scene.env["MLFLOW_TRACKING_URI"] = self.fake.uri
        self.scene.run()
        self.assertEqual(len(self.fake.runs), 4)

    # ---- troubles ----

    def completes(self, sweep):
        """All trials do, whatever the loggers are at."""
        wait_until(lambda: self.scene.states() == ["completed"] * 4, "all trials")
        return sweep

    def test_a_server_that_is_not_there(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        self.search(loggers=["tensorboard", {"type": "mlflow", "uri": f"http://127.0.0.1:{port}"}])
        sweep = self.scene.start()
        wait_until(lambda: "mlflow: the MLflow server at " in self.scene.said(), "the word of it")
        self.let_go(0, 1)
        wait_until(lambda: self.scene.recorded(3) == 1, "trial 3")
        late = self.new_fake(port)
        wait_until(lambda: "mlflow: it goes on" in self.scene.said(), "the word of that")
        self.let_go(2, 3)
        self.scene.expect(sweep)
        self.assertEqual(self.scene.said().count("does not answer"), 1)
        self.all_there(late)

    def test_a_server_that_never_comes(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        self.search(loggers=["tensorboard", {"type": "mlflow", "uri": f"http://127.0.0.1:{port}"}])
        sweep = self.scene.start()
        wait_until(lambda: "mlflow: the MLflow server at " in self.scene.said(), "the word of it")
        self.let_go(*range(4))
        self.scene.expect(sweep)
        said = self.scene.said()
        self.assertIn("mlflow: 4 trials are not complete there; hyperopt export --format mlflow brings the rest", said)
        self.assertEqual(self.events(3)[0], BOTH)  # the other is not held up
        # And it does, to where the search file says.
        late = self.new_fake(port)
        self.scene.hyperopt("export", self.scene.dir, "--format", "mlflow")
        self.all_there(late)
        self.completed()

    def answers_wrongly(self, answer):
        self.fake.fault = lambda name, body: answer
        self.search()
        sweep = self.scene.start()
        wait_until(lambda: "this is tried again" in self.scene.said(), "the word of it")
        self.let_go(*range(4))
        self.scene.expect(self.completes(sweep))
        self.assertEqual(self.scene.said().count("this is tried again"), 1)
        self.assertEqual(self.events(3)[0], BOTH)
        return self.scene.said()

    def test_a_server_that_fails(self):
        self.assertIn("mlflow: the MLflow server refuses experiments/search (500): out of order",
                      self.answers_wrongly((500, {"message": "out of order"})))
        # The next start brings it all, with the run that was given.
        self.fake.fault = None
        self.scene.run()
        self.all_there()

    def test_a_server_that_is_something_else(self):
        self.assertIn("what answers there is no MLflow server", self.answers_wrongly((200, "<html>Hello</html>")))

    def test_a_server_that_says_half_of_it(self):
        self.assertIn("what answers there is no MLflow server",
                      self.answers_wrongly((200, {"experiments": [{"name": "a sweep"}]})))

    def test_a_server_that_hangs(self):
        hangs = threading.Event()
        self.addCleanup(hangs.set)
        self.fake.fault = lambda name, body: hangs.wait() and None
        self.search()
        self.let_go(*range(4))
        sweep = self.completes(self.scene.start())
        wait_until(lambda: "mlflow: the last of it is on its way" in self.scene.said(), "the word of it")
        said = self.scene.hyperopt("status", self.scene.dir)  # over for everybody else
        self.assertIn("finished", said)
        self.assertIsNone(sweep.poll())
        sweep.send_signal(signal.SIGINT)
        self.scene.expect(sweep)
        self.assertIn("mlflow: cut off", self.scene.said())
        self.assertEqual(self.events(3)[0], BOTH)
        self.completed()

    def test_what_a_server_that_hangs_has_not_got_is_said(self):
        # It was asked before the first trial began: nobody had counted what there is to bring.
        hangs, asked = threading.Event(), threading.Event()
        self.addCleanup(hangs.set)
        self.fake.fault = lambda name, body: asked.set() or (hangs.wait() and None)
        self.search()
        sweep = self.scene.start()
        wait_until(asked.is_set, "a request")
        self.let_go(0)
        wait_until(lambda: self.scene.states()[:1] == ["completed"], "trial 0")
        sweep.send_signal(signal.SIGINT)
        self.scene.expect(sweep, 130)
        self.assertIn("trials are not complete there", self.scene.said())

    def test_one_trial_that_is_refused(self):
        def fault(name, body):
            if name == "runs/log-batch" and self.fake.runs[body["run_id"]]["tags"]["hyperopt.trial"] == "1":
                return 400, {"message": "not this one"}
            return None
        self.fake.fault = fault
        self.search(DONE)
        said = self.scene.run()
        self.assertIn("mlflow: trial 1: the MLflow server refuses runs/log-batch (400): not this one", said)
        self.assertEqual([self.logged(trial) for trial in range(4)], [[("loss", 1)], [], [("loss", 1)], [("loss", 1)]])

    def test_a_run_that_was_deleted_there(self):
        self.search()
        sweep = self.scene.start()
        wait_until(lambda: self.logged(1) == FIRST, "trial 1")
        self.scene.hyperopt("stop", self.scene.dir)
        self.scene.expect(sweep, 130)
        self.fake.run_of(1)["stage"] = "deleted"
        self.let_go(*range(4))
        self.scene.run()
        self.assertEqual([self.logged(trial) for trial in range(4)], [BOTH, FIRST, BOTH, BOTH])
        self.assertEqual((len(self.fake.runs), self.fake.broken), (4, []))

    def test_a_folder_that_can_not_be_written(self):
        block = os.path.join(self.scene.folder, "runs")
        self.scene.open("runs")
        self.search(loggers=[{"type": "tensorboard", "dir": "runs"}])
        sweep = self.scene.start()
        wait_until(lambda: "tensorboard: " in self.scene.said(), "the word of it")
        self.let_go(*range(4))
        self.completes(sweep)
        os.unlink(block)
        self.scene.expect(sweep)
        self.scene.run()  # a finished sweep is completed there as well
        folder, = glob.glob(os.path.join(glob.escape(block), "*"))
        self.assertEqual(self.events(3, folder)[0], BOTH)

    # ---- deaths ----

    def test_a_controller_that_is_killed(self):
        self.search()
        sweep = self.scene.start()
        wait_until(lambda: self.logged(1) == FIRST and self.events(1)[0] == FIRST, "trial 1")
        loggers = self.logger_pids()
        self.assertEqual(len(loggers), 2)
        sweep.kill()
        sweep.wait()
        wait_until(lambda: not set(loggers) & set(self.logger_pids()), "the end of its loggers")
        ids = {trial: self.fake.run_of(trial)["id"] for trial in (0, 1)}
        self.let_go(0, 1, 2, 3)
        self.scene.run()
        self.all_there()
        self.assertEqual({trial: self.fake.run_of(trial)["id"] for trial in (0, 1)}, ids)
        self.scene.nothing_left()

    def test_a_logger_that_is_killed(self):
        self.search()
        sweep = self.scene.start()
        wait_until(lambda: self.logged(1) == FIRST and self.events(1)[0] == FIRST, "trial 1")
        for pid in self.logger_pids():
            kill(pid)
        wait_until(lambda: self.scene.said().count("its process ended (signal 9); it is started again") == 2, "the word")
        self.let_go(0, 1)
        wait_until(lambda: self.logged(3) == FIRST and self.events(3)[0] == FIRST, "trial 3")
        self.let_go(2, 3)
        self.scene.expect(sweep)
        self.all_there()

    def test_an_answer_that_is_lost(self):
        """What was done is not done again."""
        lost = set()

        def fault(name, body):
            if name in lost or name not in ("runs/create", "runs/log-batch"):
                return None
            lost.add(name)
            self.fake.answer(name, body)
            return 500, {"message": "gone"}
        self.fake.fault = fault
        self.search()
        self.let_go(0, 1, 2, 3)
        self.scene.run()
        self.scene.run()
        self.assertEqual(lost, {"runs/create", "runs/log-batch"})
        self.all_there()

    def test_an_event_file_that_was_torn(self):
        self.search(DONE, loggers=["tensorboard"])
        self.scene.run()
        files = sorted(glob.glob(os.path.join(glob.escape(self.scene.dir), "tensorboard", "trial-*", "events*")))
        contents = []
        for file in files:
            with open(file, "rb") as opened:
                contents.append(opened.read())
        with open(files[0], "r+b") as file:
            file.truncate(len(contents[0]) - 7)
        with open(files[1], "wb") as file:
            file.write(b"rubbish")
        os.unlink(files[2])
        self.scene.run()
        for file, content in zip(files, contents):
            with open(file, "rb") as opened:
                self.assertEqual(opened.read(), content)

    def test_a_trial_that_begins_anew(self):
        self.search("""
report '{"step": 1, "loss": 3}'
report '{"step": 2, "loss": 2}'
mark starts x
[ $HYPEROPT_ATTEMPT = 2 ] || { await go; kill -9 $$; }
report '{"step": 3, "loss": 1}'
""", num_samples=1)
        sweep = self.scene.start()
        wait_until(lambda: len(self.logged(0)) == 2, "its first attempt")
        self.scene.open("go")
        self.scene.expect(sweep)
        steps = [("loss", 1), ("loss", 2), ("loss", 3)]
        self.assertEqual((self.logged(0), self.events(0)[0]), (steps, steps))
        self.assertEqual(self.fake.run_of(0)["status"], "FINISHED")


if __name__ == "__main__":
    main(sys.argv)
