#!/usr/bin/env python3
"""Training that runs to a budget, saves, and goes on later: what a trial needs for promotion
ASHA and population based training.

It needs nothing but Python. By itself: python3 train.py --rate 0.1 --momentum 0.5 --epochs 27
"""

import argparse
import json
import math
import os


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rate", type=float, required=True)
    parser.add_argument("--momentum", type=float, default=0.0)
    # How many epochs are to be done in all. hyperopt says how far this launch is to run.
    parser.add_argument("--epochs", type=int, default=int(os.environ.get("HYPEROPT_BUDGET", "27")))
    return parser.parse_args()


def load():
    """The state to go on from: that of a checkpoint, or a fresh one."""
    folder = os.environ.get("HYPEROPT_RESUME_FROM")
    if not folder:
        return {"epoch": 0, "weights": [0.0] * 4, "speed": [0.0] * 4}
    with open(os.path.join(folder, "state.json")) as file:
        return json.load(file)


def save(state):
    """A folder named by the epoch. It counts once COMPLETE is in it, which comes last."""
    if "HYPEROPT_CHECKPOINT_DIR" not in os.environ:
        return
    folder = os.path.join(os.environ["HYPEROPT_CHECKPOINT_DIR"], str(state["epoch"]))
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "state.json"), "w") as file:
        json.dump(state, file)
    marker = os.path.join(folder, "COMPLETE")
    open(marker + ".new", "w").close()
    os.rename(marker + ".new", marker)


def report(epoch, loss):
    line = json.dumps({"step": epoch, "loss": loss})
    if "HYPEROPT_REPORT" not in os.environ:
        print(line)
        return
    with open(os.environ["HYPEROPT_REPORT"], "a") as file:
        file.write(line + "\n")


def train(state, rate, momentum):
    """One epoch: a step down a bowl that is ten times as steep one way as another."""
    for i, steepness in enumerate((1.0, 2.0, 5.0, 10.0)):
        slope = steepness * (state["weights"][i] - 1)
        state["speed"][i] = momentum * state["speed"][i] - rate * slope
        state["weights"][i] += state["speed"][i]
    state["epoch"] += 1
    loss = sum(s * (w - 1) ** 2 for s, w in zip((1.0, 2.0, 5.0, 10.0), state["weights"]))
    return loss if loss < 1e12 else math.nan


def main():
    options = parse()
    state = load()
    while state["epoch"] < options.epochs:
        loss = train(state, options.rate, options.momentum)
        if math.isfinite(loss):
            save(state)  # before the report: what was reported can be gone on from
        report(state["epoch"], loss)
        if not math.isfinite(loss):
            return


main()
