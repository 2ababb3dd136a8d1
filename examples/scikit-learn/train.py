#!/usr/bin/env python3
"""A linear classifier trained pass by pass, as a notebook would do it. It prints a dict after each."""

import argparse
import csv

import numpy
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss
from sklearn.preprocessing import StandardScaler

parser = argparse.ArgumentParser()
parser.add_argument("table")
parser.add_argument("--alpha", type=float, default=1e-4)
parser.add_argument("--eta0", type=float, default=0.01)
parser.add_argument("--penalty", default="l2")
parser.add_argument("--average", action=argparse.BooleanOptionalAction, default=False)
parser.add_argument("--passes", type=int, default=15)
args = parser.parse_args()

with open(args.table) as file:
    rows = numpy.array([[float(cell) for cell in row] for row in list(csv.reader(file))[1:]])
numpy.random.default_rng(0).shuffle(rows)
features, labels = StandardScaler().fit_transform(rows[:, :-1]), rows[:, -1].astype(int)
split = len(rows) * 4 // 5

model = SGDClassifier(loss="log_loss", learning_rate="constant", alpha=args.alpha, eta0=args.eta0,
                      penalty=args.penalty, average=args.average, random_state=0)
for epoch in range(1, args.passes + 1):
    model.partial_fit(features[:split], labels[:split], classes=numpy.arange(10))
    print({"epoch": epoch,
           "val_loss": log_loss(labels[split:], model.predict_proba(features[split:]), labels=numpy.arange(10)),
           "val_accuracy": model.score(features[split:], labels[split:])})
