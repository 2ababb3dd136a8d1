"""Sweeps of every kind, told to ask-tell in a moment: what the test of the views looks at."""

import json
import math
import os
import random
import statistics
import subprocess

NUMBERS = {"x": {"space": "uniform", "lower": -2, "upper": 2},
           "model.lr": {"space": "loguniform", "lower": 1e-5, "upper": 1e-1}}
MIXED = {**NUMBERS, "layers": {"space": "int", "lower": 1, "upper": 6},
         "opt": {"space": "choice", "categories": ["sgd", "adam", "lion"]},
         "momentum": {"space": "uniform", "lower": 0, "upper": 1, "when": {"opt": "sgd"}},
         "norm": {"space": "choice", "categories": [True, False]}}


def bowl(params):
    """A loss with something to find: x near 0.5, lr near 1e-3, adam better than the others."""
    lr = math.log10(params.get("model.lr", 1e-3))
    return ((params.get("x", 0.5) - 0.5) ** 2 + 0.3 * (lr + 3) ** 2 + 0.02 * params.get("layers", 1)
            + {"sgd": 0.4, "lion": 0.8}.get(params.get("opt"), 0) + 0.1)


def curve(final, steps=4):
    return [{"step": k, "value": final + 1 / k} for k in range(1, steps + 1)]


def plain(_, params):
    return curve(bowl(params)), {}


def single(value):
    return lambda number, params: ([], {"value": value(number, params)})


def mixed(number, params):
    """Failures, NaN, an infinity, one that diverged; early stopping does the rest."""
    if number % 11 == 3:
        return [], {"state": "failed"}
    if number % 13 == 5:
        return [{"step": 1, "value": "NaN"}], {}
    if number % 17 == 6:
        return [{"step": 1, "value": 1e12}, {"step": 2, "value": "Infinity"}], {}
    return curve(bowl(params), 9), {}


def objectives(number, params):
    loss = bowl(params)
    more = {"speed": 100 / (1 + params["layers"]) + 10 * math.sin(number), "memory": 2.0 ** params["layers"]}
    return [{"step": 1, "value": loss, **more}], {}


def folds(number, params):
    rng = random.Random(number)
    values = [bowl(params) + rng.gauss(0, 0.08) for _ in range(5)]
    reports = [{"step": k + 1, "value": statistics.mean(values[:k + 1]), "fold": k, "fold_loss": values[k]}
               for k in range(5)]
    reports[-1]["test_loss"] = statistics.mean(values) + rng.gauss(0.05, 0.05)
    return reports, {}


def told(number, params):
    loss = bowl(params)
    return [{"step": 1, "value": loss, "loss_std": 0.05 + 0.01 * (number % 7), "test_loss": loss + 0.03}], {}


def asha(**more):
    return {"scheduler": {"type": "asha", "max_t": 9, "grace_period": 1, "reduction_factor": 3, **more}}


# name: (parameters, what a trial does, num_samples, more of the search, more of its executor)
CASES = {
    "none": (MIXED, plain, 0, {}, {}),
    "one": (MIXED, plain, 1, {}, {}),
    "few": (MIXED, plain, 5, {}, {}),
    "few completed": (NUMBERS, lambda _, p: (curve(bowl(p), 9), {}), 24, {}, asha()),
    "equal": (MIXED, single(lambda *_: 0.5), 30, {}, {}),
    "failed": (MIXED, lambda *_: ([], {"state": "failed"}), 30, {}, {}),
    "one parameter": ({"x": NUMBERS["x"]}, plain, 40, {}, {}),
    "one category": ({"opt": MIXED["opt"]}, plain, 12, {}, {}),
    "negative": (MIXED, single(lambda _, p: -bowl(p) - 10), 40, {"goal": "maximize"}, {}),
    "zero": (NUMBERS, single(lambda n, p: 0 if n % 4 == 0 else p["x"]), 40, {}, {}),
    "tiny and huge": (NUMBERS, single(lambda n, p: 10.0 ** (60 * p["x"])), 40, {}, {}),
    "mixed": (MIXED, mixed, 120, {}, asha()),
    "objectives": (MIXED, objectives, 80, {"objectives": [
        {"metric": "loss", "goal": "minimize"}, {"metric": "speed", "goal": "maximize"}]}, {}),
    "three objectives": (MIXED, objectives, 80, {"objectives": [
        {"metric": "loss", "goal": "minimize"}, {"metric": "speed", "goal": "maximize"},
        {"metric": "memory", "goal": "minimize"}]}, {}),
    "folds": (MIXED, folds, 30, {"value": "last"}, {}),
    "told folds": (MIXED, told, 30, {}, {}),
    "promotion": (NUMBERS, lambda _, p: (curve(bowl(p), 9), {}), 27, {}, asha(mode="promotion")),
    "10,000": ({f"p{k}": {"space": "uniform", "lower": 0, "upper": 1} for k in range(20)},
               single(lambda n, p: (p["p0"] - 0.3) ** 2 + p["p1"] * p["p2"]), 10000, {}, {}),
}


class Teller:
    """Plays a sweep through ask-tell, one trial after another."""

    def __init__(self, scene, name):
        parameters, self.behave, count, more, executor = CASES[name]
        search = {"metric": "loss", "parameters": parameters, "search_alg": {"type": "random", "random_state": 5},
                  **more, "executor": {"num_samples": max(1, count), **executor}}
        if "objectives" in more:
            del search["metric"]
        self.config = os.path.join(scene.folder, "search.json")
        with open(self.config, "w") as file:
            json.dump({"hyperopt": search}, file)
        self.dir = os.path.join(scene.folder, "sweep")
        self.process = subprocess.Popen([scene.binary, "ask-tell", "--config", self.config, "--output", self.dir],
                                        text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=scene.env)
        self.reached = {}  # step by trial, of those that were paused
        if count:
            self.play()
        self.process.stdin.close()
        assert self.process.wait() == 0
        self.process.stdout.close()

    def call(self, **request):
        print(json.dumps(request), file=self.process.stdin, flush=True)
        answer = json.loads(self.process.stdout.readline())
        assert "error" not in answer, (request, answer)
        return answer

    def play(self):
        while True:
            asked = self.call(op="ask")
            if "trial" not in asked:
                assert asked.get("done"), asked
                return
            self.play_one(asked["trial"], asked["params"])

    def play_one(self, trial, params):
        reports, end = self.behave(trial, params)
        for report in reports:
            if report["step"] <= self.reached.get(trial, 0):
                continue
            answer = self.call(op="report", trial=trial, **report)
            if answer["stop"]:
                self.reached[trial] = report["step"]
                if not answer.get("paused"):
                    self.call(op="tell", trial=trial, stopped=True)
                return
        self.call(op="tell", trial=trial, **end)
