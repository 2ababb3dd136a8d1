#!/usr/bin/env python3
"""A small model with Keras, which logs to ./log.csv. It has never heard of hyperopt."""

import argparse

import keras
import numpy

parser = argparse.ArgumentParser()
parser.add_argument("--learning_rate", type=float, default=0.01)
parser.add_argument("--units", type=int, default=8)
args = parser.parse_args()
keras.utils.set_random_seed(0)
x = numpy.random.randn(256, 4)
y = x.sum(1)
model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(args.units, "relu"), keras.layers.Dense(1)])
model.compile(loss="mse", optimizer=keras.optimizers.SGD(args.learning_rate))
model.fit(x, y, epochs=6, validation_split=0.25, verbose=0, callbacks=[keras.callbacks.CSVLogger("log.csv")])
