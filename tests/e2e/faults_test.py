#!/usr/bin/env python3
"""What an environment does to a sweep: full disk, read-only folder, a broken record, two at once,
long paths, stopped processes, closed pipes.

  faults_test.py BUILD_DIR [unittest's words]

Mounts are made in a mount namespace of this script's own, which wants root.
"""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

from scene import DONE, SceneTest, main
from sweep import wait_until

IN_NAMESPACE = "HYPEROPT_TEST_NAMESPACE"


def may_mount():
    return os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"], check=False).returncode == 0


def running(pid):
    """Whether it still does anything: its keeper may not have taken it off yet."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def mount(*words):
    subprocess.run(["mount", *words], check=True)


@unittest.skipUnless(os.environ.get(IN_NAMESPACE), "mounts want root")
class MountTest(SceneTest):
    def on_small_disk(self):
        scene = self.scene
        disk = os.path.join(scene.folder, "small disk")
        os.mkdir(disk)
        mount("-t", "tmpfs", "-o", "size=4m", "tmpfs", disk)
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=False)
        scene.dir = os.path.join(disk, "sweep")
        return disk

    def fill(self, disk):
        """All that is left, to the last byte."""
        with open(os.path.join(disk, "filler"), "ab", buffering=0) as file:
            for size in (1 << 16, 1 << 12, 1):
                try:
                    while file.write(b"x" * size):
                        pass
                except OSError:
                    continue

    def fills_up(self, **executor):
        """Two trials have reported; then the disk is full, and they end."""
        scene = self.scene
        disk = self.on_small_disk()
        scene.search(DONE + '; mark started $$; await go', num_samples=8, **executor)
        process = scene.start()
        wait_until(lambda: scene.recorded(0) == 1 and scene.recorded(1) == 1, "a report of both")
        pids = [int(pid) for _, _, pid in scene.await_marks("started", 2)]
        self.fill(disk)
        scene.open("go")
        wait_until(lambda: not any(running(pid) for pid in pids), "their ends")
        return process, os.path.join(disk, "filler")

    def expect_nothing_lost(self):
        self.completed()
        for trial in self.scene.trials():
            self.assertEqual([report["step"] for report in trial["reports"]], [1])
        self.assertEqual(len(self.scene.marks("started")), 8)

    def test_full_disk_is_waited_for(self):
        scene = self.scene
        process, filler = self.fills_up()
        wait_until(lambda: "can not be written" in scene.said() or process.poll() is not None, "the wait")
        self.assertIsNone(process.poll(), scene.output())
        os.unlink(filler)
        scene.expect(process, 0)
        self.assertEqual(scene.said().count("can not be written"), 1)
        self.expect_nothing_lost()

    def test_requests_while_the_disk_is_full(self):
        scene = self.scene
        process, filler = self.fills_up()
        wait_until(lambda: "can not be written" in scene.said() or process.poll() is not None, "the wait")
        self.assertIn("waits    the record can not be written", scene.hyperopt("status", scene.dir))
        said = scene.hyperopt("add", scene.dir, "--params", '{"x": 0.5}', code=2)
        self.assertIn("nothing is changed, since the record can not be written", said)
        os.unlink(filler)
        wait_until(lambda: "can be written again" in scene.said(), "the end of it")
        scene.expect(process, 0)
        self.expect_nothing_lost()

    def test_disk_full_too_long(self):
        scene = self.scene
        process, filler = self.fills_up(store_wait_s=0.5)
        scene.expect(process, 3)
        self.assertIn("run the same line again", scene.said())
        os.unlink(filler)
        scene.run()
        self.expect_nothing_lost()

    def test_interrupted_while_the_disk_is_full(self):
        scene = self.scene
        process, filler = self.fills_up()
        wait_until(lambda: "can not be written" in scene.said() or process.poll() is not None, "the wait")
        process.send_signal(signal.SIGINT)
        wait_until(lambda: "once more kills" in scene.said(), "its answer")
        process.send_signal(signal.SIGINT)
        scene.expect(process, 3)
        os.unlink(filler)
        scene.run()
        self.expect_nothing_lost()

    def test_read_only_folder(self):
        scene = self.scene
        scene.search(DONE)
        os.mkdir(scene.dir)
        mount("--bind", scene.dir, scene.dir)
        self.addCleanup(subprocess.run, ["umount", "-l", scene.dir], check=False)
        mount("-o", "remount,ro,bind", scene.dir)
        said = scene.run(code=3)
        self.assertIn(scene.dir, said)
        self.assertIn("Read-only file system", said)
        mount("-o", "remount,rw,bind", scene.dir)
        scene.run()
        self.completed()


class FaultsTest(SceneTest):
    def test_corrupt_record(self):
        scene = self.scene
        scene.search("mark started .; " + DONE)
        scene.run()
        database = os.path.join(scene.dir, "sweep.db")
        sound = os.path.join(scene.folder, "sound.db")
        shutil.copy(database, sound)
        damages = {"no header": (0, b"\0" * 100), "middle": (4096, b"\xff" * 4096), "short": (5000, None)}
        for name, (at, what) in damages.items():
            with self.subTest(name):
                shutil.copy(sound, database)
                with open(database, "r+b") as file:
                    file.seek(at)
                    file.truncate(at) if what is None else file.write(what)
                with open(database, "rb") as file:
                    damaged = file.read()
                said = scene.run(code=3)
                self.assertIn(database, said)
                self.assertRegex(said, "malformed|corrupt|damaged|not a (database|record)")
                with open(database, "rb") as file:
                    self.assertEqual(file.read(), damaged, "what is left of it is left alone")
                self.assertIn(database, scene.hyperopt("status", scene.dir, code=3))
        shutil.copy(sound, database)
        scene.run()
        self.assertEqual(len(scene.marks("started")), 4, "nothing ran again")
        self.completed()

    def test_no_record(self):
        scene = self.scene
        os.mkdir(scene.dir)
        for command in ("status", "trials", "best", "verify", "export", "resume"):
            said = scene.hyperopt(command, scene.dir, code=2)
            self.assertIn(scene.dir, said)
        self.assertEqual(os.listdir(scene.dir), [])

    def test_two_controllers(self):
        scene = self.scene
        scene.search("mark started .; await go; " + DONE)
        process = scene.start()
        scene.await_marks("started", 2)
        said = scene.run(code=2)
        self.assertIn(f"pid {process.pid} on {os.uname().nodename}", said)
        self.assertIn(f"pid {process.pid}", scene.hyperopt("resume", scene.dir, code=2))
        scene.open("go")
        scene.expect(process)
        self.completed()

    def test_long_path(self):
        deep = os.path.join(self.scene.folder, "long long name " * 8, "second " * 12)
        os.makedirs(deep)
        scene = self.new_scene(deep)
        self.assertGreater(len(scene.dir), 200)
        scene.search("mark started .; await go; " + DONE)
        process = scene.start()
        scene.await_marks("started", 2)
        status = json.loads(scene.hyperopt("status", scene.dir, "--json"))
        self.assertEqual((status["state"], status["pid"]), ("running", process.pid))
        scene.open("go")
        scene.expect(process)
        self.completed(scene)

    def test_relative_output_and_resume_from_elsewhere(self):
        scene = self.scene
        scene.search(DONE, num_samples=2)
        scene.expect(scene.spawn("--config", "search.yaml", "--output", "sweep", "--cpus", "2"))
        elsewhere = os.path.join(scene.folder, "else where")
        os.mkdir(elsewhere)
        scene.expect(scene.spawn("resume", "../sweep", "--trials", "+1", cwd=elsewhere))
        self.assertEqual(len(scene.trials()), 3)
        self.assertEqual(os.listdir(elsewhere), [])
        self.completed()

    def test_closed_pipe(self):
        # hyperopt ... | head -1
        scene = self.scene
        scene.search("mark started .; await go; " + DONE)
        for flags in ([], ["--json"]):
            with self.subTest(flags):
                process = scene.start("--fresh", *flags, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.assertTrue(process.stdout.readline())
                process.stdout.close()
                process.stderr.close()
                scene.open("go")
                scene.expect(process)
                self.completed()
                scene.shut("go")

    def test_no_standard_streams_at_all(self):
        # hyperopt ... <&- >&- 2>&-: what it opens first must not become its stdout.
        scene = self.scene
        scene.search("mark ran .; exec 2>&1; echo words; " + DONE)

        def close_all():
            for fd in (0, 1, 2):
                os.close(fd)
        scene.expect(scene.start(stdin=None, stdout=None, stderr=None, preexec_fn=close_all))
        self.completed()
        self.assertEqual(len(scene.marks("ran")), 4)
        json.loads(scene.text("sweep", "lock"))
        self.assertEqual(scene.text("sweep", "trials", "0", "0", "1", "stdout.log"), "words\n")

    def test_record_locked_by_another_program(self):
        # Somebody's sqlite3 holds a lock: nothing is lost, and it goes on.
        scene = self.scene
        scene.search("mark started .; await go; mark ended .; " + DONE, num_samples=2)
        process = scene.start()
        scene.await_marks("started", 2)
        database = sqlite3.connect(os.path.join(scene.dir, "sweep.db"), isolation_level=None)
        database.execute("begin immediate")
        scene.open("go")
        scene.await_marks("ended", 2)
        wait_until(lambda: "can not be written" in scene.said() or process.poll() is not None, "the wait")
        self.assertIsNone(process.poll(), scene.output())
        database.execute("rollback")
        database.close()
        scene.expect(process)
        self.completed()

    def test_reader_that_does_not_read(self):
        # A pipe that nobody empties stops nothing.
        scene = self.scene
        scene.search("mark ran .; " + DONE, num_samples=300)
        process = scene.start("--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        scene.await_marks("ran", 300)
        wait_until(lambda: scene.states().count("completed") == 300, "300 recorded")
        process.stdout.close()
        process.stderr.close()
        scene.expect(process)
        self.completed()


# Each line is a step of its own in the report; "ticks" shows the test that trials go on.
TICKS = """
n=0
while [ $n -lt 60 ]; do
  n=$((n + 1)); report "{\\"step\\": $n, \\"loss\\": $HYPEROPT_PARAM_X}"; mark ticks $n; sleep 0.02
done
mark ended ."""


class StoppedTest(SceneTest):
    def of_ticks(self, **executor):
        scene = self.scene
        scene.search(TICKS, num_samples=2, **{"heartbeat_s": 0.05, **executor})
        process = scene.start()
        scene.await_marks("ticks", 4)
        return scene, process

    def expect_each_once(self, scene):
        self.completed()
        self.assertEqual(sorted(scene.marks("ended")), [(0, 1, "."), (1, 1, ".")])
        for trial in scene.trials():
            self.assertEqual([report["step"] for report in trial["reports"]], list(range(1, 61)))
            self.assertEqual(trial["steps"], 60)

    def test_controller_stopped(self):
        scene, process = self.of_ticks()
        process.send_signal(signal.SIGSTOP)
        scene.await_marks("ended", 2)  # many heartbeats, and the trials' ends
        process.send_signal(signal.SIGCONT)
        scene.expect(process)
        self.expect_each_once(scene)

    def test_executor_stopped(self):
        # The keeper and the trials are not: they go on.
        scene, process = self.of_ticks()
        executor = scene.pid_of("executor.lock")
        self.assertIn(executor, scene.own_processes())
        os.kill(executor, signal.SIGSTOP)
        wait_until(lambda: "is silent" in scene.said(), "the silence")
        scene.await_marks("ended", 2)
        os.kill(executor, signal.SIGCONT)
        scene.expect(process)
        self.expect_each_once(scene)

    def test_all_stopped(self):
        # As a machine that sleeps: every process for much longer than the lease.
        scene, process = self.of_ticks(controller_lost_s=0.4)
        pids = [process.pid, scene.pid_of("executor.lock"), *scene.keeper_pids(), *scene.rank_pids()]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(1.5)  # not a wait: the fault itself
        for pid in reversed(pids):
            os.kill(pid, signal.SIGCONT)
        scene.expect(process)
        self.expect_each_once(scene)

    def test_controller_killed_trials_go_on(self):
        scene, process = self.of_ticks()
        process.kill()
        process.wait()
        scene.await_marks("ended", 2)
        scene.run()
        self.expect_each_once(scene)


if __name__ == "__main__":
    if may_mount() and not os.environ.get(IN_NAMESPACE):
        os.environ[IN_NAMESPACE] = "1"
        os.execvp("unshare", ["unshare", "-m", sys.executable, *sys.argv])
    main(sys.argv)
