#!/usr/bin/env python3
"""Sweeps written for other programs, and read from them: the bytes, rows and requests, without those programs."""

import contextlib
import http.server
import json
import math
import os
import shutil
import sqlite3
import struct
import sys
import tempfile
import threading
import unittest
from urllib.parse import urlparse
from xml.etree import ElementTree

from scene import Scene, SceneTest, main

HERE = os.path.dirname(os.path.abspath(__file__))
LUDWIG = os.path.join(HERE, "..", "..", "search", "testdata", "ludwig_statistics.json")

# 2 fails, 3 ends with NaN, 4 is infinite, 5 is stopped by early stopping or not.
TRIAL = """
case $HYPEROPT_TRIAL in
  2) echo 'no such <layer>' >&2; exit 3 ;;
  3) report '{"step": 1, "loss": NaN}'; exit 0 ;;
  4) report '{"step": 1, "loss": Infinity}'; report '{"step": 2, "loss": 0.5, "lr": 0.25}'; exit 0 ;;
esac
for step in 1 2 3 4; do
  report "{\\"step\\": $step, \\"loss\\": $HYPEROPT_PARAM_X, \\"val acc\\": 0.$step, \\"note\\": \\"text\\"}"
done
"""
PARAMETERS = {
    "x": {"space": "uniform", "lower": 0, "upper": 1},
    "lr": {"space": "loguniform", "lower": 1e-5, "upper": 1e-1},
    "drop": {"space": "float", "lower": 0, "upper": 0.9, "step": 0.1},
    "layers": {"space": "int", "lower": 1, "upper": 64, "log": True},
    "z": {"space": "randn", "mean": 0, "sd": 1},
    "opt": {"space": "choice", "categories": ["sgd", 1, 1.5, True, None, "1", [3, 3]]},
    "bias": {"space": "choice", "categories": [True, False]},
}


def tool_scene(build, base):
    scene = Scene(build, base)
    scene.search(TRIAL, parameters=PARAMETERS, num_samples=24, max_concurrent_trials=4, max_initial_failures=100,
                 max_failures=0, top={"name": "a sweep"},
                 scheduler={"type": "asha", "max_t": 4, "grace_period": 1, "reduction_factor": 2})
    scene.run()
    return scene


# ---- an event file's bytes ----

def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff


def records(data):
    at = 0
    while at < len(data):
        head, (length,) = data[at:at + 8], struct.unpack("<Q", data[at:at + 8])
        assert struct.unpack("<I", data[at + 8:at + 12])[0] == masked(head)
        event = data[at + 12:at + 12 + length]
        assert struct.unpack("<I", data[at + 12 + length:at + 16 + length])[0] == masked(event)
        yield event
        at += 16 + length


def fields(message):
    """A protocol buffer as {number: [value, ...]}; what has a length as bytes."""
    found, at = {}, 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(message):
        key = varint()
        kind = key & 7
        if kind == 0:
            value = varint()
        else:
            size = {1: 8, 5: 4}.get(kind) or varint()
            value = message[at:at + size]
            at += size
            if kind in (1, 5):
                value = struct.unpack("<d" if kind == 1 else "<f", value)[0]
        found.setdefault(key >> 3, []).append(value)
    return found


class FakeMlflow:
    """As much of the server as an export asks for, with its rules: what is logged twice is there twice."""

    def __init__(self, port=0):
        self.experiments, self.runs, self.asked = {}, {}, []
        self.fault = None  # asked before an answer: None, or the status and text that it is instead
        self.broken = []  # rules that were broken
        fake = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                path = urlparse(self.path).path
                assert path.startswith("/api/2.0/mlflow/"), path
                name = path[len("/api/2.0/mlflow/"):]
                fake.asked.append((name, body, self.headers.get("Authorization")))
                instead = fake.fault(name, body) if fake.fault else None
                try:
                    status, text = instead or fake.answer(name, body)
                except AssertionError as error:
                    fake.broken.append(f"{name} {body}: {error}")
                    raise
                text = (text if isinstance(text, str) else json.dumps(text)).encode()
                with contextlib.suppress(ConnectionError):  # who asked is gone
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(text)))
                    self.end_headers()
                    self.wfile.write(text)

            def log_message(self, *words):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.uri = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        self.refuse = None

    def run_of(self, trial):
        """The run of a trial; there is at most one."""
        found = [run for run in list(self.runs.values()) if run["tags"]["hyperopt.trial"] == str(trial)]
        assert len(found) <= 1, found
        return found[0] if found else None

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def answer(self, name, body):
        if self.refuse == name:
            return 400, {"error_code": "INVALID_PARAMETER_VALUE", "message": "not today"}
        return 200, getattr(self, name.replace("/", "_").replace("-", "_"))(body)

    def experiments_search(self, body):
        wanted = body["filter"][len("name = '"):-1]
        return {"experiments": [{"experiment_id": self.experiments[wanted], "name": wanted}]} \
            if wanted in self.experiments else {}

    def experiments_create(self, body):
        self.experiments[body["name"]] = str(len(self.experiments))
        return {"experiment_id": self.experiments[body["name"]]}

    def runs_search(self, body):
        first = int(body.get("page_token", 0))
        sweep = body["filter"][len("tags.`hyperopt.sweep` = '"):-1]
        found = [run for run in self.runs.values() if run["tags"]["hyperopt.sweep"] == sweep
                 and (body["run_view_type"] == "ALL" or run["stage"] == "active")]
        runs = found[first:first + 7]  # pages, few as they are
        return {"runs": [{"info": {"run_id": run["id"], "lifecycle_stage": run["stage"]},
                          "data": {"tags": [{"key": k, "value": v} for k, v in run["tags"].items()]}} for run in runs],
                **({"next_page_token": str(first + 7)} if first + 7 < len(found) else {})}

    def runs_create(self, body):
        run = {"id": f"run{len(self.runs)}", "name": body["run_name"], "params": {}, "metrics": [], "status": "RUNNING", "stage": "active",
               "tags": {tag["key"]: tag["value"] for tag in body["tags"]}, "start": body["start_time"]}
        self.runs[run["id"]] = run
        return {"run": {"info": {"run_id": run["id"]}}}

    def runs_log_batch(self, body):
        run = self.runs[body["run_id"]]
        assert run["stage"] == "active"
        assert len(body.get("metrics", [])) <= 1000 and len(body.get("params", [])) <= 100
        run["tags"].update({tag["key"]: tag["value"] for tag in body.get("tags", [])})
        for param in body.get("params", []):
            assert run["params"].get(param["key"], param["value"]) == param["value"], param
            run["params"][param["key"]] = param["value"]
        run["metrics"] += [(m["key"], m["step"], m["value"]) for m in body.get("metrics", [])]
        return {}

    def runs_update(self, body):
        self.runs[body["run_id"]].update(status=body["status"], end=body.get("end_time"))
        return {}


class ExportsTest(unittest.TestCase):
    build = ""

    @classmethod
    def setUpClass(cls):
        cls.build = SceneTest.build
        cls.base = os.path.realpath(tempfile.mkdtemp(prefix="hyperopt e2e "))
        cls.scene = tool_scene(cls.build, cls.base)
        cls.trials = cls.scene.trials()

    @classmethod
    def tearDownClass(cls):
        cls.scene.close()
        shutil.rmtree(cls.base, ignore_errors=True)

    def path(self, name):
        path = os.path.join(self.base, name)
        self.addCleanup(lambda: shutil.rmtree(path, ignore_errors=True) if os.path.isdir(path)
                        else os.path.exists(path) and os.unlink(path))
        return path

    # ---- TensorBoard ----

    def event_file(self, *folder):
        folder = os.path.join(*folder)
        names = [name for name in os.listdir(folder) if "tfevents" in name]
        self.assertEqual(len(names), 1)
        with open(os.path.join(folder, names[0]), "rb") as file:
            return [fields(event) for event in records(file.read())]

    def plugin(self, event):
        value = fields(fields(event[5][0])[1][0])
        plugin = fields(fields(value[9][0])[1][0])
        self.assertEqual(plugin[1], [b"hparams"])
        return value[1][0], fields(plugin[2][0])

    def test_event_files(self):
        out = self.path("events")
        for _ in range(2):  # again: the same files
            self.scene.hyperopt("export", self.scene.dir, "--format", "tensorboard", "--output", out)
        version, experiment = self.event_file(out)
        self.assertEqual(version[3], [b"brain.Event:2"])
        tag, content = self.plugin(experiment)
        self.assertEqual(tag, b"_hparams_/experiment")
        experiment = fields(content[2][0])
        self.assertEqual(experiment[6], [b"a sweep"])
        infos = {info[1][0].decode(): info for info in map(fields, experiment[4])}
        self.assertEqual(set(infos), set(PARAMETERS))
        self.assertEqual({name: info[4][0] for name, info in infos.items()},
                         {"x": 3, "lr": 3, "drop": 3, "layers": 3, "z": 3, "opt": 1, "bias": 2})
        self.assertEqual(fields(infos["x"][6][0]), {1: [0.0], 2: [1.0]})
        self.assertEqual(fields(fields(fields(experiment[5][0])[1][0])[2][0] and experiment[5][0])[1][0][2:], b"loss")
        self.assertEqual(len([name for name in os.listdir(out) if name.startswith("trial-")]), 24)
        for trial in self.trials:
            self.check_trial(trial, self.event_file(out, f"trial-{trial['id']:05}"))

    def check_trial(self, trial, events):
        tag, content = self.plugin(events[1])
        self.assertEqual(tag, b"_hparams_/session_start_info")
        params = {}
        for entry in map(fields, fields(content[3][0])[1]):
            (kind, value), = fields(entry[2][0]).items() if entry[2][0] else ((0, [None]),)
            params[entry[1][0].decode()] = bool(value[0]) if kind == 4 else value[0].decode() if kind == 3 else value[0]
        for name, value in trial["params"].items():
            if name == "opt" and not isinstance(value, str):
                self.assertEqual(params[name], json.dumps(value, separators=(",", ":")))
            else:
                self.assertEqual(params[name], value)
        tag, content = self.plugin(events[-1])
        self.assertEqual(tag, b"_hparams_/session_end_info")
        self.assertEqual(fields(content[4][0])[1], [2 if trial["state"] == "failed" else 1])
        told = []
        for event in events[2:-1]:
            value = fields(fields(event[5][0])[1][0])
            told.append((event[2][0], value[1][0].decode(), value[2][0]))
        said = [(report["step"], name, float(value)) for report in trial["reports"]
                for name, value in sorted(report.items()) if name in ("loss", "lr", "val acc")]
        self.assertEqual([t[:2] for t in told], [s[:2] for s in said])
        for (_, _, a), (_, _, b) in zip(told, said):
            self.assertTrue(a == b or math.isnan(a) and math.isnan(b) or abs(a - b) < 1e-6 * abs(b), (a, b))

    def test_what_is_missing_is_said(self):
        for format_, words in (("tensorboard", "--output"), ("optuna", "--output"), ("mlflow", "--uri")):
            self.assertIn(words, self.scene.hyperopt("export", self.scene.dir, "--format", format_, code=2))
        self.assertIn("mlflow", self.scene.hyperopt("export", self.scene.dir, "--uri", "http://x", code=2))

    # ---- pictures ----

    def test_pictures(self):
        out = self.path("pictures")
        said = self.scene.hyperopt("report", self.scene.dir, "--format", "svg", "--output", out).split("\n")
        views = ("parallel", "history", "curves", "importance")
        self.assertEqual([os.path.basename(path) for path in said if path], [f"report-{view}.svg" for view in views])
        for view in views:
            root = ElementTree.parse(os.path.join(out, f"report-{view}.svg")).getroot()
            self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
        lines = ElementTree.parse(os.path.join(out, "report-parallel.svg")).getroot().findall("{*}path")
        self.assertEqual(len(lines), 24)
        one = self.path("one.svg")
        self.scene.hyperopt("report", self.scene.dir, "--format", "svg", "--view", "history", "--output", one)
        self.assertTrue(os.path.exists(one))
        self.assertIn("--view", self.scene.hyperopt("report", self.scene.dir, "--view", "history", code=2))

    def test_png_is_made_or_says_what_it_takes(self):
        png = self.path("curves.png")
        words = ("report", self.scene.dir, "--format", "png", "--view", "curves", "--output", png)
        none = dict(self.scene.env, PATH=self.base)
        self.assertIn("librsvg2-bin", self.scene.hyperopt(*words, code=3, env=none))
        self.assertFalse(os.path.exists(png))
        if shutil.which("rsvg-convert"):
            self.scene.hyperopt(*words)
            with open(png, "rb") as file:
                self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")

    def test_history_in_the_terminal(self):
        plot = self.scene.hyperopt("trials", self.scene.dir, "--plot", env=dict(self.scene.env, LC_ALL="C"))
        self.assertIn("best loss so far, by trial", plot)
        best = min(trial["best"] for trial in self.trials if isinstance(trial["best"], float)
                   and trial["state"] != "failed")
        self.assertIn(f"{best:.4g}"[:5], plot)
        self.assertIn("*", plot.split("\n\n")[0])

    # ---- Optuna ----

    def rows(self, path, sql):
        with contextlib.closing(sqlite3.connect(path)) as db:
            return db.execute(sql).fetchall()

    def test_optuna_storage(self):
        out = self.path("study.db")
        self.scene.hyperopt("export", self.scene.dir, "--format", "optuna", "--output", out)
        self.assertIn("already", self.scene.hyperopt("export", self.scene.dir, "--format", "optuna", "--output", out,
                                                     code=2))
        self.assertEqual(self.rows(out, "select study_name from studies"), [("a sweep",)])
        self.assertEqual(self.rows(out, "select direction, objective from study_directions"), [("MINIMIZE", 0)])
        self.assertEqual(self.rows(out, "select * from alembic_version"), [("v3.2.0.a",)])
        states = dict(self.rows(out, "select number, state from trials"))
        expected = {"completed": "COMPLETE", "stopped": "PRUNED", "failed": "FAIL"}
        self.assertEqual(states, {trial["id"]: expected[trial["state"]] for trial in self.trials})
        values = {row[0]: row[1:] for row in self.rows(
            out, "select number, value, value_type from trial_values join trials using (trial_id)")}
        for trial in self.trials:
            if states[trial["id"]] == "FAIL" or trial["best"] == "NaN":
                self.assertNotIn(trial["id"], values)
            else:
                self.assertEqual(values[trial["id"]], (trial["best"], "FINITE"))
        steps = self.rows(out, """select number, step, intermediate_value, intermediate_value_type
                                  from trial_intermediate_values join trials using (trial_id) order by 1, 2""")
        self.assertIn((3, 1, None, "NAN"), steps)
        self.assertIn((4, 1, None, "INF_POS"), steps)
        self.assertEqual(len(steps), sum(len(trial["reports"]) for trial in self.trials))
        params = self.rows(out, """select number, param_name, param_value, distribution_json
                                   from trial_params join trials using (trial_id)""")
        self.assertEqual(len(params), 24 * len(PARAMETERS))
        for number, name, value, text in params:
            distribution = json.loads(text)
            attributes, real = distribution["attributes"], self.trials[number]["params"][name]
            if distribution["name"] == "CategoricalDistribution":
                choice = attributes["choices"][int(value)]
                self.assertEqual((type(choice), choice),
                                 (str, "[3,3]") if isinstance(real, list) else (type(real), real))
            else:
                self.assertEqual(value, real)
                self.assertTrue(attributes["low"] <= value <= attributes["high"])
                self.assertFalse(attributes["log"] and attributes["step"] not in (None, 1))

    def test_optuna_and_back(self):
        out, back = self.path("study.db"), self.path("back")
        self.scene.hyperopt("export", self.scene.dir, "--format", "optuna", "--output", out)
        said = self.scene.hyperopt("import", out, "--output", back)
        self.assertIn("24 trials of Optuna", said)
        again = json.loads(self.scene.hyperopt("export", back, "--format", "json"))
        self.assertEqual((again["sweep"]["metric"], again["sweep"]["goal"], again["sweep"]["state"]),
                         ("loss", "minimize", "finished"))
        self.assertEqual(len(again["trials"]), 24)
        for trial, old in zip(again["trials"], self.trials):
            params = {name: "[3,3]" if value == [3, 3] else value for name, value in old["params"].items()}
            self.assertEqual(trial["params"], params)
            self.assertEqual((trial["state"], trial["reason"]), (old["state"], old["reason"]))
            if old["state"] != "failed":
                self.assertEqual(trial["last"], old["best"])
                # When it ran, to the microsecond.
                self.assertAlmostEqual(trial["started"], old["started"], places=4)
                self.assertAlmostEqual(trial["ended"], old["ended"], places=4)
        self.looked_at(back)

    def looked_at(self, sweep):
        """What works on any sweep, and what does not on this one."""
        self.assertTrue(os.path.exists(self.scene.hyperopt("report", sweep).strip()))
        self.assertIn("best", self.scene.hyperopt("best", sweep))
        self.scene.hyperopt("trials", sweep)
        self.scene.hyperopt("status", sweep)
        self.scene.hyperopt("show", sweep, "0")
        self.scene.hyperopt("export", sweep)
        for words in (("resume", sweep), ("add", sweep, "--trials", "2"),
                      ("--config", self.scene.config, "--output", sweep)):
            said = self.scene.hyperopt(*words, code=2)
            self.assertIn("imported", said)

    def test_what_can_not_be_imported(self):
        other = self.path("other.db")
        with contextlib.closing(sqlite3.connect(other)) as db:
            db.execute("create table t (x)")
        self.assertIn("no storage of Optuna", self.scene.hyperopt("import", other, code=2))
        text = self.path("text.json")
        with open(text, "w") as file:
            file.write('{"hyperopt_results": [{}]}')
        self.assertIn("hyperopt_statistics.json", self.scene.hyperopt("import", text, code=2))
        self.assertIn("no such file", self.scene.hyperopt("import", self.path("none"), code=2))
        out = self.path("study.db")
        self.scene.hyperopt("export", self.scene.dir, "--format", "optuna", "--output", out)
        self.assertIn("a sweep", self.scene.hyperopt("import", out, "--study", "b", code=2))
        self.assertIn("already", self.scene.hyperopt("import", out, "--output", self.scene.dir, code=2))
        with contextlib.closing(sqlite3.connect(out)) as db:
            db.execute("update alembic_version set version_num = 'v2.6.0.a'")
            db.commit()
        self.assertIn("optuna storage upgrade", self.scene.hyperopt("import", out, code=2))

    # ---- Ludwig ----

    def test_ludwig_statistics(self):
        out = self.path("ludwig")
        self.scene.hyperopt("import", LUDWIG, "--output", out)
        with open(LUDWIG) as file:
            results = json.load(file)["hyperopt_results"]
        trials = json.loads(self.scene.hyperopt("export", out, "--format", "json"))["trials"]
        self.assertEqual(len(trials), len(results))
        for trial, result in zip(trials, results):
            self.assertEqual(trial["params"], result["parameters"])
            self.assertEqual((trial["state"], trial["last"]), ("completed", result["metric_score"]))
            curve = [report.get("validation.combined.loss") for report in trial["reports"]]
            expected = result["eval_stats"]["combined"]["loss"]
            self.assertEqual(curve[:len(expected)], expected)
        self.looked_at(out)
        best = self.scene.hyperopt("best", out, "--format", "value").strip()
        self.assertEqual(float(best), min(result["metric_score"] for result in results))

    def test_our_own_ludwig_statistics(self):
        statistics, out = self.path("statistics.json"), self.path("again")
        self.scene.hyperopt("export", self.scene.dir, "--format", "ludwig", "--output", statistics)
        self.scene.hyperopt("import", statistics, "--output", out)
        trials = json.loads(self.scene.hyperopt("export", out, "--format", "json"))["trials"]
        best = min(trial["best"] for trial in self.trials if isinstance(trial["best"], float))
        self.assertEqual(trials[0]["last"], best)

    # ---- MLflow ----

    def test_mlflow_requests(self):
        fake = FakeMlflow()
        self.addCleanup(fake.close)
        said = self.scene.hyperopt("export", self.scene.dir, "--format", "mlflow", "--uri", fake.uri + "/")
        self.assertIn("24 runs in experiment a sweep (id 0)", said)
        self.assertEqual(len(fake.runs), 24)
        status = {"completed": "FINISHED", "stopped": "KILLED", "failed": "FAILED"}
        for trial in self.trials:
            run, = [run for run in fake.runs.values() if run["tags"]["hyperopt.trial"] == str(trial["id"])]
            self.assertEqual((run["name"], run["status"]), (f"trial {trial['id']}", status[trial["state"]]))
            self.assertEqual(run["tags"]["hyperopt.state"], trial["state"])
            self.assertEqual(set(run["params"]), set(PARAMETERS))
            self.assertEqual(float(run["params"]["x"]), trial["params"]["x"])
            said = [(name, report["step"], value) for report in trial["reports"]
                    for name, value in sorted(report.items()) if name in ("loss", "lr", "val acc")]
            self.assertEqual(run["metrics"], said)
        before = json.dumps(fake.runs)
        fake.asked.clear()
        self.scene.hyperopt("export", self.scene.dir, "--format", "mlflow", "--uri", fake.uri)
        self.assertEqual(json.dumps(fake.runs), before)  # nothing twice
        self.assertEqual({name for name, _, _ in fake.asked}, {"experiments/search", "runs/search"})

    def test_mlflow_refuses(self):
        fake = FakeMlflow()
        self.addCleanup(fake.close)
        fake.refuse = "runs/update"
        env = dict(self.scene.env, MLFLOW_TRACKING_URI=fake.uri, MLFLOW_TRACKING_TOKEN="secret")
        said = self.scene.hyperopt("export", self.scene.dir, "--format", "mlflow", code=3, env=env)
        self.assertIn("not today", said)
        self.assertEqual(fake.asked[0][2], "Bearer secret")
        fake.refuse = None  # and what was half done is completed
        self.scene.hyperopt("export", self.scene.dir, "--format", "mlflow", env=env)
        self.assertEqual(len(fake.runs), 24)
        for run in fake.runs.values():
            self.assertEqual(len(run["metrics"]), len(set(run["metrics"])))
            self.assertNotEqual(run["status"], "RUNNING")
        self.assertIn("does not answer", self.scene.hyperopt(
            "export", self.scene.dir, "--format", "mlflow", "--uri", "http://127.0.0.1:9", code=3))


if __name__ == "__main__":
    main(sys.argv)
