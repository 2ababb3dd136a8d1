#!/usr/bin/env python3
"""Fits a line to points with momentum. Plain argparse; it has never heard of hyperopt."""

import argparse
import random


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--learning-rate", type=float, default=0.01)
    parser.add_argument("--momentum", type=float, default=0.0)
    parser.add_argument("--offset", type=float, default=0.0, help="where the search for the slope starts")
    parser.add_argument("--optimizer", choices=["plain", "nesterov"], default="plain")
    parser.add_argument("--shuffle", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--epochs", type=int, default=12)
    options = parser.parse_args()

    rng = random.Random(0)
    points = [(x, 3 * x - 1 + rng.gauss(0, 0.1)) for x in (rng.uniform(-1, 1) for _ in range(60))]
    weights, speed = [options.offset, 0.0], [0.0, 0.0]
    for epoch in range(1, options.epochs + 1):
        if options.shuffle:
            rng.shuffle(points)
        for x, y in points:
            ahead = options.momentum if options.optimizer == "nesterov" else 0.0
            error = sum((w + ahead * v) * f for w, v, f in zip(weights, speed, (x, 1))) - y
            for i, feature in enumerate((x, 1)):
                speed[i] = options.momentum * speed[i] - options.learning_rate * error * feature
                weights[i] += speed[i]
        loss = sum((weights[0] * x + weights[1] - y) ** 2 for x, y in points) / len(points)
        print(f"epoch {epoch} loss {loss:.6g}", flush=True)


if __name__ == "__main__":
    main()
