#!/usr/bin/env python3
"""What runs where, on pretend GPUs: packing, whole devices, gangs, the one gate, and what a waiting
trial is told.

  placement_test.py BUILD_DIR [unittest's words]
"""

import collections
import json
import os
import signal
import sys

from scene import DONE, SceneTest, main
from sweep import wait_until

# Notes its devices, then waits to be let go one by one or all together.
HELD = 'mark started "$CUDA_VISIBLE_DEVICES"; until [ -e "$here/go" ] || [ -e "$here/go.$HYPEROPT_TRIAL" ]; ' \
       "do sleep 0.02; done; " + DONE


class PlacementTest(SceneTest):
    def held(self, *flags, **executor):
        self.scene.search(HELD, **{"cpu_resources_per_trial": 0.1, **executor})
        return self.scene.start(*flags)

    def running(self):
        return self.scene.query("select count(*) from trial where state = 'running'")[0][0]

    def explained(self, trial):
        return self.scene.hyperopt("explain", self.scene.dir, str(trial), code=None)

    def finish_all(self, process):
        self.scene.open("go")
        self.scene.expect(process)
        self.completed()

    def test_quarters(self):
        # Four on each of four devices, never a share of two; the seventeenth waits.
        scene = self.scene
        process = self.held("--gpus", "4", gpu_resources_per_trial=0.25, num_samples=18, max_concurrent_trials=18)
        devices = collections.Counter(word for _, _, word in scene.await_marks("started", 16))
        self.assertEqual(devices, {"0": 4, "1": 4, "2": 4, "3": 4})
        self.assertIn("needs 0.25 of one GPU, the emptiest of 4 has 0 free", self.explained(16))
        status = json.loads(scene.hyperopt("status", scene.dir, "--json"))
        self.assertEqual((status["devices"], status["devices_busy"]), (4, 4))
        self.assertIn("0.25 of one GPU", status["waits"])
        self.assertEqual(self.running(), 16)
        # One ends, one starts, on the same device.
        freed = next(word for trial, _, word in scene.marks("started") if trial == 5)
        scene.open("go.5")
        self.assertEqual(scene.await_marks("started", 17)[16], (16, 1, freed))
        self.finish_all(process)
        self.assertEqual([t["devices"] for t in scene.trials()],
                         [[word] for _, _, word in sorted(scene.marks("started"))])

    def test_shares_are_not_added_up(self):
        # 0.6 of four devices is four trials, not six.
        process = self.held("--gpus", "4", gpu_resources_per_trial=0.6, num_samples=6, max_concurrent_trials=6)
        devices = sorted(word for _, _, word in self.scene.await_marks("started", 4))
        self.assertEqual(devices, ["0", "1", "2", "3"])
        self.assertIn("needs 0.6 of one GPU, the emptiest of 4 has 0.4 free", self.explained(4))
        self.assertEqual(self.running(), 4)
        self.finish_all(process)

    def test_whole_devices_are_exclusive(self):
        process = self.held("--gpus", "4", gpu_resources_per_trial=2, num_samples=4, max_concurrent_trials=4)
        words = [word for _, _, word in self.scene.await_marks("started", 2)]
        self.assertEqual(sorted(words), ["0,1", "2,3"])
        self.assertIn("needs 2 GPUs, none of 4 is free", self.explained(2))
        self.assertEqual(self.running(), 2)
        self.finish_all(process)
        self.assertEqual({word for _, _, word in self.scene.marks("started")}, {"0,1", "2,3"})

    def test_gate(self):
        scene = self.scene
        process = self.held("--cpus", "64", num_samples=12, max_concurrent_trials=3)
        scene.await_marks("started", 3)
        self.assertIn("max_concurrent_trials is 3, and 3 are running", self.explained(3))
        self.assertEqual(self.running(), 3)
        # Also where the controller was killed and returns, and where the limit came down meanwhile.
        process.kill()
        process.wait()
        process = scene.start("--cpus", "64", "--set", "hyperopt.executor.max_concurrent_trials=2")
        wait_until(lambda: "12 trials, 0 finished before" in scene.said(), "its return")
        wait_until(lambda: "3 are running" in self.explained(3), "the three that run on")
        scene.open("go.0")
        wait_until(lambda: scene.states()[0] == "completed", "the first end")
        self.assertIn("max_concurrent_trials is 2, and 2 are running", self.explained(3))
        self.assertEqual(self.running(), 2)
        self.finish_all(process)
        # At no moment more than three ran: the record's own times, of attempts.
        times = [(at, 1) for at, in scene.query("select started from run")]
        times += [(at, -1) for at, in scene.query("select ended from run")]
        running = most = 0
        for _, change in sorted(times):
            running += change
            most = max(most, running)
        self.assertLessEqual(most, 3)

    def test_shares_survive_a_restart(self):
        scene = self.scene
        process = self.held("--gpus", "2", gpu_resources_per_trial=0.5, num_samples=8, max_concurrent_trials=8)
        before = scene.await_marks("started", 4)
        process.kill()
        process.wait()
        process = scene.start("--gpus", "2")
        wait_until(lambda: "8 trials, 0 finished before" in scene.said(), "its return")
        wait_until(lambda: "emptiest of 2 has 0 free" in self.explained(4), "what the four hold")
        freed = next(word for trial, _, word in before if trial == 2)
        scene.open("go.2")
        self.assertEqual(scene.await_marks("started", 5)[4], (4, 1, freed))
        self.assertEqual(self.running(), 4)
        self.finish_all(process)

    def test_gate_holds_for_reruns(self):
        scene = self.scene
        scene.search('[ -e "$here/mended" ] || exit 1; ' + HELD, num_samples=6, max_concurrent_trials=2,
                     max_initial_failures=9)
        scene.run(code=1)
        scene.open("mended")
        process = scene.spawn("resume", scene.dir, "--rerun-failed", "--cpus", "8")
        scene.await_marks("started", 2)
        self.assertIn("max_concurrent_trials is 2, and 2 are running", self.explained(5))
        self.assertEqual(self.running(), 2)
        scene.open("go")
        scene.expect(process)
        self.completed(attempt=2)

    def test_one_slow_trial_holds_nobody_up(self):
        scene = self.scene
        process = self.held(num_samples=8, max_concurrent_trials=2)
        scene.await_marks("started", 2)
        for trial in range(1, 8):
            scene.open(f"go.{trial}")
        wait_until(lambda: scene.states() == ["running"] + ["completed"] * 7, "all but the slow one")
        self.finish_all(process)

    def test_cpus_bind(self):
        process = self.held("--cpus", "4", num_samples=4, max_concurrent_trials=4, cpu_resources_per_trial=1.5)
        self.scene.await_marks("started", 2)
        self.assertRegex(self.explained(2), r"needs 1\.5 CPUs, 1 of [0-9]+ is free")
        self.finish_all(process)

    def test_memory_binds(self):
        process = self.held("--memory", "1GiB", num_samples=3, max_concurrent_trials=3, memory_per_trial="600MiB")
        self.scene.await_marks("started", 1)
        self.assertIn("needs 600 MiB", self.explained(1))
        self.assertEqual(self.running(), 1)
        self.finish_all(process)

    def test_what_never_fits_is_refused(self):
        scene = self.scene
        cases = [({"gpu_resources_per_trial": 5}, ["needs 5 GPUs", "4"]),
                 ({"cpu_resources_per_trial": 9}, ["needs 9 CPUs", "8"]),
                 ({"memory_per_trial": "3GiB"}, ["needs 3 GiB", "2 GiB"]),
                 ({"gpu_resources_per_trial": 6, "top": {"ranks": 3}}, ["needs 6 GPUs for 3 ranks", "4"])]
        machine = ["--cpus", "8", "--gpus", "4", "--memory", "2GiB"]
        for settings, words in cases:
            with self.subTest(str(settings)):
                scene.search(DONE, **settings)
                said = scene.hyperopt("--config", scene.config, "--output", scene.dir, *machine, code=2)
                for word in ["no trial can ever start", *words]:
                    self.assertIn(word, said)
                self.assertFalse(os.path.exists(scene.dir), "nothing was begun")
                self.assertIn("0 at once", scene.hyperopt("check", scene.config, *machine, code=2))

    def test_gang(self):
        # Two ranks with a GPU each: three devices hold one gang, and the second holds nothing.
        scene = self.scene
        trial = 'mark started "$RANK $CUDA_VISIBLE_DEVICES"; await go; [ $RANK = 1 ] || ' + DONE
        scene.search(trial, num_samples=2, max_concurrent_trials=2, gpu_resources_per_trial=2,
                     cpu_resources_per_trial=0.2, top={"ranks": 2})
        process = scene.start("--gpus", "3")
        self.assertEqual(sorted(scene.await_marks("started", 2)), [(0, 1, "0 0"), (0, 1, "1 1")])
        self.assertRegex(self.explained(1), "needs 2 GPUs for 2 ranks, (1|one) of 3 is free")
        self.assertEqual(self.running(), 1)
        status = json.loads(scene.hyperopt("status", scene.dir, "--json"))
        self.assertEqual(status["devices_busy"], 2)
        self.finish_all(process)
        self.assertEqual(sorted(scene.marks("started")), [(0, 1, "0 0"), (0, 1, "1 1"), (1, 1, "0 0"), (1, 1, "1 1")])

    def test_one_gpu_is_the_default(self):
        # Where there are GPUs and the file says nothing, a trial gets one, and that is said.
        scene = self.scene
        scene.search(HELD, num_samples=3, max_concurrent_trials=3, cpu_resources_per_trial=0.1)
        process = scene.start("--gpus", "2")
        self.assertEqual(sorted(word for _, _, word in scene.await_marks("started", 2)), ["0", "1"])
        self.assertIn("gpu_resources_per_trial is absent: 1", scene.said())
        self.finish_all(process)

    def test_explain_of_others(self):
        scene = self.scene
        process = self.held("--cpus", "4", num_samples=6, max_concurrent_trials=1)
        scene.await_marks("started", 1)
        self.assertRegex(self.explained(0), r"trial 0 is running\nattempt 1 on this machine, ")
        self.assertRegex(self.explained(4), "not proposed yet: [34] are before it")
        self.assertIn("the sweep has 6", self.explained(17))
        scene.open("go.0")
        wait_until(lambda: scene.states()[0] == "completed", "the first")
        self.assertIn("trial 0 completed", self.explained(0))
        scene.await_marks("started", 2)
        process.send_signal(signal.SIGINT)
        scene.expect(process, 130)
        said = self.explained(1)
        self.assertIn("trial 1 is pending: interrupted", said)
        self.assertIn("hyperopt resume", said)


if __name__ == "__main__":
    main(sys.argv)
