#!/usr/bin/env python3
"""kill -9 of controller, executor, keeper and rank, at named points and at random times.

  kill_rounds.py BUILD_DIR [--rounds N] [--seed S] [--defect NAME --expect-failure]

After each round the same line is run until the sweep is done, struck again at times, and the record
is compared with what the trials logged themselves. A round whose point never struck is repeated. With --expect-failure a
deliberately broken build is run: the audit itself must fail in some round (a hang is none of its findings).
"""

import argparse
import collections
import os
import random
import shutil
import sys
import tempfile

import sweep as sweeps

NAMED = [
    "controller.before_commit", "controller.after_commit", "controller.after_send",
    "executor.before_spawn", "executor.after_spawn", "executor.after_drain",
    "executor.after_send",
    "keeper.before_spawn", "keeper.after_spawn", "keeper.before_exit_json",
    "keeper.after_exit_json", "rank.in_a_line",
]
AT_RANDOM = ["controller", "executor", "keeper", "rank", "all"]


# So long the start of a trial is looked for that a broken controller sent before its commit.
WATCH_S = 1.0


class NeverStruck(Exception):
    """The round was over before its point was passed so often."""


def strike(sweep, target, rng):
    """Kills `target` at some moment while the sweep runs; False where it was over before."""
    threshold = len(sweep.side_log()) + rng.randrange(1, 2 * sweep.trials)

    def moment():
        return len(sweep.side_log()) >= threshold or sweep.process.poll() is not None
    sweeps.wait_until(moment, f"{threshold} lines in the side log")
    def controller():
        return [sweep.process.pid] if sweep.process.poll() is None else []

    def executor():
        pid = sweep.pid_of("executor.lock")
        return [pid] if pid > 1 and sweep.is_ours(pid) else []
    alive = {
        "controller": controller, "executor": executor, "keeper": sweep.keeper_pids, "rank": sweep.rank_pids,
        "all": lambda: [*controller(), *executor(), *sweep.keeper_pids(), *sweep.rank_pids()],
    }[target]
    # At some moments there is no rank.
    found = sweeps.wait_until(lambda: alive() or (not controller() and ["over"]), target)
    struck = found != ["over"]
    for pid in found if struck else []:
        sweeps.kill(pid)
    return struck


def session(sweep, target, hit, rng, defect=None):
    """One life of the controller, struck at `target`: its exit code, and whether it was struck."""
    if target not in NAMED:
        sweep.process = sweep.start(defect=defect)
        struck = strike(sweep, target, rng)
        code = sweep.finish(sweep.process)
        sweep.audit_launched()
        return code, struck
    before = len(sweep.struck())
    sweep.process = sweep.start(failpoint=f"{target}@{hit}", defect=defect)
    code = sweep.finish(sweep.process)
    sweep.audit_launched(WATCH_S if defect else 0)
    return code, len(sweep.struck()) > before


def choose_hit(target, rng):
    # Each life of a keeper dies at the same hit: some trials must end before it.
    return rng.randrange(5 if target.startswith("keeper.") else 1, 14)


def play(sweep, target, hit, rng, defect):
    """Runs the sweep to its end. Three of four resumed sessions are struck too.
    Returns what was struck, one name a session."""
    code, struck = session(sweep, target, hit, rng, defect)
    if not struck:
        raise NeverStruck(f"{target}@{hit} never struck")
    hits, resumes = [target], 0
    while code != 0:
        resumes += 1
        if resumes > 8:
            raise AssertionError(f"still exit code {code} after {resumes} resumes, struck: {hits}")
        if defect is None and len(hits) < 4 and rng.random() < 0.75:
            target = rng.choice(NAMED + AT_RANDOM)
            code, struck = session(sweep, target, choose_hit(target, rng), rng)
            hits += [target] if struck else []
        else:
            sweep.process = sweep.start(defect=defect)
            code = sweep.finish(sweep.process)
    return hits


def one_round(folder, build, seed, defect=None, reference=None, ease=0):
    """`ease`: how often this round has missed its point already."""
    rng = random.Random(seed)
    # A defect shows where it matters: between what was sent and the commit that should precede it.
    target = "controller.before_commit" if defect else rng.choice(NAMED + AT_RANDOM * 2)
    # To look for ranks takes a while: they must live that long.
    # Every third sweep is judged by ASHA.
    judged = seed % 3 == 2 and defect is None
    sweep = sweeps.Sweep(folder, build, ms=100 if target == "rank" else rng.choice([1, 5, 20]),
                         reports=6 if judged else 3, judged=judged)
    hit = choose_hit(target, rng)
    if ease > 0:
        hit = min(hit, 5 if target.startswith("keeper.") else 5 - 2 * ease)
    rng = random.Random(f"{seed} {ease}")
    try:
        hits = play(sweep, target, hit, rng, defect)
        # A keeper that dies between an end and its exit.json, and a rank killed after its last word,
        # end an attempt of which nothing is known: it runs again, as it must.
        may_lose = any(name in ("rank", "rank.in_a_line", "all") or name.startswith("keeper") for name in hits)
        sweep.audit(reference=reference, may_lose_ended=may_lose)
    except AssertionError as error:
        raise type(error)(f"{target}@{hit} seed {seed}: {error}\n{sweep.output()}") from error
    return hits


def repeated_round(folder, build, seed, defect, reference):
    """A round that misses its point tests nothing: it is repeated with an earlier one."""
    for ease in range(3):
        try:
            return one_round(f"{folder}.{ease}" if ease else folder, build, seed, defect, reference, ease)
        except NeverStruck as miss:
            print(f"{os.path.basename(folder)}: {miss}, again", flush=True)
    raise AssertionError(f"seed {seed}: the point was missed three times")


def reference_parameters(folder, build):
    sweep = sweeps.Sweep(folder, build, ms=0)
    code = sweep.run()
    assert code == 0, sweep.output()
    sweep.audit()
    return sweep.parameters()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--defect")
    parser.add_argument("--expect-failure", action="store_true")
    options = parser.parse_args()
    base = tempfile.mkdtemp(prefix="hyperopt kill rounds ")
    build = os.path.abspath(options.build)
    reference = None if options.defect else reference_parameters(os.path.join(base, "reference"), build)
    caught, struck = None, collections.Counter()
    for number in range(options.rounds):
        folder = os.path.join(base, f"round {number}")
        try:
            hits = repeated_round(folder, build, options.seed * 100000 + number, options.defect, reference)
            struck.update(hits)
            print(f"round {number}: {', '.join(hits)}: ok", flush=True)
        except AssertionError as error:
            print(f"round {number}: {error}", flush=True)
            if options.expect_failure and isinstance(error, sweeps.AuditFailed):
                caught = error
                break
            if options.expect_failure:
                continue  # what a broken build does besides: the audit has not seen it
            print(f"kept: {folder}")
            sys.exit(1)
        shutil.rmtree(folder)
    print("struck: " + ", ".join(f"{name} {count}" for name, count in sorted(struck.items())))
    shutil.rmtree(base, ignore_errors=True)
    if options.expect_failure and caught is None:
        print(f"the audit did not notice the defect {options.defect}")
        sys.exit(1)
    print(f"{options.rounds} rounds" if caught is None else "the audit noticed it")


if __name__ == "__main__":
    main()
