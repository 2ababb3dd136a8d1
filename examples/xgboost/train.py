#!/usr/bin/env python3
"""Boosted trees that read handwritten digits. It has never heard of hyperopt."""

import argparse
import csv

import numpy
import xgboost

parser = argparse.ArgumentParser()
parser.add_argument("--table", required=True)
parser.add_argument("--eta", type=float, default=0.3)
parser.add_argument("--max-depth", type=int, default=6)
parser.add_argument("--subsample", type=float, default=1.0)
parser.add_argument("--rounds", type=int, default=40)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()

with open(args.table) as file:
    rows = numpy.array([[float(cell) for cell in row] for row in list(csv.reader(file))[1:]])
numpy.random.default_rng(0).shuffle(rows)
features, labels = rows[:, :-1], rows[:, -1]
split = len(rows) * 4 // 5
train = xgboost.DMatrix(features[:split], labels[:split])
valid = xgboost.DMatrix(features[split:], labels[split:])
settings = {"objective": "multi:softprob", "num_class": 10, "eval_metric": "mlogloss", "nthread": 1,
            "eta": args.eta, "max_depth": args.max_depth, "subsample": args.subsample, "seed": args.seed}
# Prints a line a round: [0]     train-mlogloss:1.20   valid-mlogloss:1.31
xgboost.train(settings, train, args.rounds, evals=[(train, "train"), (valid, "valid")])
