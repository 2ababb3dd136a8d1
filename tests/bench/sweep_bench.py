#!/usr/bin/env python3
"""Whole sweeps, measured side by side in one run with what bounds them.

  sweep_bench.py BUILD_DIR [FOLDER ...] [--rounds N] [--trials N]
  sweep_bench.py BUILD_DIR [FOLDER ...] --memory 10000    peak memory of one such sweep
  sweep_bench.py BUILD_DIR [FOLDER ...] --resume 100000   `resume --trials +1` of a record of so many

FOLDERs are where sweeps are recorded (default: /dev/shm); give one on a disk too. Prints one line a
measurement and the median of the rounds at the end. Run it on an idle machine.
"""

import argparse
import atexit
import os
import shutil
import sqlite3
import statistics
import subprocess
import tempfile
import threading
import time

# What is measured is the way of a trial, not a model of its results.
SAMPLER = "random"
TICKS = os.sysconf("SC_CLK_TCK")

# Folders to remove after the last round. ext4 steers new files around inodes that were freed
# in the last minutes, at up to 0.4 ms a file: a round must not pay for the deletions of the
# one before it.
USED = []


def cpu_of(pid):
    """Seconds of CPU of the process itself, its children not counted."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS
    except OSError:
        return None


def memory_of(pid):
    try:
        with open(f"/proc/{pid}/status") as file:
            for line in file:
                if line.startswith("VmHWM"):
                    return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0.0


class Watch(threading.Thread):
    """Samples CPU and peak memory of controller, executor and keeper until they end."""

    def __init__(self, controller, folder):
        super().__init__(daemon=True)
        self.controller, self.folder = controller, folder
        self.cpu, self.memory, self.over = {}, {}, False

    def pids(self):
        found = {"controller": self.controller}
        for name, path in (("executor", os.path.join(self.folder, "executor.lock")),):
            try:
                found[name] = int(open(path).read() or 0)
            except (OSError, ValueError):
                continue
        if found.get("executor"):
            try:
                with open(f"/proc/{found['executor']}/task/{found['executor']}/children") as file:
                    children = file.read().split()
                found["keeper"] = int(children[0]) if children else 0
            except OSError:
                pass
        return found

    def run(self):
        while not self.over:
            for name, pid in self.pids().items():
                if not pid:
                    continue
                cpu = cpu_of(pid)
                if cpu is not None:
                    self.cpu[name] = max(cpu, self.cpu.get(name, 0))
                    self.memory[name] = max(memory_of(pid), self.memory.get(name, 0))
            time.sleep(0.01)


# Judges each report; its rungs end nobody before max_t.
JUDGED = "    scheduler: {type: asha, max_t: 1000000, grace_period: 1000, reduction_factor: 10}\n"


def search_file(folder, command, trials, concurrent, scheduler=""):
    path = os.path.join(folder, "search.yaml")
    with open(path, "w") as file:
        file.write(f"command: {command}\nhyperopt:\n  metric: loss\n  parameters:\n"
                   "    x: {space: uniform, lower: 0, upper: 1}\n"
                   f"  search_alg: {{type: {SAMPLER}}}\n"
                   f"  executor: {{num_samples: {trials}, max_concurrent_trials: {concurrent}" +
                   (",\n    " + scheduler.strip() if scheduler else "") + "}\n")
    return path


def sweep(build, base, command, trials, concurrent, cpus, scheduler=""):
    folder = tempfile.mkdtemp(prefix="sweep_bench ", dir=base)
    path = search_file(folder, command, trials, concurrent, scheduler)
    out = os.path.join(folder, "sweep")
    start = time.monotonic()
    process = subprocess.Popen([os.path.join(build, "hyperopt"), "--config", path, "--output", out,
                                "--cpus", str(cpus), "--quiet"], stdout=subprocess.DEVNULL)
    watch = Watch(process.pid, out)
    watch.start()
    code = process.wait()
    took = time.monotonic() - start
    watch.over = True
    watch.join()
    assert code == 0, f"exit code {code}"
    database = sqlite3.connect(os.path.join(out, "sweep.db"))
    done, = database.execute("select count(*) from trial where state = 'completed'").fetchone()
    reports, = database.execute("select count(*) from report").fetchone()
    first, = database.execute("select min(started) from run").fetchone()
    created, = database.execute("select created from sweep").fetchone()
    assert done == trials, f"{done} of {trials} completed"
    USED.append(folder)
    return {"seconds": took, "cpu": watch.cpu, "memory": watch.memory, "reports": reports,
            "first_start": first - created}


def bare(build, program, trials):
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
        env = dict(os.environ, HYPEROPT_REPORT=file.name)
        out = subprocess.run([os.path.join(build, "bench", "spawn_loop"), str(trials), program],
                             env=env, capture_output=True, text=True, check=True).stdout
    return float(out)


def commit_p50(folder):
    path = tempfile.mkdtemp(prefix="commit_bench", dir=folder)
    database = sqlite3.connect(os.path.join(path, "c.db"), isolation_level=None)
    database.execute("pragma journal_mode=wal")
    database.execute("pragma synchronous=full")
    database.execute("create table t(a, b)")
    times = []
    for i in range(300):
        began = time.monotonic()
        database.execute("insert into t values (?, ?)", (i, "x" * 200))
        times.append(time.monotonic() - began)
    database.close()
    shutil.rmtree(path)
    return statistics.median(times)


def start_latency(build, base):
    """Command typed to first trial started, as the trial's own clock says."""
    folder = tempfile.mkdtemp(prefix="start_bench ", dir=base)
    stamp = os.path.join(folder, "stamp")
    script = os.path.join(folder, "t.sh")
    with open(script, "w") as file:
        file.write(f"date +%s.%N > '{stamp}'\necho '{{\"loss\": 1}}' >> \"$HYPEROPT_REPORT\"\n")
    path = search_file(folder, f"[sh, '{script}']", 1, 1)
    began = time.time()
    subprocess.run([os.path.join(build, "hyperopt"), "--config", path, "--output",
                    os.path.join(folder, "sweep"), "--quiet"], check=True, stdout=subprocess.DEVNULL)
    started = float(open(stamp).read())
    USED.append(folder)
    return started - began


def memory(build, base, program, trials):
    peak = sweep(build, base, f"['{program}']", trials, 2, 2)["memory"]
    both = peak["controller"] + peak["executor"]
    print(f"{base}: {trials} trials: controller and executor {both:.1f} MiB (" +
          ", ".join(f"{name} {value:.1f}" for name, value in peak.items()) + ")", flush=True)


def resume(build, base, trials, rounds):
    """`hyperopt resume --trials +1` typed to the first instruction of the trial."""
    folder = tempfile.mkdtemp(prefix="resume_bench ", dir=base)
    USED.append(folder)
    out, stamp = os.path.join(folder, "sweep"), os.path.join(folder, "stamp")
    for scheduler in ("fifo", "asha"):
        path = os.path.join(folder, f"{scheduler}.yaml")
        script = f'date +%s.%N > "{stamp}"; echo "{{\\"loss\\": 1}}" >> "$HYPEROPT_REPORT"'
        with open(path, "w") as file:
            file.write("command: [sh, -c, '" + script + "']\nhyperopt:\n  metric: loss\n  parameters:\n"
                       "    batch_size: {space: choice, categories: [16, 32, 64]}\n"
                       "    dropout: {space: uniform, lower: 0, upper: 0.5}\n"
                       "    layers: {space: int, lower: 1, upper: 6}\n"
                       "    learning_rate: {space: loguniform, lower: 1e-5, upper: 1e-1}\n"
                       "    optimizer: {space: choice, categories: [sgd, adam]}\n"
                       f"  executor: {{num_samples: {trials}, max_concurrent_trials: 2,\n"
                       f"             scheduler: {{type: {scheduler}}}}}\n")
        subprocess.run([os.path.join(build, "bench", "fill_record"), path, out, str(trials), "10"], check=True)
        size = os.path.getsize(os.path.join(out, "sweep.db")) >> 20
        took, peaks = [], []
        for _ in range(rounds):
            began = time.time()
            process = subprocess.Popen([os.path.join(build, "hyperopt"), "resume", out, "--trials", "+1", "--quiet"],
                                       stdout=subprocess.DEVNULL)
            watch = Watch(process.pid, out)
            watch.start()
            code = process.wait()
            watch.over = True
            watch.join()
            assert code == 0, f"exit code {code}"
            took.append(float(open(stamp).read()) - began)
            peaks.append(watch.memory["controller"])
        print(f"{base}: {trials} trials, {scheduler}, {size} MiB: resume to first trial "
              f"{statistics.median(took):.2f} s (worst {max(took):.2f}), controller {max(peaks):.0f} MiB", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("folders", nargs="*", default=["/dev/shm"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--memory", type=int, metavar="TRIALS")
    parser.add_argument("--resume", type=int, metavar="TRIALS")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    program = os.path.join(build, "bench", "report_once")
    chatty = os.path.join(build, "bench", "chatty")
    atexit.register(lambda: [shutil.rmtree(folder) for folder in USED])
    for folder in options.folders:
        if options.memory:
            memory(build, folder, program, options.memory)
        if options.resume:
            resume(build, folder, options.resume, options.rounds)
        if options.memory or options.resume:
            continue
        rows = []
        for number in range(options.rounds):
            loop = bare(build, program, options.trials)
            commit = commit_p50(folder)
            result = sweep(build, folder, f"['{program}']", options.trials, 2, 2)
            cpu = sum(result["cpu"].values()) / options.trials * 1000
            row = {"bare/s": options.trials / loop, "ours/s": options.trials / result["seconds"],
                   "ratio": loop / result["seconds"], "commit ms": commit * 1000, "cpu ms": cpu,
                   "disk goal/s": 0.7 * 2 / (2 * loop / options.trials + 1.5 * commit),
                   "start ms": start_latency(build, folder) * 1000,
                   "memory MiB": result["memory"].get("controller", 0) + result["memory"].get("executor", 0)}
            rows.append(row)
            parts = ", ".join(f"{name} {1000 * value / options.trials:.3f}" for name, value in result["cpu"].items())
            print(f"{folder} round {number}: " + ", ".join(f"{k} {v:.3g}" for k, v in row.items()) + f" ({parts})",
                  flush=True)
        talk = sweep(build, folder, f"['{chatty}', '5000']", 64, 64, 64, JUDGED)
        print(f"{folder}: 64 chatty trials: {talk['reports'] / talk['seconds']:.0f} reports/s recorded", flush=True)
        print(f"{folder} median: " + ", ".join(f"{k} {statistics.median(r[k] for r in rows):.3g}" for k in rows[0]),
              flush=True)


if __name__ == "__main__":
    main()
