#!/usr/bin/env python3
"""A big sweep as a report and on the live page: how long it takes, how large it is.

usage: dashboard_bench.py BUILD_DIR [--trials 10000] [--updates 20] [--keep FOLDER]

Makes the record of a finished sweep with 20 parameters and 10 reports a trial, then prints
  - how long `hyperopt report` takes, and the file's size;
  - for changes of one trial's result in the record: the time until a client of the dashboard
    has the event, the event's size, and what the server spent on it;
  - in chromium, where there is one: from the change to the page being repainted, and the part
    of it that the page itself takes.
report_bench.py measures the file that --keep leaves. The record is changed by hand, and nothing
else runs: on a machine with other work take the least of several runs.
"""

import argparse
import json
import os
import re
import shutil
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import browser  # noqa: E402
from sweep import wait_until  # noqa: E402

REPEATS = 5
# An event is read by JSON.parse, and shown before what that leaves behind has its turn.
WATCH = """
window.times = [];
const parse = JSON.parse;
JSON.parse = (...words) => {
  const began = performance.now(), value = parse(...words);
  if (value && value.o) queueMicrotask(() => {
    const done = performance.now();
    requestAnimationFrame(() => setTimeout(() =>
      times.push([Date.now() / 1000, done - began, performance.now() - began]), 0));
  });
  return value;
};
"""


def search_file(trials):
    parameters = {}
    for k in range(8):
        parameters[f"rate{k}"] = {"space": "loguniform", "lower": 1e-5, "upper": 1e-1}
        parameters[f"part{k}"] = {"space": "uniform", "lower": 0, "upper": 1}
    for k in range(2):
        parameters[f"size{k}"] = {"space": "int", "lower": 1, "upper": 512}
        parameters[f"kind{k}"] = {"space": "choice", "categories": ["adam", "sgd", "lamb"]}
    return {"command": ["true"], "hyperopt": {"metric": "loss", "parameters": parameters,
                                              "search_alg": {"type": "random"}, "executor": {"num_samples": trials}}}


def cpu_s(pid):
    with open(f"/proc/{pid}/stat") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


class Change:
    """One trial becomes a little better, in one commit."""

    def __init__(self, folder):
        self.db = sqlite3.connect(os.path.join(folder, "sweep.db"))
        self.trial = 0

    def make(self):
        self.trial += 1
        with self.db:
            self.db.execute("update trial set best = best - 0.25, last = last - 0.25 where id = ?", (self.trial,))
        return time.time()


class Listener:
    """A client of the dashboard's events: when each came, and how large it was."""

    def __init__(self, port):
        self.came = []
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.sendall(b"GET /sweep/0/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        threading.Thread(target=self.listen, daemon=True).start()
        wait_until(lambda: self.came, "the whole")

    def listen(self):
        size = None
        for line in self.socket.makefile("rb"):
            if line.startswith(b"event: "):
                size = 0
            if size is not None and line == b"\n":  # the end of one; sizes of chunks are counted with it
                self.came.append((time.time(), size))
                size = None
            elif size is not None:
                size += len(line)


def spread(values, unit="ms", scale=1000):
    values = [value * scale for value in values]
    return f"median {statistics.median(values):7.1f} {unit}, {min(values):.1f} to {max(values):.1f}"


def report(binary, folder, out):
    walls, cpus = [], []
    for _ in range(REPEATS):
        before, began = os.times(), time.monotonic()
        subprocess.run([binary, "report", folder, "-o", out], check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        walls.append(time.monotonic() - began)
        cpus.append(after.children_user + after.children_system - before.children_user - before.children_system)
    print(f"report written      wall {spread(walls)}; processor {spread(cpus)}; {os.path.getsize(out) / 1e6:.2f} MB")


def live(binary, folder, updates):
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen([binary, "dashboard", folder, "--port", "0"], stdout=said, stderr=said)
        try:
            def port():
                said.seek(0)
                return re.findall(r"http://127.0.0.1:(\d+)/", said.read())
            measure(process.pid, int(wait_until(port, "the dashboard")[0]), Change(folder), updates)
        finally:
            process.terminate()
            process.wait()


def measure(pid, port, change, updates):
    listener = Listener(port)
    print(f"whole               {listener.came[0][1] / 1e6:.2f} MB")
    lags, sizes, spent = [], [], []
    for _ in range(updates):
        time.sleep(1.5)  # not in step with its looks
        had, before = len(listener.came), cpu_s(pid)
        made = change.make()
        wait_until(lambda had=had: len(listener.came) > had, "the event")
        when, size = listener.came[-1]
        lags.append(when - made)
        sizes.append(size)
        spent.append(cpu_s(pid) - before)
    print(f"change to event     {spread(lags)}; {statistics.median(sizes):.0f} bytes; processor {spread(spent)}")
    if browser.why_none():
        print(f"no browser: {browser.why_none()}")
        return
    page = browser.Browser()
    try:
        page.driver.get(f"http://127.0.0.1:{port}/sweep/0/")
        wait_until(lambda: page.js("return document.documentElement.dataset.ready === 'yes'"), "the page")
        page.js(WATCH)
        repaint(page, change, updates)
    finally:
        page.close()


def repaint(page, change, updates):
    lags, scripts, paints = [], [], []
    for _ in range(updates):
        time.sleep(1.5)
        had = page.js("return times.length")
        made = change.make()
        wait_until(lambda had=had: page.js("return times.length") > had, "the new picture")
        when, script, paint = page.js("return times[times.length - 1]")
        lags.append(when - made)
        scripts.append(script / 1000)
        paints.append(paint / 1000)
    print(f"change to repaint   {spread(lags)}")
    print(f"  of it in the page {spread(paints)}; its script {spread(scripts)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--updates", type=int, default=20)
    parser.add_argument("--keep")
    options = parser.parse_args()
    base = options.keep or tempfile.mkdtemp(prefix="hyperopt bench ")
    os.makedirs(base, exist_ok=True)
    binary = os.path.join(os.path.abspath(options.build), "hyperopt")
    try:
        config, folder = os.path.join(base, "search.yaml"), os.path.join(base, "sweep")
        with open(config, "w") as file:
            json.dump(search_file(options.trials), file)
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([os.path.join(options.build, "bench", "fill_record"), config, folder, str(options.trials), "10"],
                       check=True)
        print(f"{options.trials} trials, 20 parameters, 10 reports each")
        report(binary, folder, os.path.join(base, "report.html"))
        live(binary, folder, options.updates)
    finally:
        if not options.keep:
            shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    main()
