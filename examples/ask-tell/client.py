#!/usr/bin/env python3
"""Asks for settings, tries them, tells what came out: client.py HYPEROPT [DIR]"""
import json, math, os, subprocess, sys

here = os.path.dirname(os.path.abspath(__file__))
words = [sys.argv[1], "ask-tell", "--config", os.path.join(here, "search.yaml")]
words += ["--output", sys.argv[2]] if len(sys.argv) > 2 else []
hyperopt = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def call(**request):
    print(json.dumps(request), file=hyperopt.stdin, flush=True)
    return json.loads(hyperopt.stdout.readline())


best = math.inf
while "trial" in (asked := call(op="ask")):
    p = asked["params"]
    loss = (math.log10(p["rate"]) + 2) ** 2 + abs(p["layers"] - 3) + (p["optimizer"] == "sgd")
    call(op="tell", trial=asked["trial"], value=loss)
    best = min(best, loss)
print(f"best {best:.4f}")
hyperopt.stdin.close()
sys.exit(hyperopt.wait())
