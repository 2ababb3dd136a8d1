#!/usr/bin/env python3
"""Executors started by hand over tcp with CURVE, on loopback.

  remote_test.py BUILD_DIR [unittest's words]
"""

import os
import re
import signal
import socket
import stat
import sys

from scene import DONE, SceneTest, main
from sweep import lives, wait_until

AT_THE_GATE = "mark started $$; await go; " + DONE


class RemoteTest(SceneTest):
    def key(self, name="sweep.key"):
        path = os.path.join(self.scene.folder, name)
        self.scene.hyperopt("keygen", path)
        return path

    def runs(self):
        """(trial, attempt, executor's name, outcome), in order."""
        return [(trial, attempt, name.split("-")[0], outcome) for trial, attempt, name, outcome in self.scene.query(
            "select trial, attempt, executor.name, outcome from run join executor on executor.id = run.executor "
            "order by trial, attempt")]

    def test_keygen(self):
        path = self.key()
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        words = self.scene.text(path)
        self.assertIn(path, self.scene.hyperopt("keygen", path, code=2))
        self.assertEqual(self.scene.text(path), words, "a key is never written over")
        self.assertNotEqual(self.scene.text(self.key("another.key")), words)

    def test_right_key_runs_trials(self):
        scene = self.scene
        key = self.key()
        scene.search(DONE, num_samples=6)
        process, endpoint = scene.listen("--key", key)
        executor = scene.executor("a", endpoint, "--key", key, "--cpus", "2")
        scene.expect(process)
        self.assertEqual([run[2:] for run in self.runs()], [("a", "exit")] * 6)
        self.assertIn("joined", scene.said())
        scene.expect(executor)  # it leaves with the sweep
        self.completed()

    def test_wrong_key_gets_no_work(self):
        scene = self.scene
        key, other = self.key(), self.key("other.key")
        scene.search("mark started .; " + DONE, num_samples=3)
        process, endpoint = scene.listen("--key", key)
        wrong = scene.executor("wrong", endpoint, "--key", other, "--cpus", "2")
        none = scene.executor("none", endpoint, "--cpus", "2")
        for name in ("wrong", "none"):
            wait_until(lambda name=name: "no answer from" in scene.text(f"{name}.txt"), "its complaint")
            self.assertIn("--key", scene.text(f"{name}.txt"))
        self.assertEqual(scene.marks("started"), [])
        right = scene.executor("right", endpoint, "--key", key, "--cpus", "2")
        scene.expect(process)
        self.assertEqual({run[2] for run in self.runs()}, {"right"})
        self.assertEqual([name for name, in scene.query("select name from executor")],
                         [name for name in scene.names if name.startswith("right")])
        for executor in (wrong, none, right):
            executor.send_signal(signal.SIGTERM)
            scene.expect(executor)
        self.completed()

    def test_key_that_others_may_read_is_refused(self):
        key = self.key()
        os.chmod(key, 0o644)
        scene = self.scene
        scene.search(DONE)
        said = scene.run("--listen", "tcp://127.0.0.1:0", "--key", key, code=2)
        self.assertIn(key, said)
        self.assertFalse(os.path.exists(scene.dir))

    def test_without_keys_nothing_binds_beyond_loopback(self):
        scene = self.scene
        scene.search(DONE)
        for address in ("tcp://0.0.0.0:0", "tcp://*:0", "tcp://[::]:0", f"tcp://{os.uname().nodename}.example:0"):
            with self.subTest(address):
                said = scene.run("--listen", address, code=2)
                self.assertIn("--key", said)
                self.assertFalse(os.path.exists(scene.dir))

    def test_loopback_without_keys(self):
        scene = self.scene
        scene.search(DONE, num_samples=2)
        process, endpoint = scene.listen()
        port = int(endpoint.rsplit(":", 1)[1])
        listening = [line.split()[1] for line in self.sockets() if line.split()[3] == "0A"]
        self.assertEqual([address for address in listening if address.endswith(f":{port:04X}")],
                         [f"0100007F:{port:04X}"])
        executor = scene.executor("a", endpoint, "--cpus", "2")
        scene.expect(process)
        executor.send_signal(signal.SIGTERM)
        scene.expect(executor)
        self.completed()

    def sockets(self):
        lines = []
        for path in ("/proc/net/tcp", "/proc/net/tcp6"):
            if os.path.exists(path):
                with open(path) as file:
                    lines += file.readlines()[1:]
        return lines

    def test_strangers_at_the_port_change_nothing(self):
        scene = self.scene
        key = self.key()
        scene.search(AT_THE_GATE, num_samples=2)
        process, endpoint = scene.listen("--key", key)
        executor = scene.executor("a", endpoint, "--key", key, "--cpus", "2")
        scene.await_marks("started", 2)
        address = ("127.0.0.1", int(endpoint.rsplit(":", 1)[1]))
        for words in (b"", b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 100000,
                      b"\xff\0\0\0\0\0\0\0\1\x7f\3\0NULL" + b"\0" * 48):
            with socket.create_connection(address) as stranger:
                try:
                    stranger.sendall(words)
                except OSError:
                    pass  # it may hang up at once
        scene.open("go")
        scene.expect(process)
        executor.send_signal(signal.SIGTERM)
        scene.expect(executor)
        self.completed()

    def test_default_listens_nowhere(self):
        # All sockets of an ordinary sweep are files of this user alone.
        scene = self.scene
        scene.search(AT_THE_GATE, num_samples=1)
        process = scene.start()
        scene.await_marks("started", 1)
        inodes = {line.split()[9] for line in self.sockets()}
        for pid in scene.own_processes():
            for fd in os.listdir(f"/proc/{pid}/fd"):
                target = os.readlink(f"/proc/{pid}/fd/{fd}") if os.path.islink(f"/proc/{pid}/fd/{fd}") else ""
                self.assertNotIn(re.sub(r"socket:\[(\d+)\]", r"\1", target), inodes)
        self.assertEqual(stat.S_IMODE(os.stat(scene.socket_folder()).st_mode), 0o700)
        scene.open("go")
        scene.expect(process)

    def killed(self, mode, when_old_ones_run):
        """What ran on a killed executor is lost, and runs elsewhere as the next attempt."""
        scene = self.scene
        scene.search(AT_THE_GATE, num_samples=3, max_concurrent_trials=2, controller_lost_s=1, reassign_after_s=1,
                     stop_grace_s=1)
        process, endpoint = scene.listen()
        first = scene.executor("a", endpoint, "--cpus", "2", "--mode", mode)
        scene.await_marks("started", 2)
        first.kill()
        first.wait()
        second = scene.executor("b", endpoint, "--cpus", "2")
        scene.await_marks("started", 4)
        when_old_ones_run([int(pid) for _, attempt, pid in scene.marks("started") if attempt == 1])
        scene.open("go")
        scene.expect(process)
        self.assertEqual(self.runs(), [(0, 1, "a", "lost"), (0, 2, "b", "exit"), (1, 1, "a", "lost"),
                                       (1, 2, "b", "exit"), (2, 1, "b", "exit")])
        self.assertEqual(scene.query("select failures, lost from trial order by id"), [(0, 1), (0, 1), (0, 0)])
        self.assertEqual([(t["state"], t["steps"]) for t in scene.trials()], [("completed", 1)] * 3)
        second.send_signal(signal.SIGTERM)
        scene.expect(second)
        scene.hyperopt("verify", scene.dir)
        scene.nothing_left()

    def test_executor_killed_in_mode_stop(self):
        def gone(pids):
            wait_until(lambda: not any(lives(pid) for pid in pids), "the end of the old attempts")
        self.killed("stop", gone)

    def test_executor_killed_in_mode_finish(self):
        def alive(pids):
            for pid in pids:
                self.assertTrue(lives(pid))
        self.killed("finish", alive)

    def test_executor_killed_and_back(self):
        # Its keeper keeps the trials for the next one of that name: nothing runs twice.
        scene = self.scene
        scene.search(AT_THE_GATE, num_samples=2)
        process, endpoint = scene.listen()
        first = scene.executor("a", endpoint, "--cpus", "2")
        scene.await_marks("started", 2)
        first.kill()
        first.wait()
        scene.names.clear()
        again = scene.executor("a", endpoint, "--cpus", "2")
        scene.open("go")
        scene.expect(process)
        self.assertEqual(self.runs(), [(0, 1, "a", "exit"), (1, 1, "a", "exit")])
        again.send_signal(signal.SIGTERM)
        scene.expect(again)
        self.completed()

    def test_executor_terminated_gives_back(self):
        scene = self.scene
        scene.search(AT_THE_GATE, num_samples=2)
        process, endpoint = scene.listen()
        first = scene.executor("a", endpoint, "--cpus", "2")
        scene.await_marks("started", 2)
        second = scene.executor("b", endpoint, "--cpus", "2")
        wait_until(lambda: scene.query("select count(*) from executor")[0][0] == 2, "the second")
        first.send_signal(signal.SIGTERM)
        scene.expect(first)
        scene.await_marks("started", 4)
        for trial in (0, 1):
            self.assertIn('"preempted"', scene.text("sweep", "trials", str(trial), "0", "1", "stop.json"))
        scene.open("go")
        scene.expect(process)
        self.assertEqual([run[:3] for run in self.runs()], [(0, 1, "a"), (0, 2, "b"), (1, 1, "a"), (1, 2, "b")])
        self.assertEqual(scene.query("select sum(failures), sum(lost) from trial"), [(0, 0)])
        second.send_signal(signal.SIGTERM)
        scene.expect(second)
        self.completed(attempt=2)

    def test_controller_killed_finish_mode(self):
        # Trials run to their end without a controller; the next one harvests them.
        scene = self.scene
        scene.search(AT_THE_GATE, num_samples=3, max_concurrent_trials=2)
        process, endpoint = scene.listen()
        executor = scene.executor("a", endpoint, "--cpus", "2")
        pids = [int(pid) for _, _, pid in scene.await_marks("started", 2)]
        process.kill()
        process.wait()
        scene.open("go")
        wait_until(lambda: not any(lives(pid) for pid in pids), "the end of both")
        again = scene.start("--no-local-executor", "--listen", endpoint)
        scene.expect(again)
        self.assertEqual([run[:3] for run in self.runs()], [(0, 1, "a"), (1, 1, "a"), (2, 1, "a")])
        executor.send_signal(signal.SIGTERM)
        scene.expect(executor)
        self.completed()

    def test_name_is_taken(self):
        scene = self.scene
        scene.search(AT_THE_GATE, num_samples=1)
        process, endpoint = scene.listen()
        first = scene.executor("a", endpoint, "--cpus", "2")
        scene.await_marks("started", 1)
        twin = scene.spawn("executor", "--connect", endpoint, "--name", scene.names[0])
        scene.expect(twin, 3)
        self.assertIn("--name", scene.said())
        scene.open("go")
        scene.expect(process)
        first.send_signal(signal.SIGTERM)
        scene.expect(first)
        self.completed()

    def test_no_executor_at_all(self):
        scene = self.scene
        scene.search(DONE, num_samples=2, reassign_after_s=1)
        process, _ = scene.listen()
        scene.expect(process, 3)
        self.assertIn("no executor", scene.said())
        scene.run()
        self.completed()


if __name__ == "__main__":
    main(sys.argv)
