#!/usr/bin/env python3
"""Trains a small neural network on wine.csv. Standard library only.

It runs by itself (python3 train.py --learning_rate 0.1) and as a trial of hyperopt: the only
differences are the five environment variables at the end of this file's first section.
"""

import argparse
import csv
import json
import math
import os
import random
import signal

# ---- what hyperopt tells a trial, and what it wants to hear ----

REPORT = os.environ.get("HYPEROPT_REPORT", "/dev/stdout")     # one JSON line an epoch goes here
CHECKPOINTS = os.environ.get("HYPEROPT_CHECKPOINT_DIR")       # a folder for checkpoints
RESUME_FROM = os.environ.get("HYPEROPT_RESUME_FROM")          # the checkpoint to go on from, if any
SEED = int(os.environ.get("HYPEROPT_SEED", "1"))              # the same in every attempt of a trial
HERE = os.path.dirname(os.path.abspath(__file__))


def report(**fields):
    with open(REPORT, "a") as file:
        file.write(json.dumps(fields) + "\n")


def save(state, epoch):
    """<dir>/<epoch>/ counts as a checkpoint once COMPLETE is in it, so that comes last."""
    folder = os.path.join(CHECKPOINTS, str(epoch))
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "state.json"), "w") as file:
        json.dump(state, file)
        file.flush()
        os.fsync(file.fileno())
    with open(os.path.join(folder, "COMPLETE.part"), "w"):
        pass
    os.rename(os.path.join(folder, "COMPLETE.part"), os.path.join(folder, "COMPLETE"))


def load():
    with open(os.path.join(RESUME_FROM, "state.json")) as file:
        return json.load(file)


# ---- the data ----

def read_wine(path):
    """Rows of (13 standardised numbers, class 0 to 2): for training, for validation."""
    with open(path, newline="") as file:
        rows = list(csv.reader(file))[1:]
    data = [([float(cell) for cell in row[:-1]], int(row[-1][-1])) for row in rows]
    train = [row for i, row in enumerate(data) if i % 5]
    valid = [row for i, row in enumerate(data) if not i % 5]
    columns = list(zip(*(x for x, _ in train)))
    means = [sum(column) / len(column) for column in columns]
    scales = [math.sqrt(sum((v - m) ** 2 for v in column) / len(column)) or 1.0
              for column, m in zip(columns, means)]

    def standardise(part):
        return [([(v - m) / s for v, m, s in zip(x, means, scales)], y) for x, y in part]
    return standardise(train), standardise(valid)


# ---- the network: one hidden layer, softmax ----

def new_state(inputs, hidden, classes, rng):
    def layer(outs, ins):  # a row a neuron, its bias last
        return [[rng.gauss(0, 1 / math.sqrt(ins)) for _ in range(ins)] + [0.0] for _ in range(outs)]
    weights = [layer(hidden, inputs), layer(classes, hidden)]
    velocity = [[[0.0] * len(row) for row in rows] for rows in weights]
    return {"epoch": 0, "weights": weights, "velocity": velocity}


def times(rows, x):
    return [sum(w * v for w, v in zip(row, x)) + row[-1] for row in rows]


def forward(weights, x, activation):
    z = times(weights[0], x)
    hidden = [math.tanh(v) for v in z] if activation == "tanh" else [max(v, 0.0) for v in z]
    scores = times(weights[1], hidden)
    top = max(scores)
    powers = [math.exp(s - top) for s in scores]
    total = sum(powers)
    return hidden, [p / total for p in powers]


def gradients(weights, batch, activation):
    sums = [[[0.0] * len(row) for row in rows] for rows in weights]
    for x, y in batch:
        hidden, probabilities = forward(weights, x, activation)
        delta = [p - (k == y) for k, p in enumerate(probabilities)]
        back = [sum(d * row[j] for d, row in zip(delta, weights[1])) for j in range(len(hidden))]
        if activation == "tanh":
            back = [b * (1 - h * h) for b, h in zip(back, hidden)]
        else:
            back = [b if h > 0 else 0.0 for b, h in zip(back, hidden)]
        for into, deltas, values in ((sums[1], delta, hidden), (sums[0], back, x)):
            for row, d in zip(into, deltas):
                for j, v in enumerate(values):
                    row[j] += d * v
                row[-1] += d
    return sums


def train_epoch(state, data, args, rng):
    rows = data[:]
    rng.shuffle(rows)
    for start in range(0, len(rows), args.batch_size):
        batch = rows[start:start + args.batch_size]
        steps = zip(state["weights"], state["velocity"], gradients(state["weights"], batch, args.activation))
        for layer, speeds, slopes in steps:
            for row, speed, slope in zip(layer, speeds, slopes):
                for j, g in enumerate(slope):
                    speed[j] = args.momentum * speed[j] - args.learning_rate * g / len(batch)
                    row[j] += speed[j]


def evaluate(weights, data, activation):
    loss, right = 0.0, 0
    for x, y in data:
        _, probabilities = forward(weights, x, activation)
        loss -= math.log(max(probabilities[y], 1e-300))
        right += probabilities[y] == max(probabilities)
    return loss / len(data), right / len(data)


# ---- the trial ----

def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--learning_rate", type=float, default=0.1)
    parser.add_argument("--momentum", type=float, default=0.0)
    parser.add_argument("--batch_size", type=int, default=16)
    parser.add_argument("--hidden", type=int, default=8)
    parser.add_argument("--activation", choices=["tanh", "relu"], default="tanh")
    parser.add_argument("--epochs", type=int, default=27)
    parser.add_argument("--data", default=os.path.join(HERE, "wine.csv"))
    args = parser.parse_args()

    asked_to_stop = []
    signal.signal(signal.SIGTERM, lambda *_: asked_to_stop.append(True))

    train, valid = read_wine(args.data)
    state = load() if RESUME_FROM else new_state(len(train[0][0]), args.hidden, 3, random.Random(SEED))
    for epoch in range(state["epoch"] + 1, args.epochs + 1):
        # A generator of its own for each epoch: a resumed run shuffles as the undisturbed one.
        train_epoch(state, train, args, random.Random(f"{SEED} {epoch}"))
        state["epoch"] = epoch
        loss, accuracy = evaluate(state["weights"], valid, args.activation)
        if CHECKPOINTS:
            save(state, epoch)  # before the report: what was reported can be gone back to
        report(step=epoch, loss=loss, accuracy=accuracy)
        if asked_to_stop:
            break  # SIGTERM: this epoch is saved and reported; an exit code of 0 says no more than that


if __name__ == "__main__":
    main()
