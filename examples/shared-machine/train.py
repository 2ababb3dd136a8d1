"""Descends to the minimum of a quadratic, and says where it ran."""

import argparse
import json
import os

parser = argparse.ArgumentParser()
parser.add_argument("--learning_rate", type=float, required=True)
parser.add_argument("--momentum", type=float, required=True)
options = parser.parse_args()

# What `setup`, `wrapper`, `tracker` and the placement left for this process.
print("cache    ", os.environ["LAB_CACHE"])
print("niceness ", os.nice(0))
print("CPUs     ", sorted(os.sched_getaffinity(0)))
print("run      ", json.loads(os.environ["MLFLOW_RUN_CONTEXT"])["mlflow.runName"])

x, speed = 5.0, 0.0
with open(os.environ["HYPEROPT_REPORT"], "a") as report:
    for step in range(1, 21):
        speed = options.momentum * speed - options.learning_rate * x
        x += speed
        report.write(json.dumps({"step": step, "loss": x * x}) + "\n")
        report.flush()
