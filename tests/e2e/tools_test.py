#!/usr/bin/env python3
"""What is exported, opened by the real tools of PyPI on loopback; and a study of the real Optuna imported.

  tools_test.py BUILD_DIR [unittest's words]

The environment is kept in BUILD_DIR. Exits with 77 (skipped) where pip can not install.
"""

import contextlib
import json
import math
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

import pypi
from exports_test import PARAMETERS, tool_scene
from scene import Scene
from sweep import wait_until

PACKAGES = ["optuna==5.0.0", "optuna-dashboard", "tensorboard", "mlflow"]
LIMIT_S = 900  # against hanging for ever; a pip that takes longer counts as one that can not install
CHECK = "import optuna, optuna_dashboard, tensorboard, mlflow, sklearn; assert optuna.__version__ == '5.0.0'"

READ_STUDY = """
import json, math, optuna, sys
study = optuna.load_study(study_name=sys.argv[2], storage="sqlite:///" + sys.argv[1])
def number(v): return v if v is None or math.isfinite(v) else str(v)
print(json.dumps({"best": [study.best_trial.number, study.best_value], "direction": study.direction.name,
    "metric": study.metric_names,
    "trials": [{"number": t.number, "state": t.state.name, "params": t.params, "value": number(t.value),
                "steps": {str(k): number(v) for k, v in t.intermediate_values.items()}} for t in study.trials]}))
importance = optuna.importance.get_param_importances(study)
assert set(importance) <= set(study.best_params), importance
# And it goes on from there.
def objective(trial):
    return trial.suggest_float("x", 0, 1) + trial.suggest_int("layers", 1, 64, log=True)
study.sampler = optuna.samplers.TPESampler(seed=1)
study.optimize(objective, n_trials=3)
assert [t.state.name for t in study.trials[-3:]] == ["COMPLETE"] * 3
"""

MAKE_STUDY = """
import json, math, optuna, sys
storage = "sqlite:///" + sys.argv[1]
optuna.create_study(storage=storage, study_name="other")
study = optuna.create_study(storage=storage, study_name="a study", direction="maximize",
                            sampler=optuna.samplers.RandomSampler(seed=3))
study.set_metric_names(["acc"])
def objective(trial):
    x = trial.suggest_float("x", 0, 1)
    trial.suggest_float("lr", 1e-5, 1e-1, log=True)
    trial.suggest_float("drop", 0, 0.9, step=0.1)
    trial.suggest_int("layers", 1, 64, log=True)
    trial.suggest_int("units", 8, 64, step=8)
    trial.suggest_categorical("opt", ["sgd", 1, 1.5, True, None])
    if trial.number % 2: trial.suggest_float("only odd", -1, 1)
    for step in range(3): trial.report(x + step, step)
    if trial.number == 3: raise optuna.TrialPruned()
    if trial.number == 4: raise RuntimeError("no")
    return math.inf if trial.number == 5 else x
study.optimize(objective, n_trials=12, catch=(RuntimeError,))
study.enqueue_trial({"x": 0.5})
print(json.dumps([{"params": t.params, "state": t.state.name, "value": str(t.value),
                   "steps": {str(k): v for k, v in t.intermediate_values.items()}} for t in study.trials]))
"""

READ_RUNS = """
import json, mlflow, sys
client = mlflow.MlflowClient(tracking_uri=sys.argv[1])
experiment = client.get_experiment_by_name(sys.argv[2])
runs = client.search_runs([experiment.experiment_id])
print(json.dumps([{"name": run.info.run_name, "status": run.info.status, "params": run.data.params,
    "tags": run.data.tags, "loss": [[m.step, str(m.value)] for m in client.get_metric_history(run.info.run_id, "loss")]}
    for run in runs]))
"""


# One reader that goes on where it was, as TensorBoard does: the first value, then all that came.
FOLLOW_EVENTS = """
import glob, json, sys, time
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
def scalars(want):
    while True:
        reader.Reload()
        if "loss" in reader.Tags()["scalars"] and len(reader.Scalars("loss")) >= want:
            return [[event.step, event.value] for event in reader.Scalars("loss")]
        time.sleep(0.2)
while not glob.glob(sys.argv[1] + "/events*"):
    time.sleep(0.2)
reader = EventAccumulator(sys.argv[1])
first = scalars(1)
open(sys.argv[2], "w")
print(json.dumps([first, scalars(3)]))
"""


class ToolsTest(unittest.TestCase):
    build = bin = ""

    @classmethod
    def setUpClass(cls):
        cls.base = os.path.realpath(tempfile.mkdtemp(prefix="hyperopt pypi "))
        cls.scene = tool_scene(cls.build, cls.base)
        cls.trials = cls.scene.trials()

    @classmethod
    def tearDownClass(cls):
        cls.scene.close()
        shutil.rmtree(cls.base, ignore_errors=True)

    def export(self, *words):
        return self.scene.hyperopt("export", self.scene.dir, *words)

    def python(self, text, *words):
        result = subprocess.run([os.path.join(self.bin, "python3"), "-W", "ignore", "-c", text, *words], text=True,
                                cwd=self.base, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S,
                                check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return json.loads(result.stdout.splitlines()[0])

    def serve(self, *words):
        """A server that is ended with the test; its output's path."""
        out = os.path.join(self.base, f"{words[0]}.txt")
        with open(out, "wb") as file:
            process = subprocess.Popen([os.path.join(self.bin, "python3"), "-W", "ignore", "-m", *words], cwd=self.base,
                                       stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True)

        def end():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
            process.wait()
        self.addCleanup(end)
        return process, out

    def fetch(self, url, body=None):
        request = urllib.request.Request(url, None if body is None else json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    def answers(self, process, out, url):
        def asked():
            with open(out) as file:
                assert process.poll() is None, file.read()
            with contextlib.suppress(urllib.error.URLError, ConnectionError, TimeoutError):
                with urllib.request.urlopen(url, timeout=10) as answer:
                    return answer.status == 200
        wait_until(asked, url, LIMIT_S)

    # ---- Optuna ----

    def test_optuna_opens_the_storage(self):
        out = os.path.join(self.base, "study.db")
        self.export("--format", "optuna", "--output", out)
        study = self.python(READ_STUDY, out, "a sweep")
        self.assertEqual((study["direction"], study["metric"]), ("MINIMIZE", ["loss"]))
        finite = [t for t in self.trials if t["state"] == "completed" and isinstance(t["best"], float)]
        best = min(finite, key=lambda t: t["best"])
        self.assertEqual(study["best"], [best["id"], best["best"]])
        self.assertEqual(len(study["trials"]), len(self.trials))
        for there, here in zip(study["trials"], self.trials):
            params = {name: "[3,3]" if value == [3, 3] else value for name, value in here["params"].items()}
            self.assertEqual(there["params"], params)
            self.assertEqual({name: type(value) for name, value in there["params"].items()},
                             {name: type(value) for name, value in params.items()})
            steps = {str(report["step"]): {"NaN": "nan", "Infinity": "inf"}.get(report["loss"], report["loss"])
                     for report in here["reports"]}
            self.assertEqual(there["steps"], steps)

    def test_optuna_dashboard_shows_it(self):
        out = os.path.join(self.base, "shown.db")
        self.export("--format", "optuna", "--output", out)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        process, said = self.serve("optuna_dashboard._cli", "sqlite:///" + out, "--host", "127.0.0.1", "--port", str(port))
        url = f"http://127.0.0.1:{port}/api/studies"
        self.answers(process, said, url)
        study, = self.fetch(url)["study_summaries"]
        self.assertEqual((study["study_name"], study["directions"]), ("a sweep", ["minimize"]))
        shown = self.fetch(f"{url}/{study['study_id']}")["trials"]
        self.assertEqual([trial["number"] for trial in shown], [trial["id"] for trial in self.trials])
        states = {"completed": "Complete", "stopped": "Pruned", "failed": "Fail"}
        for there, here in zip(shown, self.trials):
            if here["state"] != "completed" or isinstance(here["best"], float):
                self.assertEqual(there["state"], states[here["state"]], here)

    def test_a_study_of_optuna_is_imported(self):
        storage, out = os.path.join(self.base, "real.db"), os.path.join(self.base, "imported")
        made = self.python(MAKE_STUDY, storage)
        self.assertIn("other", self.scene.hyperopt("import", storage, "--output", out, code=2))
        self.scene.hyperopt("import", storage, "--output", out, "--study", "a study")
        sweep = json.loads(self.scene.hyperopt("export", out, "--format", "json"))
        self.assertEqual((sweep["sweep"]["goal"], sweep["sweep"]["metric"]), ("maximize", "acc"))
        over = [trial for trial in made if trial["state"] != "WAITING"]
        states = {"COMPLETE": "completed", "PRUNED": "stopped", "FAIL": "failed"}
        self.assertEqual([trial["state"] for trial in sweep["trials"]], [states[trial["state"]] for trial in over])
        for here, there in zip(sweep["trials"], over):
            self.assertEqual(here["params"], there["params"])
            self.assertEqual({name: type(value) for name, value in here["params"].items()},
                             {name: type(value) for name, value in there["params"].items()})
            said = {str(report["step"]): report["acc"] for report in here["reports"]}
            for step, value in there["steps"].items():
                self.assertEqual(said[step], value)
            if there["value"] not in ("None", "inf"):
                self.assertEqual(here["last"], float(there["value"]))
        self.scene.hyperopt("report", out)
        # Those that were stopped count here.
        best = max(t for t in (float(trial["value"]) for trial in over if trial["value"] != "None") if math.isfinite(t))
        self.assertEqual(float(self.scene.hyperopt("best", out, "--format", "value")), best)

    # ---- TensorBoard ----

    def test_tensorboard_shows_scalars_and_hparams(self):
        out = os.path.join(self.base, "events")
        self.export("--format", "tensorboard", "--output", out)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        process, said = self.serve("tensorboard.main", "--logdir", out, "--host", "127.0.0.1", "--port", str(port),
                                   "--load_fast", "false", "--reload_interval", "1")
        url = f"http://127.0.0.1:{port}"
        self.answers(process, said, url + "/data/runs")
        runs = wait_until(lambda: (lambda r: len(r) >= 24 and r)(self.fetch(url + "/data/runs")), "the runs", LIMIT_S)
        self.assertLessEqual({f"trial-{trial['id']:05}" for trial in self.trials if trial["reports"]}, set(runs))
        for trial in self.trials[5:8]:
            scalars = self.fetch(f"{url}/data/plugin/scalars/scalars?tag=loss&run=trial-{trial['id']:05}")
            self.assertEqual([step for _, step, _ in scalars], [report["step"] for report in trial["reports"]])
            for (_, _, value), report in zip(scalars, trial["reports"]):
                self.assertAlmostEqual(value, report["loss"], places=6)
        experiment = self.fetch(url + "/data/plugin/hparams/experiment", {"experimentName": ""})
        self.assertEqual({info["name"] for info in experiment["hparamInfos"]}, set(PARAMETERS))
        groups = self.fetch(url + "/data/plugin/hparams/session_groups", {
            "experimentName": "", "allowedStatuses": ["STATUS_SUCCESS", "STATUS_FAILURE", "STATUS_UNKNOWN"],
            "colParams": [{"metric": {"tag": "loss"}}], "startIndex": 0, "sliceSize": 100})
        self.assertEqual(len(groups["sessionGroups"]), 24)
        by_name = {group["name"]: group for group in groups["sessionGroups"]}
        for trial in self.trials:
            group = by_name[f"trial {trial['id']}"]
            self.assertEqual(group["hparams"]["x"], trial["params"]["x"])
            self.assertEqual(group["hparams"]["bias"], trial["params"]["bias"])
            session, = group["sessions"]
            self.assertEqual(session["status"],
                             "STATUS_FAILURE" if trial["state"] == "failed" else "STATUS_SUCCESS")

    # ---- while a sweep runs ----

    def mlflow_server(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        process, said = self.serve("mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1",
                                   "--backend-store-uri", f"sqlite:///{self.base}/mlflow {port}.db",
                                   "--default-artifact-root", os.path.join(self.base, "artifacts"))
        url = f"http://127.0.0.1:{port}"
        self.answers(process, said, url + "/health")
        return url

    def test_loggers_while_it_runs(self):
        url = self.mlflow_server()
        folder = os.path.join(self.base, "live")
        os.makedirs(folder)
        scene = Scene(self.build, folder)
        self.addCleanup(scene.close)
        scene.search("""
            report "{\\"step\\": 1, \\"loss\\": $HYPEROPT_PARAM_X}"
            await gate
            report '{"step": 2, "loss": NaN}'
            report '{"step": 3, "loss": 0.25}'
            """, num_samples=6, top={"loggers": ["tensorboard", {"type": "mlflow", "uri": url}], "name": "live one"})
        sweep = scene.start()
        seen = os.path.join(self.base, "seen")
        reader = subprocess.Popen([os.path.join(self.bin, "python3"), "-W", "ignore", "-c", FOLLOW_EVENTS,
                                   os.path.join(scene.dir, "tensorboard", "trial-00000"), seen], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        self.addCleanup(reader.wait)
        self.addCleanup(reader.kill)
        wait_until(lambda: os.path.exists(seen), "the first value", LIMIT_S)

        def runs():
            with contextlib.suppress(urllib.error.HTTPError):
                found = self.fetch(url + "/api/2.0/mlflow/experiments/search",
                                   {"max_results": 9, "filter": "name = 'live one'"}).get("experiments", [])
                if found:
                    ids = [experiment["experiment_id"] for experiment in found]
                    return self.fetch(url + "/api/2.0/mlflow/runs/search", {"experiment_ids": ids}).get("runs", [])
            return []
        wait_until(lambda: [run for run in runs() if run["data"].get("metrics")][1:], "two runs with a value", LIMIT_S)
        self.assertEqual({run["info"]["status"] for run in runs()}, {"RUNNING"})
        before = {run["info"]["run_id"] for run in runs()}
        sweep.kill()
        sweep.wait()
        scene.open("gate")
        scene.run()
        trials = scene.trials()
        x = trials[0]["params"]["x"]
        first, then = json.loads(reader.communicate(timeout=LIMIT_S)[0])
        self.assertEqual(([step for step, _ in first], [step for step, _ in then]), ([1], [1, 2, 3]))
        self.assertAlmostEqual(then[0][1], x, places=6)
        there = {run["tags"]["hyperopt.trial"]: run for run in self.python(READ_RUNS, url, "live one")}
        self.assertEqual(sorted(there), [str(trial["id"]) for trial in trials])
        self.assertLessEqual(before, {run["info"]["run_id"] for run in runs()})
        self.assertEqual(len(runs()), len(trials))
        for trial in trials:
            run = there[str(trial["id"])]
            self.assertEqual((run["status"], [step for step, _ in run["loss"]]), ("FINISHED", [1, 2, 3]))
            self.assertEqual(float(run["params"]["x"]), trial["params"]["x"])

    # ---- MLflow ----

    def test_mlflow_has_the_runs_once(self):
        url = self.mlflow_server()
        for _ in range(2):  # again: no doubles
            self.assertRegex(self.export("--format", "mlflow", "--uri", url), r"^24 runs in experiment a sweep \(id \d+\)")
        runs = {run["tags"]["hyperopt.trial"]: run for run in self.python(READ_RUNS, url, "a sweep")}
        self.assertEqual(len(runs), 24)
        status = {"completed": "FINISHED", "stopped": "KILLED", "failed": "FAILED"}
        for trial in self.trials:
            run = runs[str(trial["id"])]
            self.assertEqual((run["name"], run["status"]), (f"trial {trial['id']}", status[trial["state"]]))
            self.assertEqual(set(run["params"]), set(PARAMETERS))
            self.assertEqual(float(run["params"]["lr"]), trial["params"]["lr"])
            said = [[report["step"], str(report["loss"])] for report in trial["reports"]]
            if trial["id"] in (3, 4):  # MLflow's store has a form of its own for what is not finite
                self.assertEqual([step for step, _ in run["loss"]], [step for step, _ in said])
            else:
                self.assertEqual([[step, float(value)] for step, value in run["loss"]],
                                 [[step, float(value)] for step, value in said])


if __name__ == "__main__":
    ToolsTest.build = os.path.abspath(sys.argv.pop(1))
    ToolsTest.bin = pypi.environment(ToolsTest.build, "pypi-tools-venv", CHECK, PACKAGES, LIMIT_S)
    if ToolsTest.bin is None:
        sys.exit(pypi.SKIPPED)
    unittest.main()
