#!/usr/bin/env python3
"""kill -9 of controller, executor, keeper and rank, at named points and at random times.

  kill_rounds.py BUILD_DIR [--rounds N] [--seed S] [--defect NAME --expect-failure]

After each round the same line is run until the sweep is done, and the record is compared with what
the trials logged themselves. With --expect-failure a deliberately broken build is run: some round
must make the audit fail.
"""

import argparse
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
    "keeper.after_exit_json",
]
AT_RANDOM = ["controller", "executor", "keeper", "rank", "all"]


def strike(sweep, target, rng):
    """Kills `target` at some moment while the sweep runs; False where it was over before."""
    threshold = rng.randrange(1, 2 * sweep.trials)

    def moment():
        return len(sweep.side_log()) >= threshold or sweep.process.poll() is not None
    sweeps.wait_until(moment, f"{threshold} lines in the side log")
    victims = {
        "controller": lambda: [sweep.process.pid],
        "executor": lambda: [sweep.pid_of("executor.lock")],
        "keeper": sweep.keeper_pids,
        "rank": sweep.rank_pids,
        "all": lambda: [sweep.process.pid, sweep.pid_of("executor.lock"), *sweep.keeper_pids(), *sweep.rank_pids()],
    }[target]()
    for pid in victims:
        if pid > 1 and (pid == sweep.process.pid or sweep.is_ours(pid)):
            sweeps.kill(pid)


def one_round(folder, build, seed, defect=None, reference=None):
    rng = random.Random(seed)
    # A defect shows where it matters: between what was sent and the commit that should precede it.
    target = "controller.before_commit" if defect else rng.choice(NAMED + AT_RANDOM * 2)
    sweep = sweeps.Sweep(folder, build, ms=rng.choice([1, 5, 20]))
    named = target in NAMED
    # Each life of a keeper dies at the same hit: some trials must end before it.
    hit = rng.randrange(5 if target.startswith("keeper.") else 1, 14)
    sweep.process = sweep.start(failpoint=f"{target}@{hit}" if named else None, defect=defect)
    if not named:
        strike(sweep, target, rng)
    code = sweep.finish(sweep.process)
    resumes = 0
    while code != 0:
        resumes += 1
        if resumes > 4:
            raise AssertionError(f"still exit code {code} after {resumes} resumes:\n" + sweep.output())
        sweep.process = sweep.start(defect=defect)
        code = sweep.finish(sweep.process)
    # A keeper that dies between an end and its exit.json, and a rank killed after its last word,
    # end an attempt of which nothing is known: it runs again, as it must.
    may_lose = target in ("rank", "all") or target.startswith("keeper")
    try:
        sweep.audit(reference=reference, may_lose_ended=may_lose)
    except AssertionError as error:
        raise AssertionError(f"{target}@{hit} seed {seed}: {error}\n{sweep.output()}") from error
    return target, resumes


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
    caught = None
    for number in range(options.rounds):
        folder = os.path.join(base, f"round {number}")
        try:
            target, resumes = one_round(folder, build, options.seed * 100000 + number, options.defect, reference)
            print(f"round {number}: {target}, {resumes} resumes: ok", flush=True)
        except AssertionError as error:
            caught = error
            print(f"round {number}: {error}", flush=True)
            if options.expect_failure:
                break
            print(f"kept: {folder}")
            sys.exit(1)
        shutil.rmtree(folder)
    shutil.rmtree(base, ignore_errors=True)
    if options.expect_failure and caught is None:
        print(f"the audit did not notice the defect {options.defect}")
        sys.exit(1)
    print(f"{options.rounds} rounds" if caught is None else "the audit noticed it")


if __name__ == "__main__":
    main()
