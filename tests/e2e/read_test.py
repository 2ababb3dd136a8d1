"""What trials write besides report lines: read, judged, and read once whatever dies."""

import json
import os
import shutil
import signal
import sys

from scene import SceneTest, main
from sweep import kill, lives, wait_until

TESTDATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "executors", "testdata")


class ReadTest(SceneTest):
    def read(self, trial, read, metric="loss", code=0, **executor):
        """Runs a sweep of one trial; returns it."""
        scene = self.scene
        top = {"read": read, "workdir": "trial", **executor.pop("top", {})}
        executor = {"num_samples": 1, **executor}
        scene.search(trial, top=top, **executor)
        with open(scene.config) as file:
            search = json.load(file)
        search["hyperopt"]["metric"] = metric
        with open(scene.config, "w") as file:
            json.dump(search, file)
        self.said = scene.run(code=code)
        scene.hyperopt("verify", scene.dir)
        return scene.trials()[0]

    def fixture(self, name):
        shutil.copy(os.path.join(TESTDATA, name), self.scene.folder)
        return os.path.join(self.scene.folder, name)

    def values(self, trial, field):
        return [report[field] for report in trial["reports"] if field in report]

    def test_csv(self):
        table = self.fixture("lightning_metrics.csv")
        trial = self.read(f"mkdir -p logs/version_0; cp '{table}' logs/version_0/metrics.csv",
                          {"csv": "logs/**/metrics.csv"}, metric="val_loss")
        self.assertEqual(trial["state"], "completed")
        self.assertEqual(trial["best_step"], 23)
        self.assertAlmostEqual(trial["best"], 2.3115580081939697)
        self.assertEqual(self.values(trial, "epoch"), [0, 0, 0, 1, 1, 1, 1, 2, 2, 2])

    def test_csv_rewritten_while_it_grows(self):
        scene = self.scene
        scene.search("printf 'epoch,loss\\n1,9\\n2,8\\n' > m.csv; await seen; "
                     "printf 'epoch,late,loss\\n1,,9\\n2,,8\\n3,5,7\\n' > m.csv",
                     num_samples=1, top={"read": {"csv": "m.csv"}, "workdir": "trial"})
        process = scene.start()
        wait_until(lambda: scene.recorded() == 2, "both rows")
        scene.open("seen")
        scene.expect(process)
        trial = scene.trials()[0]
        self.assertEqual(self.values(trial, "loss"), [9, 8, 7])
        self.assertEqual(self.values(trial, "late"), [5])
        scene.hyperopt("verify", scene.dir)

    def test_metric_step_and_time_in_lines_of_their_own(self):
        rows = "10,,\\n,1,\\n,,0.5\\n20,,\\n,2.5,\\n,,0.25\\n,,0.75\\n"
        trial = self.read(f"printf 'step,epoch,loss\\n{rows}' > m.csv", {"csv": "m.csv"},
                          scheduler={"type": "asha", "time_attr": "epoch", "max_t": 9, "grace_period": 2,
                                     "reduction_factor": 2})
        losses = [(report["step"], report["loss"]) for report in trial["reports"] if "loss" in report]
        self.assertEqual(losses, [(10, 0.5), (20, 0.25), (21, 0.75)])
        self.assertEqual(self.scene.query("select level, value, time from rung"), [(2, 0.25, 2)])

    def test_a_field_that_jumps(self):
        """Judged at the first report at or past a rung; the rungs below are passed."""
        trial = self.read("""for e in 0.5 1.5 7 9; do echo "{'loss': $e, 'time_total_s': $e}"; done""",
                          {"output": "dicts"}, scheduler={"type": "asha", "time_attr": "time_total_s", "max_t": 20,
                                                          "grace_period": 1, "reduction_factor": 2})
        self.assertEqual(trial["state"], "completed")
        self.assertEqual(self.scene.query("select level, time, late from rung order by level"),
                         [(1, 1, 0), (2, 7, 1), (4, 7, 0), (8, 9, 0)])

    def test_jsonl_with_other_names(self):
        trial = self.read("""echo '{"epoch": 1, "val_loss": 0.5}' > log.jsonl
echo '{"epoch": 2, "val_loss": 0.25}' >> log.jsonl""",
                          {"jsonl": "${trial.dir}/*.jsonl", "rename": {"val_loss": "loss", "epoch": "step"}})
        self.assertEqual((trial["best"], trial["best_step"]), (0.25, 2))

    def test_dicts_among_bars(self):
        out, err = self.fixture("hf_trainer_stdout.txt"), self.fixture("hf_trainer_stderr.txt")
        trial = self.read(f"cat '{out}'; cat '{err}' >&2", {"output": "dicts"}, metric="eval_loss",
                          scheduler={"type": "asha", "time_attr": "epoch", "max_t": 9, "grace_period": 2,
                                     "reduction_factor": 2})
        self.assertEqual(trial["best"], 4.624)
        self.assertEqual(len(self.values(trial, "loss")), 6)
        # The rung at 2 was met by the evaluation after the second epoch.
        self.assertEqual(self.scene.query("select level, value, time from rung"), [(2, 4.73, 2)])

    def test_tensorboard(self):
        events = self.fixture("lightning.tfevents")
        trial = self.read(f"mkdir tb; cp '{events}' tb/events.out.tfevents.1.host.2.0",
                          {"tensorboard": "tb/events.*"}, metric="val_loss",
                          scheduler={"type": "asha", "time_attr": "epoch", "max_t": 9, "grace_period": 1,
                                     "reduction_factor": 2})
        self.assertEqual((trial["state"], trial["best_step"]), ("completed", 23))
        # epoch is an event of its own, after the metric's: each loss is judged at the one said before it.
        self.assertEqual(len(self.values(trial, "epoch")), len(self.values(trial, "train_loss")) + 4)

    def test_several_sources_and_the_report_file(self):
        trial = self.read("""report '{"step": 1, "loss": 4}'
echo "{'loss': 3, 'step': 2}"
echo "loss=2 at 3" >&2
printf 'step;loss\\n4;1\\n' > a.csv""",
                          [{"output": "dicts", "csv": "*.csv"},
                           {"output": {"loss": "loss=(\\S+)", "step": "at (\\d+)"}}])
        self.assertEqual(sorted(self.values(trial, "loss")), [1, 2, 3, 4])
        self.assertEqual(trial["best_step"], 4)

    def test_no_trial_reads_anothers_rows(self):
        """The attempt's folder begins empty, also where an earlier attempt left its files."""
        scene = self.scene
        scene.search("echo 'loss\n'$HYPEROPT_TRIAL.$HYPEROPT_ATTEMPT > m.csv; [ $HYPEROPT_ATTEMPT = 2 ] || kill -9 $$",
                     num_samples=3, top={"read": {"csv": "m.csv"}, "workdir": "trial"})
        scene.run()
        for trial in scene.trials():
            # Both attempts' rows are recorded, each under its own attempt.
            rows = scene.query(f"select attempt, value from report where trial = {trial['id']} order by attempt")
            self.assertEqual(rows, [(1, trial["id"] + 0.1), (2, trial["id"] + 0.2)])
        scene.search("true", top={"read": {"csv": "/tmp/*.csv"}})
        said = scene.hyperopt("check", scene.config, code=2)
        self.assertIn("must lie in the trial's own folder", said)

    def test_controller_and_executor_die(self):
        """Rows that were recorded are not read twice, and none is lost."""
        scene = self.scene
        scene.search("echo step,loss > m.csv; for i in 1 2 3 4 5 6; do echo $i,$i >> m.csv; await row$i; done",
                     num_samples=1, top={"read": {"csv": "*.csv"}, "workdir": "trial"})
        process = scene.start()
        wait_until(lambda: scene.recorded() == 1, "the first row")
        for i in (1, 2):
            scene.open(f"row{i}")
            wait_until(lambda: scene.recorded() == i + 1, f"row {i + 1}")
            executor = scene.pid_of("executor.lock")
            kill(process.pid)
            process.wait()
            if i == 2:
                kill(executor, signal.SIGKILL)
                wait_until(lambda: not lives(executor), "the executor's end")
            process = scene.start()
        for i in range(3, 7):
            scene.open(f"row{i}")
        scene.expect(process)
        trial = scene.trials()[0]
        self.assertEqual(sorted(self.values(trial, "loss")), [1, 2, 3, 4, 5, 6])
        scene.hyperopt("verify", scene.dir)
        scene.nothing_left()

    def test_metric_under_another_name(self):
        trial = self.read("""echo "{'eval_loss': 1, 'epoch': 1}" """, {"output": "dicts"}, code=1)
        self.assertEqual(self.scene.query("select detail from trial")[0][0],
                         "`loss` never came; seen: epoch, eval_loss; did you mean eval_loss?")
        self.assertEqual(trial["state"], "failed")

    def test_common_error_is_shown(self):
        self.read("""echo 'Traceback (most recent call last):' >&2
echo '  File "train.py", line 3' >&2
echo 'KeyError: no such column' >&2
exit 1""", {"output": "dicts"}, code=1, num_samples=5)
        end = self.said[self.said.rindex("why:"):]
        self.assertIn("| Traceback", end)
        self.assertIn("| KeyError: no such column", end)


if __name__ == "__main__":
    main(sys.argv)
