"""Runs real sweeps of real processes and audits what is left: shared by the end-to-end tests."""

import contextlib
import fcntl
import glob
import json
import os
import signal
import sqlite3
import subprocess
import time

DEADLINE_S = float(os.environ.get("E2E_DEADLINE_S", "120"))  # a bound against hanging for ever; nothing is judged by it


def wait_until(condition, what, deadline_s=DEADLINE_S):
    """Waits on a condition, never on time."""
    until = time.monotonic() + deadline_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > until:
            raise AssertionError(f"never came: {what}")
        time.sleep(0.005)


class AuditFailed(AssertionError):
    """The record and what the trials logged do not agree; not a hang, nor a point that was missed."""


class Sweep:
    """One sweep folder and the search file that belongs to it."""

    def __init__(self, folder, build, trials=12, concurrent=2, reports=3, ms=10, binary="hyperopt_faulty",
                 extra_executor="", seed=7, judged=False):
        self.folder = folder
        self.build = build
        self.binary = os.path.join(build, binary)
        os.makedirs(folder, exist_ok=True)
        self.dir = os.path.join(folder, "sweep")
        self.log = os.path.join(folder, "side.log")
        self.strikes = os.path.join(folder, "strikes.log")
        self.config = os.path.join(folder, "search.yaml")
        self.reports = reports
        self.trials = trials
        self.judged = judged  # by ASHA
        if judged:
            extra_executor += f"    scheduler: {{type: asha, max_t: {reports}, grace_period: 1, reduction_factor: 2}}\n"
        trial = os.path.join(build, "tests", "side_trial")
        with open(self.config, "w") as file:
            file.write(f"""
command: [{json.dumps(trial)}, {json.dumps(self.log)}, '{reports}', '{ms}']
hyperopt:
  metric: loss
  parameters:
    x: {{space: uniform, lower: 0, upper: 1}}
    n: {{space: int, lower: 1, upper: 9}}
  search_alg: {{type: random, random_state: {seed}}}
  executor:
    num_samples: {trials}
    max_concurrent_trials: {concurrent}
    cpu_resources_per_trial: 1
    heartbeat_s: 0.2
    controller_lost_s: 20
    stop_grace_s: 2
{extra_executor}
""")

    def start(self, failpoint=None, defect=None, args=()):
        env = dict(os.environ)
        env.pop("HYPEROPT_FAILPOINT", None)
        env.pop("HYPEROPT_DEFECT", None)
        env.pop("SIDE_TRIAL_DIES", None)
        name, _, hit = (failpoint or "").partition("@")
        if name == "rank.in_a_line":  # by the rank itself: it knows no failpoints
            env["SIDE_TRIAL_DIES"] = f"{(int(hit) - 1) % self.trials} {1 + int(hit) % self.reports} {self.strikes}"
        elif failpoint:
            env["HYPEROPT_FAILPOINT"] = failpoint
            env["HYPEROPT_FAILPOINT_LOG"] = self.strikes
        if defect:
            env["HYPEROPT_DEFECT"] = defect
        out = open(os.path.join(self.folder, "out.txt"), "ab")
        return subprocess.Popen([self.binary, "--config", self.config, "--output", self.dir,
                                 "--cpus", "2", *args], env=env, stdout=out, stderr=out,
                                stdin=subprocess.DEVNULL)

    def output(self):
        text = ""
        for path in (os.path.join(self.folder, "out.txt"), os.path.join(self.dir, "executor.log")):
            with contextlib.suppress(FileNotFoundError):
                with open(path, errors="replace") as file:
                    text += f"--- {os.path.basename(path)}\n{file.read()}"
        return text[-6000:]

    def finish(self, process):
        """Waits for its end and returns the exit code."""
        try:
            return process.wait(DEADLINE_S)
        except subprocess.TimeoutExpired as error:
            process.kill()
            raise AssertionError("the controller did not end:\n" + self.output()) from error

    def run(self, **kw):
        return self.finish(self.start(**kw))

    def query(self, sql):
        database = os.path.join(self.dir, "sweep.db")
        with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as db:
            return db.execute(sql).fetchall()

    def side_log(self):
        if not os.path.exists(self.log):
            return []
        with open(self.log) as file:
            return [(what, int(trial), int(attempt), int(pid))
                    for what, trial, attempt, pid in (line.split() for line in file)]

    def struck(self):
        """The failpoints that have killed someone, one name a time."""
        if not os.path.exists(self.strikes):
            return []
        with open(self.strikes) as file:
            return file.read().split()

    def pid_of(self, lock):
        try:
            with open(os.path.join(self.dir, lock)) as file:
                return int(file.read().strip() or 0)
        except (FileNotFoundError, ValueError):
            return 0

    def sweep_id(self):
        try:
            with open(os.path.join(self.dir, "sweep.id")) as file:
                return file.read().strip()
        except FileNotFoundError:
            return ""

    def rank_pids(self):
        token = b"HYPEROPT_TOKEN=" + self.sweep_id().encode() + b"-"
        return [pid for pid, env in _environments() if self.sweep_id() and token in env]

    def keeper_pids(self):
        try:
            with open(os.path.join(self.socket_folder(), "keeper.lock")) as file:
                pid = int(file.read().strip() or 0)
        except (OSError, ValueError):
            return []
        return [pid] if self.is_ours(pid) else []

    def is_ours(self, pid):
        """Whether this pid is (still) a process of this sweep: nothing else is ever killed."""
        return pid in self.own_processes() or pid in self.rank_pids()

    def socket_folder(self):
        with open(os.path.join(self.dir, "lock")) as file:
            return json.loads(file.read())["sockets"]

    def own_processes(self):
        """hyperopt processes that name this folder, keeper included."""
        found = []
        for path in glob.glob("/proc/[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                with open(path, "rb") as file:
                    words = file.read()
                if self.dir.encode() in words and b"hyperopt" in words:
                    found.append(int(path.split("/")[2]))
        return found

    # ---- the audit ----

    def nothing_left(self):
        wait_until(lambda: not self.rank_pids() and not self.own_processes(),
                   f"no process left: {self.rank_pids()} {self.own_processes()}")
        for lock in ("lock", "executor.lock"):
            with contextlib.suppress(FileNotFoundError), open(os.path.join(self.dir, lock)) as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        folder = self.socket_folder()
        left = [name for name in os.listdir(folder) if name.endswith(".sock")] if os.path.isdir(folder) else []
        assert not left, f"sockets left: {left}"

    def audit_launched(self, watch_s=0):
        """What has started stood in the record before, whenever the controller was killed. A start that was
        sent too early may take a moment to show: it is looked for during `watch_s`."""
        until = time.monotonic() + watch_s
        while True:
            started = {entry[1:3] for entry in self.side_log() if entry[0] == "start"}
            known = set(self.query("select trial, attempt from run")) \
                if os.path.exists(os.path.join(self.dir, "sweep.db")) else set()
            if started - known:
                raise AuditFailed(f"started, and the record did not know of it: {sorted(started - known)}")
            if time.monotonic() >= until:
                return
            time.sleep(0.02)

    def audit(self, reference=None, may_lose_ended=False):
        """Each result once; the record agrees with what the trials themselves logged."""
        try:
            self.compare(reference, may_lose_ended)
        except AssertionError as error:
            raise AuditFailed(str(error)) from error

    def compare(self, reference, may_lose_ended):
        trials = self.query("select id, state, attempt, reports from trial order by id")
        assert [row[0] for row in trials] == list(range(self.trials)), trials
        log = self.side_log()
        starts = [entry[1:3] for entry in log if entry[0] == "start"]
        assert len(starts) == len(set(starts)), f"an attempt was started twice: {starts}"
        ends = {}
        for what, trial, attempt, _ in log:
            if what == "end":
                ends.setdefault(trial, []).append(attempt)
        for number, state, attempt, reports in trials:
            assert (number, attempt) in starts, f"{number} is {state} without a start of {attempt}"
            steps = [step for step, in self.query("select step from report where trial = "
                                                  f"{number} and attempt = {attempt} order by step")]
            if state == "stopped" and self.judged:
                # Words of after the verdict may be among them.
                assert steps and steps == list(range(1, len(steps) + 1)), (number, steps)
                last = self.query(f"select stopped from rung where trial = {number} order by rung desc limit 1")
                assert last == [(1,)], f"{number} was stopped at no rung"
            else:
                assert state == "completed", (number, state)
                assert attempt in ends.get(number, []), f"{number} completed and never ended"
                assert steps == list(range(1, self.reports + 1)), (number, steps)
                if not may_lose_ended:
                    assert ends[number] == [attempt], f"a finished result was run again: {number} {ends[number]}"
            counted = self.query(f"select count(*) from report where trial = {number}")[0][0]
            assert counted == reports, f"{number}: {counted} reports recorded, {reports} counted"
        assert not self.query("select 1 from run where ended is null or ended = 0"), "an open run"
        if reference is not None:
            assert self.parameters() == reference, "proposals differ from the undisturbed run"
        verify = subprocess.run([self.binary, "verify", self.dir], capture_output=True, text=True)
        assert verify.returncode == 0, verify.stdout + verify.stderr
        self.nothing_left()

    def parameters(self):
        return self.query("select trial, name, value from parameter order by trial, name")


def _environments():
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(path, "rb") as file:
                yield int(path.split("/")[2]), file.read()
        except OSError:
            continue


def lives(pid):
    """A zombie lives no more: where init reaps nobody, as in a container, one stays for ever."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def group_lives(group):
    """Whether a living process has this process group."""
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as file:
                state, _, of_process = file.read().rsplit(")", 1)[1].split()[:3]
        except OSError:
            continue
        if state not in "ZX" and int(of_process) == group:
            return True
    return False


def kill(pid, signal_number=signal.SIGKILL):
    """Only ever of a process that this test's sweep started."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal_number)
