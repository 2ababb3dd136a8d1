#!/usr/bin/env python3
"""Sharing a machine: pinned CPUs, memory of devices that others fill, setup, wrapper, containers,
trackers. The driver and the container engines are fakes that say and do what a test tells them.

  sharing_test.py BUILD_DIR [unittest's words]
"""

import contextlib
import os
import random
import shutil
import signal
import stat
import subprocess
import sys

from scene import DONE, SceneTest, main
from sweep import kill, lives, wait_until

GIB = 1 << 30
HELD = 'mark started "$CUDA_VISIBLE_DEVICES"; await "go.$HYPEROPT_TRIAL"; ' + DONE

# Runs the command as a container would: in a session of its own, which no signal to the client's
# group reaches, and which lives on without its client. Its words go to LOG.
ENGINE = r"""#!/bin/sh
log=$FAKE_ENGINE/log
case $1 in
  run)
    printf '%s\n' "$@" > "$log.run.$$"
    while [ $# -gt 0 ]; do
      case $1 in
        --name) name=$2; shift 2;;
        --workdir|-v|--env|--gpus|--device|--user|--network) shift 2;;
        image) shift; break;;
        *) shift;;
      esac
    done
    mkdir -p "$FAKE_ENGINE/containers"
    env -u HYPEROPT_TOKEN setsid "$@" & child=$!
    echo "$child" > "$FAKE_ENGINE/containers/$name"
    if [ -e "$FAKE_ENGINE/deaf" ]; then trap '' TERM; else trap 'kill -TERM "$child"' TERM; fi
    while :; do
      wait "$child"; code=$?
      kill -0 "$child" 2>/dev/null || break
    done
    rm -f "$FAKE_ENGINE/containers/$name"
    exit "$code";;
  ps)
    echo "$*" >> "$log"
    ls "$FAKE_ENGINE/containers" 2>/dev/null;;
  rm)
    echo "$*" >> "$log"
    shift 2
    for name in "$@"; do
      [ -e "$FAKE_ENGINE/containers/$name" ] || continue
      kill -KILL "-$(cat "$FAKE_ENGINE/containers/$name")" 2>/dev/null
      rm -f "$FAKE_ENGINE/containers/$name"
    done
    exit 0;;
esac
"""


class SharingTest(SceneTest):
    def explained(self, trial):
        return self.scene.hyperopt("explain", self.scene.dir, str(trial), code=None)

    # ---- CPUs ----

    def affinities(self, **executor):
        scene = self.scene
        scene.search('mark cpus "$(taskset -cp $$ | sed "s/.*: //")"; mark threads "$OMP_NUM_THREADS"; '
                     'await go; ' + DONE, **executor)
        process = scene.start("--cpus", str(2 * len(os.sched_getaffinity(0))))
        return process

    def test_trials_have_cpus_of_their_own(self):
        scene = self.scene
        cpus = sorted(os.sched_getaffinity(0))
        count = len(cpus)
        process = self.affinities(cpu_resources_per_trial=1, num_samples=2 * count, max_concurrent_trials=2 * count)
        words = [word for _, _, word in scene.await_marks("cpus", 2 * count)]
        # As many as there are CPUs have one each (but for those that another sweep of this user
        # has); those beyond them are not pinned.
        alone = [int(word) for word in words if word.isdigit()]
        self.assertEqual(len(alone), len(set(alone)), words)
        self.assertLessEqual(set(alone), set(cpus))
        if count > 1:
            self.assertEqual({word for word in words if not word.isdigit()}, {everywhere()})
        scene.open("go")
        scene.expect(process)
        self.assertEqual({word for _, _, word in scene.marks("threads")}, {"1"})
        self.completed()

    def test_pinning_can_be_left_out(self):
        for number, settings in enumerate(({"cpu_resources_per_trial": 1, "pin_cpus": False}, {},
                                           {"cpu_resources_per_trial": 0.5})):
            with self.subTest(settings=settings):
                self.inner_scene(str(number))
                process = self.affinities(num_samples=1, **settings)
                self.assertEqual(self.scene.await_marks("cpus", 1)[0][2], everywhere())
                self.scene.open("go")
                self.scene.expect(process)

    def inner_scene(self, name):
        folder = os.path.join(self.scene.folder, name)
        os.makedirs(folder)
        self.scene = self.new_scene(folder)

    # ---- memory of devices ----

    def driver(self, *devices):
        """Each device is (free GiB of 80, [(pid, GiB)])."""
        path = os.path.join(self.scene.folder, "driver")
        with open(path + ".new", "w") as file:
            for index, (free, processes) in enumerate(devices):
                file.write(f"device GPU-{self.uuid}-{index} {80 * GIB} {free * GIB}\n")
                for pid, used in processes:
                    file.write(f"process {pid} {used * GIB}\n")
        os.replace(path + ".new", path)

    def with_driver(self):
        self.uuid = f"{random.SystemRandom().getrandbits(64):016x}"  # leases are kept by it
        self.scene.env["FAKE_NVML"] = os.path.join(self.scene.folder, "driver")
        self.scene.env["LD_LIBRARY_PATH"] = os.path.join(self.scene.build, "tests", "fake_nvml")
        del self.scene.env["CUDA_VISIBLE_DEVICES"]
        for root in (f"/run/lock/hyperopt-{os.geteuid()}", f"/tmp/hyperopt-locks-{os.geteuid()}"):
            for device in range(2):
                self.addCleanup(shutil.rmtree, f"{root}/GPU-{self.uuid}-{device}", ignore_errors=True)

    def test_a_device_that_others_fill_is_passed_over(self):
        scene = self.scene
        self.with_driver()
        self.driver((3, [(os.getpid(), 77)]), (60, []))
        scene.search(HELD, cpu_resources_per_trial=0.1, gpu_memory_per_trial="10GiB", num_samples=3,
                     max_concurrent_trials=3)
        process = scene.start()
        self.assertEqual(scene.await_marks("started", 1)[0], (0, 1, "1"))
        wait_until(lambda: "needs 10 GiB of a GPU's memory" in self.explained(1)
                   or "needs 1 GPU" in self.explained(1), "the reason")
        # Its own trial has gone from the first device; the other one is still filled.
        scene.open("go.0")
        self.assertEqual(scene.await_marks("started", 2)[1], (1, 1, "1"))
        self.driver((3, [(os.getpid(), 77)]), (3, [(os.getpid(), 77)]))
        wait_until(lambda: "; device 1 has " in self.explained(2), "the news of the other device")
        scene.open("go.1")
        wait_until(lambda: "77 GiB" in self.explained(2), f"who holds it; {self.explained(2)}")
        said = self.explained(2)
        self.assertIn("needs 10 GiB of a GPU's memory: device 0 has 3 GiB of 80 GiB free; held by", said)
        self.assertIn(f"(pid {os.getpid()}, ", said)
        # It is free again, on the other device.
        self.driver((70, []), (3, [(os.getpid(), 77)]))
        self.assertEqual(scene.await_marks("started", 3)[2][::2], (2, "0"))
        scene.open("go.2")
        scene.expect(process)
        self.assertEqual([t["state"] for t in scene.trials()], ["completed"] * 3)

    def test_trials_of_one_device_do_not_promise_away_what_others_have_yet_to_take(self):
        scene = self.scene
        self.with_driver()
        self.driver((25, []))
        scene.search(HELD, cpu_resources_per_trial=0.1, gpu_resources_per_trial=0.25, gpu_memory_per_trial="10GiB",
                     num_samples=3, max_concurrent_trials=3)
        process = scene.start()
        scene.await_marks("started", 2)  # two fit into 25 GiB though neither holds anything
        wait_until(lambda: "10 GiB" in self.explained(2), "why the third waits")
        self.assertIn("2 trials of this sweep", wait_until(
            lambda: (self.explained(2) if "of this sweep" in self.explained(2) else ""), "own trials are named"))
        self.assertEqual(len(scene.marks("started")), 2)
        for trial in range(3):
            scene.open(f"go.{trial}")
        scene.expect(process)

    def test_a_device_is_given_back_once_the_trials_processes_have_left_its_list(self):
        scene = self.scene
        self.with_driver()
        self.driver((80, []))
        scene.search('mark pid $$; ' + HELD, cpu_resources_per_trial=0.1, num_samples=2, max_concurrent_trials=2)
        process = scene.start()
        pid = int(scene.await_marks("pid", 1)[0][2])
        self.driver((70, [(pid, 10)]))
        scene.open("go.0")
        exit_json = os.path.join(scene.attempt(0), "exit.json")
        wait_until(lambda: os.path.exists(exit_json), "the first trial's end")
        # It has ended, the driver has not let go of it: nobody is told.
        self.assertEqual(len(scene.marks("started")), 1)
        self.assertEqual(scene.states()[0], "running")
        self.driver((80, []))
        scene.await_marks("started", 2)
        scene.open("go.1")
        scene.expect(process)

    def test_a_driver_that_never_lets_go_is_waited_for_ten_seconds(self):
        scene = self.scene
        self.with_driver()
        self.driver((80, []))
        scene.search('mark pid $$; ' + HELD, cpu_resources_per_trial=0.1, num_samples=2, max_concurrent_trials=2)
        process = scene.start()
        self.driver((70, [(int(scene.await_marks("pid", 1)[0][2]), 10)]))
        for trial in range(2):
            scene.open(f"go.{trial}")
        scene.expect(process)
        self.assertEqual([t["state"] for t in scene.trials()], ["completed"] * 2)

    def test_try_says_what_was_held_of_devices(self):
        scene = self.scene
        self.with_driver()
        self.driver((80, []))
        scene.search('mark pid $$; ' + HELD, cpu_resources_per_trial=0.1, num_samples=1)
        process = scene.spawn("try", scene.config)
        pid = int(scene.await_marks("pid", 1)[0][2])
        self.driver((60, [(pid, 12), (os.getpid(), 8)]))  # others' processes do not count
        asked = os.path.join(scene.folder, "driver.asked")
        open(asked, "w").close()

        def looked():
            with open(asked) as file:
                return file.read().split().count(str(process.pid)) >= 2  # so that one is whole
        wait_until(looked, "a look at the devices")
        scene.open("go.0")
        scene.expect(process)
        self.assertRegex(scene.said(), r"devices +12 GiB at its peak")

    def test_without_the_drivers_library(self):
        scene = self.scene
        scene.search(DONE, cpu_resources_per_trial=0.1, gpu_memory_per_trial="10GiB", num_samples=2)
        self.assertIn("what is free is not looked at", scene.hyperopt("check", scene.config, "--gpus", "1"))
        scene.run("--gpus", "1")
        self.completed()

    # ---- setup and wrapper ----

    def test_setup_runs_once_and_every_trial_starts_from_it(self):
        scene = self.scene
        os.makedirs(os.path.join(scene.folder, "venv", "bin"))
        with open(os.path.join(scene.folder, "venv", "bin", "activate"), "w") as file:
            file.write(f'export VIRTUAL_ENV="{scene.folder}/venv"; PATH="$VIRTUAL_ENV/bin:$PATH"\n')
        tool = os.path.join(scene.folder, "venv", "bin", "venv-tool")
        with open(tool, "w") as file:
            file.write("#!/bin/sh\necho found\n")
        os.chmod(tool, 0o755)
        scene.search('mark env "$VIRTUAL_ENV|$(venv-tool)|$LATER|$X"; ' + DONE, num_samples=3, top={
            "setup": 'source venv/bin/activate\nexport LATER=set X="${x:-not a parameter}"\necho ran >> setup.count\n',
            "env": {"LATER": "from env"}})
        said = scene.hyperopt("check", scene.config)
        self.assertIn("ok; it changes LATER, PATH, VIRTUAL_ENV, X", said)
        os.unlink(os.path.join(scene.folder, "setup.count"))
        scene.run()
        self.assertEqual({word for _, _, word in scene.marks("env")},
                         {f"{scene.folder}/venv|found|from env|not a parameter"})
        self.assertEqual(scene.text("setup.count"), "ran\n")
        self.completed()

    def test_a_setup_that_fails_starts_no_trial(self):
        scene = self.scene
        scene.search('mark started x; ' + DONE, top={"setup": "export A=1\nsource venv/bin/activate\n"})
        reason = "setup: line 2: source venv/bin/activate: exit code 1"
        self.assertIn(reason, scene.hyperopt("check", scene.config, code=3))
        said = scene.run(code=3)
        self.assertIn("no trial can start on this machine", said)
        self.assertIn(reason, said)
        self.assertIn("venv/bin/activate: No such file or directory", said)
        self.assertNotIn("failed", scene.states())
        self.assertEqual(scene.marks("started"), [])
        # Mended, the same sweep goes on.
        os.makedirs(os.path.join(scene.folder, "venv", "bin"))
        with open(os.path.join(scene.folder, "venv", "bin", "activate"), "w"):
            pass
        scene.run()
        self.assertEqual(set(scene.states()), {"completed"})
        scene.nothing_left()

    def test_a_long_setup_is_waited_for(self):
        scene = self.scene
        scene.search('mark started "$A"; ' + DONE, num_samples=2,
                     top={"setup": f'until [ -e "{scene.folder}/go" ]; do sleep 0.05; done; export A=late'})
        process = scene.start()
        wait_until(lambda: "setup: is still running" in self.explained(0), "what trial 0 waits for")
        self.assertEqual(scene.marks("started"), [])
        scene.open("go")
        scene.expect(process)
        self.assertEqual({word for _, _, word in scene.marks("started")}, {"late"})
        self.completed()

    def test_an_interrupt_ends_a_setup(self):
        scene = self.scene
        scene.search('mark started x; ' + DONE, top={"setup": 'echo $$ > setup.pid; sleep 1000'})
        process = scene.start()
        pid_file = os.path.join(scene.folder, "setup.pid")
        wait_until(lambda: os.path.exists(pid_file) and scene.text("setup.pid").endswith("\n"), "the setup")
        pid = int(scene.text("setup.pid"))
        wait_until(lambda: scene.states() and "setup" in self.explained(0), "trial 0")
        process.send_signal(signal.SIGINT)
        scene.expect(process, 130)
        wait_until(lambda: not lives(pid), "the setup's end")
        scene.nothing_left()

    def test_wrapper(self):
        scene = self.scene
        wrapper = os.path.join(scene.folder, "wrap")
        with open(wrapper, "w") as file:
            file.write('#!/bin/sh\nWRAPPED="$1"; export WRAPPED; shift; exec "$@"\n')
        os.chmod(wrapper, 0o755)
        scene.search('mark wrapped "$WRAPPED"; ' + DONE, num_samples=2,
                     top={"wrapper": ["${config.dir}/wrap", "image of ${trial.id}"]})
        scene.run()
        self.assertEqual(sorted(scene.marks("wrapped")), [(0, 1, "image of 0"), (1, 1, "image of 1")])

    # ---- containers ----

    def with_engine(self, name="docker"):
        folder = os.path.join(self.scene.folder, "engine")
        os.makedirs(os.path.join(folder, "bin"), exist_ok=True)
        program = os.path.join(folder, "bin", name)
        with open(program, "w") as file:
            file.write(ENGINE)
        os.chmod(program, os.stat(program).st_mode | stat.S_IXUSR)
        self.scene.env["FAKE_ENGINE"] = folder
        self.scene.env["PATH"] = os.path.join(folder, "bin") + ":" + self.scene.env["PATH"]
        self.addCleanup(self.kill_containers)
        return folder

    def kill_containers(self):
        for pid in self.containers().values():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)

    def containers(self):
        """Names and processes of those that the fake engine runs."""
        folder = os.path.join(self.scene.env["FAKE_ENGINE"], "containers")
        found = {}
        with contextlib.suppress(FileNotFoundError):
            for name in os.listdir(folder):
                with open(os.path.join(folder, name)) as file:
                    found[name] = int(file.read().strip() or 0)
        return found

    def engine_log(self):
        with contextlib.suppress(FileNotFoundError):
            return self.scene.text("engine", "log")
        return ""

    def contained(self, trial, engine="docker", **settings):
        self.with_engine(engine)
        self.scene.search(trial, top={"container": {"engine": engine, "image": "image", "options": ["--ipc=host"]},
                                      **settings.pop("top", {})}, **settings)

    def test_trials_run_in_containers(self):
        for engine in ("docker", "podman"):
            with self.subTest(engine):
                self.inner_scene(engine)
                scene = self.scene
                self.contained('mark started "$PWD"; ' + DONE, engine, num_samples=2)
                scene.run()
                self.completed()
                runs = [name for name in os.listdir(scene.env["FAKE_ENGINE"]) if name.startswith("log.run")]
                self.assertEqual(len(runs), 2)
                words = scene.text("engine", runs[0]).splitlines()
                self.assertEqual(words[:5], ["run", "--rm", "--init", "--name", words[4]])
                self.assertTrue(words[4].startswith(f"hyperopt-{scene.sweep_id()}-"))
                self.assertIn("--ipc=host", words)
                self.assertIn(f"{scene.dir}/trials:{scene.dir}/trials", words)
                self.assertIn("HYPEROPT_REPORT", words)
                self.assertNotIn("rm", self.engine_log())  # none was killed
                self.assertEqual({word for _, _, word in scene.marks("started")}, {scene.folder})

    def test_a_failing_command_fails_the_trial(self):
        self.contained("exit 3", num_samples=1, max_initial_failures=0)
        self.scene.run(code=1)
        self.assertEqual([t["state"] for t in self.scene.trials()], ["failed"])

    def test_a_stop_reaches_the_container_and_its_grace_ends_it(self):
        # The first kind of trial saves at TERM, the second ignores it; so does its client.
        for deaf in (False, True):
            with self.subTest(deaf=deaf):
                self.inner_scene(f"deaf {deaf}")
                scene = self.scene
                on_term = "" if deaf else "mark saved x; exit 0"
                self.contained(f"trap '{on_term}' TERM; mark started $$; while :; do sleep 0.05; done", num_samples=1,
                               stop_grace_s=1)
                if deaf:
                    open(os.path.join(scene.env["FAKE_ENGINE"], "deaf"), "w").close()
                process = scene.start()
                pid = int(scene.await_marks("started", 1)[0][2])
                self.assertEqual(len(self.containers()), 1)
                name = next(iter(self.containers()))
                process.send_signal(signal.SIGINT)
                scene.expect(process, 130)
                wait_until(lambda: not lives(pid), "the container's end")
                self.assertEqual(self.containers(), {})
                if deaf:
                    self.assertIn(f"rm --force {name}", self.engine_log())
                else:
                    self.assertEqual(len(scene.marks("saved")), 1)
                scene.nothing_left()

    def test_a_container_ends_though_the_executor_is_dead(self):
        scene = self.scene
        self.contained("trap '' TERM; mark started $$; while :; do sleep 0.05; done", num_samples=1, stop_grace_s=1,
                       controller_lost_s=1)
        open(os.path.join(scene.env["FAKE_ENGINE"], "deaf"), "w").close()
        process = scene.start()
        pid = int(scene.await_marks("started", 1)[0][2])
        executor = scene.pid_of("executor.lock")
        keepers = scene.keeper_pids()
        kill(process.pid)
        process.wait()
        kill(executor)
        # The keeper alone stops its run, and the container with it.
        wait_until(lambda: not lives(pid), "the container's end")
        # Its process may be gone before the engine has written down why.
        wait_until(lambda: "rm --force" in self.engine_log(), "the container's removal")
        wait_until(lambda: not any(scene.is_ours(keeper) for keeper in keepers), "the keeper's end")

    def test_what_a_dead_keeper_left_is_removed(self):
        scene = self.scene
        self.contained("trap '' TERM; mark started $$; await go; " + DONE, num_samples=1)
        process = scene.start()
        pid = int(scene.await_marks("started", 1)[0][2])
        first = next(iter(self.containers()))
        stranger = subprocess.Popen(["sleep", "1000"], start_new_session=True)
        self.addCleanup(stranger.wait)
        self.addCleanup(stranger.kill)
        with open(os.path.join(scene.env["FAKE_ENGINE"], "containers", "somebody-elses"), "w") as file:
            file.write(f"{stranger.pid}\n")
        for keeper in scene.keeper_pids():
            kill(keeper)
        scene.await_marks("started", 2)
        wait_until(lambda: not lives(pid), "the first attempt's end")
        self.assertIn(first, self.engine_log())
        self.assertIsNone(stranger.poll())
        scene.open("go")
        scene.expect(process)
        self.assertEqual(scene.states(), ["completed"])

    # ---- trackers ----

    def test_a_tracker_has_the_same_run_in_each_attempt(self):
        scene = self.scene
        scene.search('mark run "$WANDB_RUN_GROUP $WANDB_NAME $WANDB_RUN_ID $WANDB_RESUME"; '
                     '[ "$HYPEROPT_ATTEMPT" = 2 ] || kill -9 $$; ' + DONE, num_samples=2, max_failures=1,
                     top={"tracker": "wandb", "name": "digits"})
        scene.run()
        for trial, _, word in scene.marks("run"):
            self.assertEqual(word, f"digits digits-{trial} {scene.sweep_id()}-{trial} allow")
        self.assertEqual(len(scene.marks("run")), 4)


def everywhere():
    """The CPUs of a process that is not pinned."""
    return subprocess.check_output(["taskset", "-cp", str(os.getpid())], text=True).split(": ")[1].strip()


if __name__ == "__main__":
    main(sys.argv)
