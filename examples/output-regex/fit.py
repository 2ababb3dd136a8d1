#!/usr/bin/env python3
"""Fits a polynomial by gradient descent and prints how it goes. It has never heard of hyperopt."""

import math
import sys

rate, degree = float(sys.argv[1]), int(sys.argv[2])
points = [(i / 20 - 1, math.sin(3 * (i / 20 - 1))) for i in range(41)]
coefficients = [0.0] * (degree + 1)

print(f"fitting {len(points)} points, degree {degree}")
for epoch in range(1, 201):
    slopes, loss = [0.0] * (degree + 1), 0.0
    for x, y in points:
        powers = [1.0]
        for _ in range(degree):
            powers.append(powers[-1] * x)
        error = sum(c * p for c, p in zip(coefficients, powers)) - y
        loss += error * error / len(points)
        slopes = [s + 2 * error * p / len(points) for s, p in zip(slopes, powers)]
    coefficients = [c - rate * s for c, s in zip(coefficients, slopes)]
    print(f"epoch {epoch} loss {loss:.6g}")
