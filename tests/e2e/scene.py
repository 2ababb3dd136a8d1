"""A sweep of scripted trials: what the end-to-end tests that look at one behaviour each share.

A trial is a few lines of sh. It may call
  report JSON     one report line
  await NAME      waits for the test to open the gate NAME
  mark NAME WORD  appends "<trial> <attempt> WORD" to the file NAME
"""

import contextlib
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from sweep import DEADLINE_S, Sweep, kill, wait_until

PRELUDE = r"""
here=$1
report() { printf '%s\n' "$1" >> "$HYPEROPT_REPORT"; }
await() { until [ -e "$here/$1" ]; do sleep 0.02; done; }
mark() { echo "$HYPEROPT_TRIAL $HYPEROPT_ATTEMPT $2" >> "$here/$1"; }
"""
DONE = """report "{\\"step\\": 1, \\"loss\\": $HYPEROPT_PARAM_X}" """


class Scene(Sweep):
    def __init__(self, build, base):
        # Not Sweep's: the search file is ours.
        self.build = build
        self.folder = base
        self.binary = os.path.join(build, "hyperopt")
        self.dir = os.path.join(base, "sweep")
        self.config = os.path.join(base, "search.yaml")
        self.env = {key: value for key, value in os.environ.items() if not key.startswith("HYPEROPT_")}
        self.env["CUDA_VISIBLE_DEVICES"] = ""  # devices are pretend ones, wherever this runs
        self.started = []
        self.names = []  # of executors started by hand

    def search(self, trial, parameters=None, seed=7, **executor):
        """Writes the search file; more top-level keys come as top={...}. A JSON text is YAML."""
        top = executor.pop("top", {})
        scheduler = executor.pop("scheduler", None)
        script = os.path.join(self.folder, "trial.sh")
        with open(script, "w") as file:
            file.write(PRELUDE + trial + "\n")
        settings = {"num_samples": 4, "max_concurrent_trials": 2, "stop_grace_s": 5, "heartbeat_s": 0.3,
                    "controller_lost_s": 30, **executor}
        if scheduler:
            settings["scheduler"] = scheduler
        search = {"metric": "loss",
                  "parameters": parameters or {"x": {"space": "uniform", "lower": 0, "upper": 1}},
                  "search_alg": {"type": "random", "random_state": seed}, "executor": settings}
        with open(self.config, "w") as file:
            json.dump({"command": ["sh", script, self.folder], "hyperopt": search, **top}, file)

    def spawn(self, *words, **options):
        options = {"stdin": subprocess.DEVNULL, "env": self.env, "cwd": self.folder, **options}
        if "stdout" not in options:
            with open(os.path.join(self.folder, "out.txt"), "ab") as out:
                process = subprocess.Popen([self.binary, *words], **{"stdout": out, "stderr": out, **options})
        else:
            process = subprocess.Popen([self.binary, *words], **options)
        self.started.append(process)
        return process

    def start(self, *args, **options):
        cpus = [] if "--cpus" in args else ["--cpus", "4"]
        return self.spawn("--config", self.config, "--output", self.dir, *cpus, *args, **options)

    def run(self, *args, code=0, **options):
        """Runs the sweep to its end; returns what it said."""
        before = len(self.said())
        self.expect(self.start(*args, **options), code)
        return self.said()[before:]

    def expect(self, process, code=0):
        got = self.finish(process)
        assert got == code, f"exit code {got}, expected {code}:\n{self.output()}"

    def said(self):
        with contextlib.suppress(FileNotFoundError):
            with open(os.path.join(self.folder, "out.txt"), errors="replace") as file:
                return file.read()
        return ""

    def hyperopt(self, *words, code=0, env=None):
        """Another command; returns its stdout and stderr together. Any exit code will do where code is None."""
        result = subprocess.run([self.binary, *words], env=env or self.env, cwd=self.folder, timeout=DEADLINE_S,
                                stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, check=False)
        assert code in (None, result.returncode), \
            f"{words}: exit code {result.returncode}\n{result.stdout}{self.output()}"
        return result.stdout

    # ---- what is there ----

    def export(self):
        return json.loads(self.hyperopt("export", self.dir, "--format", "json"))

    def trials(self):
        return self.export()["trials"]

    def states(self):
        """By the record, so that it can be asked at any moment."""
        with contextlib.suppress(Exception):
            return [state for state, in self.query("select state from trial order by id")]
        return []

    def recorded(self, trial=0):
        with contextlib.suppress(Exception):
            return self.query(f"select count(*) from report where trial = {trial}")[0][0]
        return 0

    def parameters(self):
        return self.query("select trial, name, value from parameter order by trial, name")

    def open(self, name):
        with open(os.path.join(self.folder, name), "w"):
            pass

    def shut(self, name):
        os.unlink(os.path.join(self.folder, name))

    def marks(self, name):
        with contextlib.suppress(FileNotFoundError):
            with open(os.path.join(self.folder, name)) as file:
                lines = [line.rstrip("\n").split(" ", 2) for line in file if line.endswith("\n")]
            return [(int(trial), int(attempt), word) for trial, attempt, word in lines]
        return []

    def await_marks(self, name, count):
        wait_until(lambda: len(self.marks(name)) >= count, f"{count} in {name}; {self.marks(name)}")
        return self.marks(name)

    def attempt(self, trial=0, attempt=1):
        return os.path.join(self.dir, "trials", str(trial), "0", str(attempt))

    def text(self, *path):
        with open(os.path.join(self.folder, *path), errors="replace") as file:
            return file.read()

    # ---- executors of its own ----

    def listen(self, *args):
        """Starts a controller that runs nothing itself; returns it and where it listens."""
        process = self.start("--no-local-executor", "--listen", "tcp://127.0.0.1:0", *args)
        found = wait_until(lambda: re.findall(r"may join at (tcp://\S+)\n", self.said()) or process.poll() is not None,
                           "the address")
        assert process.poll() is None, self.output()
        return process, found[-1]

    def executor(self, name, endpoint, *args):
        """Its words go to the file NAME.txt; nothing else on this host has that name."""
        with open(os.path.join(self.folder, f"{name}.txt"), "ab") as out:
            unique = f"{name}-{os.path.basename(self.folder).replace(' ', '-')}"
            self.names.append(unique)
            return self.spawn("executor", "--connect", endpoint, "--name", unique, *args, stdout=out, stderr=out)

    def own_processes(self):
        """Those of executors started by hand do not name the folder."""
        found = super().own_processes()
        for path in glob.glob("/proc/[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                with open(path, "rb") as file:
                    words = file.read().decode(errors="replace").split("\0")
                if any(name in words for name in self.names):
                    found.append(int(path.split("/")[2]))
        return found

    def close(self):
        """Ends what this scene started and nothing else."""
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.wait()
        with contextlib.suppress(AssertionError):
            wait_until(self._ended, "the end", 20)

    def _ended(self):
        left = self.own_processes() + self.rank_pids()
        for pid in left:
            kill(pid, signal.SIGCONT)
            kill(pid)
        return not left


class SceneTest(unittest.TestCase):
    build = ""

    def setUp(self):
        base = os.path.realpath(tempfile.mkdtemp(prefix="hyperopt e2e "))
        self.addCleanup(shutil.rmtree, base, ignore_errors=True)
        self.scene = self.new_scene(base)

    def new_scene(self, base):
        scene = Scene(self.build, base)
        self.addCleanup(scene.close)
        return scene

    def completed(self, scene=None, attempt=1):
        """All trials are, each at this attempt; the record holds and nothing is left."""
        scene = scene or self.scene
        for trial in scene.trials():
            self.assertEqual((trial["state"], trial["attempt"]), ("completed", attempt), trial)
        scene.hyperopt("verify", scene.dir)
        scene.nothing_left()


def main(argv):
    SceneTest.build = os.path.abspath(argv.pop(1))
    unittest.main(argv=argv)
