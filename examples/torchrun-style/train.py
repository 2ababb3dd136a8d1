#!/usr/bin/env python3
"""Logistic regression on wine.csv, its rows dealt out to the ranks. Standard library only.

The environment is torchrun's, so a script for torch.distributed would call
init_process_group("gloo") where this one calls Group(); nothing else would change.
"""

import argparse
import csv
import json
import math
import os
import socket
import time

RANK = int(os.environ.get("RANK", "0"))
WORLD_SIZE = int(os.environ.get("WORLD_SIZE", "1"))
HERE = os.path.dirname(os.path.abspath(__file__))


class Group:
    """All ranks, joined at rank 0, which listens on MASTER_ADDR:MASTER_PORT."""

    def __init__(self, timeout_s=60.0):
        self.files = []  # rank 0: one a rank; else: the one to rank 0
        if WORLD_SIZE == 1:
            return
        address = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
        if RANK == 0:
            with socket.create_server(address, backlog=WORLD_SIZE) as server:
                server.settimeout(timeout_s)
                for _ in range(WORLD_SIZE - 1):
                    self._add(server.accept()[0], timeout_s)
        else:
            self._add(self._connect(address, timeout_s), timeout_s)

    @staticmethod
    def _connect(address, timeout_s):
        until = time.monotonic() + timeout_s
        while True:
            try:
                return socket.create_connection(address, timeout=timeout_s)
            except OSError:  # rank 0 does not listen yet
                if time.monotonic() > until:
                    raise
                time.sleep(0.02)

    def _add(self, connection, timeout_s):
        connection.settimeout(timeout_s)
        self.files.append(connection.makefile("rw"))

    @staticmethod
    def _send(file, values):
        file.write(json.dumps(values) + "\n")
        file.flush()

    @staticmethod
    def _receive(file):
        line = file.readline()
        if not line:
            raise ConnectionError("another rank has gone")
        return json.loads(line)

    def sum(self, values):
        """The sum over all ranks, number by number; the same on each rank."""
        if RANK == 0:
            for file in self.files:
                values = [a + b for a, b in zip(values, self._receive(file))]
            for file in self.files:
                self._send(file, values)
            return values
        for file in self.files:
            self._send(file, values)
            values = self._receive(file)
        return values


def read_rows(path):
    """Standardised numbers and whether the wine is of class 1."""
    with open(path, newline="") as file:
        rows = list(csv.reader(file))[1:]
    columns = list(zip(*([float(cell) for cell in row[:-1]] for row in rows)))
    for i, column in enumerate(columns):
        mean = sum(column) / len(column)
        scale = math.sqrt(sum((v - mean) ** 2 for v in column) / len(column)) or 1.0
        columns[i] = [(v - mean) / scale for v in column]
    return [(list(x) + [1.0], float(row[-1] == "class_1")) for x, row in zip(zip(*columns), rows)]


def gradient(weights, rows):
    """Sums over the rows: the slope of each weight, then the loss, then the rows."""
    sums = [0.0] * (len(weights) + 2)
    for x, y in rows:
        score = max(-30.0, min(30.0, sum(w * v for w, v in zip(weights, x))))
        p = 1 / (1 + math.exp(-score))
        for j, v in enumerate(x):
            sums[j] += (p - y) * v
        sums[-2] -= math.log(p if y else 1 - p)
        sums[-1] += 1
    return sums


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--learning_rate", type=float, default=0.5)
    parser.add_argument("--weight_decay", type=float, default=0.0)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--data", default=os.path.join(HERE, "..", "python", "wine.csv"))
    args = parser.parse_args()

    rows = read_rows(args.data)
    mine = [row for i, row in enumerate(rows) if i % 5 and i % WORLD_SIZE == RANK]
    held_out = [row for i, row in enumerate(rows) if not i % 5 and i % WORLD_SIZE == RANK]
    weights = [0.0] * len(rows[0][0])
    group = Group()
    for epoch in range(1, args.epochs + 1):
        *slopes, _, count = group.sum(gradient(weights, mine))
        weights = [w - args.learning_rate * (s / count + args.weight_decay * w)
                   for w, s in zip(weights, slopes)]
        *_, loss, count = group.sum(gradient(weights, held_out))
        if RANK == 0:  # one report a step, of all ranks together
            with open(os.environ.get("HYPEROPT_REPORT", "/dev/stdout"), "a") as file:
                file.write(json.dumps({"step": epoch, "loss": loss / count, "rows": count}) + "\n")


if __name__ == "__main__":
    main()
