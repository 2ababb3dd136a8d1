#!/usr/bin/env python3
"""What a trial is told, what becomes of its processes, and its checkpoints.

  processes_test.py BUILD_DIR [unittest's words]
"""

import json
import os
import signal
import sys

from scene import DONE, SceneTest, main
from sweep import lives, wait_until

# A child that leaves the session, the group and the parent, and ignores all polite words.
DAEMON = """
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
with open(sys.argv[1], "a") as file:
    file.write(os.environ["HYPEROPT_TRIAL"] + f" 1 {os.getpid()}\\n")
while True:
    time.sleep(60)
"""


class DescendantsTest(SceneTest):
    def test_gone_before_the_slot_is_reused(self):
        scene = self.scene
        with open(os.path.join(scene.folder, "daemon.py"), "w") as file:
            file.write(DAEMON)
        # Each trial looks whether those of the trials before it still live.
        scene.search(f"""
while read -r trial attempt pid; do
  if [ -e /proc/$pid ]; then mark overlaps $pid; fi
done < "$here/daemons"
"{sys.executable}" "$here/daemon.py" "$here/daemons"
until grep -q "^$HYPEROPT_TRIAL " "$here/daemons"; do sleep 0.02; done
{DONE}""", num_samples=3, max_concurrent_trials=1, stop_grace_s=0.3)
        scene.open("daemons")
        scene.run()
        self.completed()
        daemons = scene.marks("daemons")
        self.assertEqual([trial for trial, _, _ in daemons], [0, 1, 2])
        self.assertEqual(scene.marks("overlaps"), [])
        for _, _, pid in daemons:
            self.assertFalse(lives(int(pid)))

    def test_background_children_of_a_trial_that_ended(self):
        scene = self.scene
        scene.search(f"sleep 1000 & mark children $!; (setsid sleep 1000 & echo $! > \"$here/out\"); {DONE}",
                     num_samples=2, stop_grace_s=0.3)
        scene.run()
        self.completed()
        for _, _, pid in scene.marks("children"):
            self.assertFalse(lives(int(pid)))

    def test_killed_after_its_grace(self):
        scene = self.scene
        scene.search("trap '' TERM; mark pids $$; await never", num_samples=1, stop_grace_s=0.5)
        process = scene.start()
        (_, _, pid), = scene.await_marks("pids", 1)
        process.send_signal(signal.SIGINT)
        scene.expect(process, 130)
        self.assertFalse(lives(int(pid)))
        self.assertEqual(scene.query("select outcome, signal from run"), [("interrupted", 9)])
        scene.nothing_left()

    def test_saving_gets_its_time(self):
        # Two children in the group: one dies of TERM at once, the trial itself saves for a while.
        scene = self.scene
        scene.search("""
trap 'n=0; while [ $n -lt 20 ]; do n=$((n + 1)); sleep 0.05; done; mark saved .; exit 0' TERM
mark started .
while :; do sleep 0.05; done""", num_samples=2, stop_grace_s=60)
        process = scene.start()
        scene.await_marks("started", 2)
        process.send_signal(signal.SIGINT)
        scene.expect(process, 130)
        self.assertEqual(sorted(scene.marks("saved")), [(0, 1, "."), (1, 1, ".")])
        stop = json.loads(scene.text("sweep", "trials", "0", "0", "1", "stop.json"))
        self.assertEqual((stop["reason"], stop["grace_s"]), ("interrupted", 60))
        self.assertEqual(scene.states(), ["pending", "pending"])

    def test_stop_signal(self):
        scene = self.scene
        scene.search("trap 'mark got USR1; exit 0' USR1; mark started .; while :; do sleep 0.05; done",
                     num_samples=1, stop_signal="USR1", stop_grace_s=60)
        process = scene.start()
        scene.await_marks("started", 1)
        process.send_signal(signal.SIGINT)
        scene.expect(process, 130)
        self.assertEqual(scene.marks("got"), [(0, 1, "USR1")])


class ContractTest(SceneTest):
    def variables(self, trial=0, rank=None):
        name = "env" if rank is None else f"env.{rank}"
        path = os.path.join(self.scene.attempt(trial), name)
        with open(path, "rb") as file:
            return dict(item.split("=", 1) for item in file.read().decode().split("\0") if item)

    def environments(self, *flags, env=None, **settings):
        scene = self.scene
        scene.env.update(env or {})
        scene.search('cat /proc/self/environ > "$HYPEROPT_TRIAL_DIR/env${RANK:+.$RANK}"; ' + DONE, num_samples=1,
                     **settings)
        scene.run(*flags)
        self.completed()

    def test_variables(self):
        inherited = {"SLURM_JOB_ID": "1", "SLURM_PROCID": "0", "OMPI_COMM_WORLD_RANK": "1", "PMI_RANK": "2",
                     "PMIX_RANK": "2", "RANK": "7", "WORLD_SIZE": "8", "LOCAL_RANK": "1", "MASTER_ADDR": "elsewhere",
                     "MASTER_PORT": "1", "TORCHELASTIC_RUN_ID": "x", "GROUP_RANK": "1", "LOCAL_WORLD_SIZE": "2",
                     "HYPEROPT_RESUME_FROM": "/outer", "SECRET": "hush", "PLAIN": "kept"}
        self.environments(env=inherited, parameters={"x": {"space": "float", "lower": 1e-5, "upper": 1e-4},
                                                     "trainer.rate-2": {"space": "choice", "categories": ["a b"]}},
                          top={"keep_env": ["SLURM_JOB_*"], "name": "the name",
                               "env": {"TOKEN": {"from": "SECRET"}, "OWN": "${trial.id} of ${sweep.name}"}})
        scene, env = self.scene, self.variables()
        for name in inherited:
            if name not in ("SLURM_JOB_ID", "SECRET", "PLAIN"):
                self.assertNotIn(name, env)
        attempt = scene.attempt(0)
        expected = {"SLURM_JOB_ID": "1", "PLAIN": "kept", "TOKEN": "hush", "OWN": "0 of the name",
                    "HYPEROPT_TRIAL": "0", "HYPEROPT_ATTEMPT": "1", "HYPEROPT_SWEEP": "the name",
                    "HYPEROPT_CONTRACT": "1", "HYPEROPT_TRIAL_DIR": attempt,
                    "HYPEROPT_REPORT": attempt + "/report.jsonl",
                    "HYPEROPT_CHECKPOINT_DIR": attempt + "/checkpoints",
                    "HYPEROPT_PARAMS": attempt + "/params.json", "HYPEROPT_CONFIG": attempt + "/config.json",
                    "HYPEROPT_PARAM_TRAINER_RATE_2": "a b", "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
        self.assertEqual({name: env.get(name) for name in expected}, expected)
        self.assertEqual(env["HYPEROPT_TOKEN"], scene.sweep_id() + "-0-0-1-0")
        params = json.loads(scene.text("sweep", "trials", "0", "0", "1", "params.json"))
        self.assertEqual(float(env["HYPEROPT_PARAM_X"]), params["x"])
        self.assertEqual(params, scene.trials()[0]["params"])
        config = json.loads(scene.text("sweep", "trials", "0", "0", "1", "config.json"))
        self.assertEqual(config["trainer"], {"rate-2": "a b"})
        # A secret's value is nowhere in the record.
        with open(os.path.join(scene.dir, "sweep.db"), "rb") as file:
            self.assertNotIn(b"hush", file.read())

    def test_values_of_any_kind_reach_the_trial_as_they_are(self):
        values = ["$(touch pwned); `id` | x", "it's \"so\"", "a\nb", "", 1, 1.0, True, "1", None, [1, "a b"],
                  {"k": [None]}]
        scene = self.scene
        printer = os.path.join(scene.folder, "printer.py")
        with open(printer, "w") as file:
            file.write("""import json, os, sys
with open(os.environ["HYPEROPT_TRIAL_DIR"] + "/got.json", "w") as file:
    json.dump([sys.argv[1:], os.environ["HYPEROPT_PARAM_C"], json.load(open(os.environ["HYPEROPT_PARAMS"]))], file)
with open(os.environ["HYPEROPT_REPORT"], "a") as file:
    file.write('{"loss": 1}\\n')
""")
        scene.search("", parameters={"c": {"space": "grid_search", "values": values}}, num_samples=1,
                     top={"command": [sys.executable, printer, "${args}", "${c}"]})
        scene.run()
        words = [value if isinstance(value, str) else json.dumps(value, separators=(",", ":")) for value in values]
        for number, (value, word) in enumerate(zip(values, words)):
            argv, variable, params = json.loads(scene.text("sweep", "trials", str(number), "0", "1", "got.json"))
            self.assertEqual((argv, variable), ([f"--c={word}", word], word))
            self.assertEqual((params["c"], type(params["c"])), (value, type(value)))
        self.assertFalse(os.path.exists(os.path.join(scene.folder, "pwned")))
        self.completed()

    def test_stdin_is_empty(self):
        scene = self.scene
        scene.search('readlink /proc/self/fd/0 > "$HYPEROPT_TRIAL_DIR/stdin"; cat; ' + DONE, num_samples=1)
        scene.run()
        self.assertEqual(scene.text("sweep", "trials", "0", "0", "1", "stdin"), "/dev/null\n")
        self.completed()

    def test_nothing_is_inherited_but_the_three(self):
        scene = self.scene
        scene.search('ls /proc/self/fd > "$HYPEROPT_TRIAL_DIR/fds"; ' + DONE, num_samples=1)
        scene.run()
        fds = scene.text("sweep", "trials", "0", "0", "1", "fds").split()
        self.assertEqual(fds[:3] + fds[4:], ["0", "1", "2"], "3 is ls's own")

    def test_mask_of_numbers(self):
        self.environments(env={"CUDA_VISIBLE_DEVICES": "4,5"}, gpu_resources_per_trial=2)
        env = self.variables()
        self.assertEqual((env["CUDA_VISIBLE_DEVICES"], env["CUDA_DEVICE_ORDER"]), ("4,5", "PCI_BUS_ID"))

    def test_mask_of_uuids_and_mig(self):
        ids = [f"GPU-{os.getpid():08x}-1111-2222-3333-444444444444",
               f"MIG-{os.getpid():08x}-5555-6666-7777-888888888888"]
        for chosen in ids:
            with self.subTest(chosen):
                self.environments("--gpus", chosen, "--fresh", env={"CUDA_VISIBLE_DEVICES": ",".join(ids)},
                                  gpu_resources_per_trial=1)
                self.assertEqual(self.variables()["CUDA_VISIBLE_DEVICES"], chosen)

    def test_no_gpu_is_an_empty_mask(self):
        self.environments("--gpus", "2", gpu_resources_per_trial=0)
        self.assertEqual(self.variables()["CUDA_VISIBLE_DEVICES"], "")

    def test_ranks(self):
        self.environments("--gpus", "2", gpu_resources_per_trial=2, cpu_resources_per_trial=4, top={"ranks": 2})
        ranks = [self.variables(rank=0), self.variables(rank=1)]
        for number, env in enumerate(ranks):
            self.assertEqual((env["RANK"], env["LOCAL_RANK"]), (str(number), str(number)))
            self.assertEqual((env["WORLD_SIZE"], env["LOCAL_WORLD_SIZE"], env["GROUP_RANK"]), ("2", "2", "0"))
            self.assertEqual((env["CUDA_VISIBLE_DEVICES"], env["OMP_NUM_THREADS"]), (str(number), "2"))
        for name in ("MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID"):
            self.assertEqual(ranks[0][name], ranks[1][name])
        self.assertTrue(int(ranks[0]["MASTER_PORT"]) > 0 and ranks[0]["MASTER_ADDR"])
        self.assertEqual(ranks[1]["HYPEROPT_REPORT"], "/dev/null")
        self.assertEqual(self.scene.trials()[0]["steps"], 1)

    def test_rank_that_fails_takes_the_others(self):
        scene = self.scene
        scene.search("mark pids $$; [ $RANK = 0 ] && await never; echo rank one is sad >&2; exit 5", num_samples=1,
                     top={"ranks": 2}, max_initial_failures=9, stop_grace_s=1)
        said = scene.run(code=1)
        trial, = scene.trials()
        self.assertEqual((trial["state"], trial["reason"]), ("failed", "exit code"))
        self.assertIn("5", trial["detail"])
        self.assertIn("rank one is sad", said)
        scene.nothing_left()

    def test_logs_are_bounded(self):
        # Both ends stay, the middle is punched out, on each rank.
        scene = self.scene
        scene.search(f"""echo first; head -c 6000000 /dev/zero | tr '\\0' x; echo; echo last
echo first >&2; head -c 6000000 /dev/zero | tr '\\0' x >&2; echo last >&2; {DONE}""",
                     num_samples=1, log_limit="1MiB", top={"ranks": 2})
        scene.run()
        for name in ("stdout.log", "stderr.log", "stdout.1.log", "stderr.1.log"):
            with self.subTest(name):
                path = os.path.join(scene.attempt(0), name)
                with open(path, "rb") as file:
                    words = file.read()
                self.assertTrue(words.startswith(b"first\n") and words.endswith(b"last\n"))
                self.assertGreater(len(words), 6000000, "offsets stay true")
                self.assertLess(os.stat(path).st_blocks * 512, 1500000)


class CheckpointTest(SceneTest):
    def test_only_complete_ones_are_resumed(self):
        scene = self.scene
        scene.search("""
mark from "${HYPEROPT_RESUME_FROM:-none}"
if [ $HYPEROPT_ATTEMPT = 1 ]; then
  for n in 1 2 3; do
    mkdir -p "$HYPEROPT_CHECKPOINT_DIR/$n"
    [ $n = 3 ] || { echo > "$HYPEROPT_CHECKPOINT_DIR/$n/tmp"
                    mv "$HYPEROPT_CHECKPOINT_DIR/$n/tmp" "$HYPEROPT_CHECKPOINT_DIR/$n/COMPLETE"; }
    report "{\\"step\\": $n, \\"loss\\": $((10 - n))}"
  done
  await never
fi
report '{"loss": 1}'""", num_samples=1)
        process = scene.start()
        wait_until(lambda: scene.recorded() == 3, "three reports")
        process.send_signal(signal.SIGINT)
        scene.expect(process, 130)
        scene.run()
        checkpoint = os.path.join(scene.attempt(0, 1), "checkpoints", "2")
        self.assertEqual(scene.marks("from"), [(0, 1, "none"), (0, 2, checkpoint)])
        trial, = scene.trials()
        # A report without a step counts on from the checkpoint.
        self.assertEqual([(r["step"], r["attempt"], r["loss"]) for r in trial["reports"] if r["attempt"] == 2],
                         [(3, 2, 1)])
        self.completed(attempt=2)

    def test_best_and_last_are_kept(self):
        # Of six only the best and the last stay; the half one is never called the best's.
        scene = self.scene
        scene.search("""
for n in 1 2 3 4 5 6; do
  mkdir -p "$HYPEROPT_CHECKPOINT_DIR/$n"; echo > "$HYPEROPT_CHECKPOINT_DIR/$n/COMPLETE"
  report "{\\"step\\": $n, \\"loss\\": $(((n - 3) * (n - 3)))}"
done
mkdir "$HYPEROPT_CHECKPOINT_DIR/7" """, num_samples=1)
        scene.run()
        folder = os.path.join(scene.attempt(0), "checkpoints")
        complete = [n for n in os.listdir(folder) if os.path.exists(os.path.join(folder, n, "COMPLETE"))]
        self.assertEqual(sorted(complete), ["3", "6"])
        best = json.loads(scene.text("sweep", "best.json"))
        self.assertEqual((best["value"], best["checkpoint_step"], best["checkpoint"]),
                         (0, 3, os.path.join(folder, "3")))

    def test_one_that_does_not_load_is_dropped(self):
        scene = self.scene
        scene.search("""
mark from "${HYPEROPT_RESUME_FROM:-none}"
case "$HYPEROPT_RESUME_FROM" in */2) exit 1;; esac
if [ $HYPEROPT_ATTEMPT = 1 ]; then
  for n in 1 2; do
    mkdir -p "$HYPEROPT_CHECKPOINT_DIR/$n"; echo > "$HYPEROPT_CHECKPOINT_DIR/$n/COMPLETE"
    report "{\\"step\\": $n, \\"loss\\": $n}"
  done
  await never
fi
report '{"step": 2, "loss": 1}'""", num_samples=1)
        process = scene.start()
        wait_until(lambda: scene.recorded() == 2, "two reports")
        process.send_signal(signal.SIGINT)
        scene.expect(process, 130)
        scene.run()
        steps = [word.rsplit("/", 1)[-1] for _, _, word in scene.marks("from")]
        self.assertEqual(steps, ["none", "2", "1"])
        self.completed(attempt=3)

    def test_every_rank_of_a_pruned_trial_is_told(self):
        scene = self.scene
        scene.search(r"""
trap 'mark terms "$RANK"; exit 0' TERM
[ "$RANK" != 0 ] || report '{"step": 1, "loss": '$HYPEROPT_TRIAL'}'
[ "$HYPEROPT_TRIAL" != 0 ] || exit 0
while :; do sleep 0.05; done""", num_samples=2, max_concurrent_trials=1, top={"ranks": 2},
                     scheduler={"type": "asha", "max_t": 9, "grace_period": 1, "reduction_factor": 2})
        scene.run()
        self.assertEqual(scene.query("select state, reason from trial order by id"),
                         [("completed", ""), ("stopped", "pruned")])
        self.assertEqual(sorted(scene.marks("terms")), [(1, 1, "0"), (1, 1, "1")])
        scene.nothing_left()

    def test_pruned(self):
        # Trial n's loss is n: with reduction factor 2 the later ones are stopped at the first rung.
        scene = self.scene
        scene.search("""
trap 'cp "$HYPEROPT_TRIAL_DIR/stop.json" "$here/stop.$HYPEROPT_TRIAL"; exit 3' TERM
n=0
while [ $n -lt 4 ]; do
  n=$((n + 1)); report "{\\"step\\": $n, \\"loss\\": $HYPEROPT_TRIAL}"
  [ $n != 1 ] || [ $HYPEROPT_TRIAL = 0 ] || await never
done""", num_samples=4, max_concurrent_trials=1,
                     scheduler={"type": "asha", "max_t": 4, "grace_period": 1, "reduction_factor": 2})
        scene.run()
        trials = scene.trials()
        self.assertEqual([t["state"] for t in trials], ["completed", "stopped", "stopped", "stopped"])
        self.assertEqual({t["reason"] for t in trials[1:]}, {"pruned"})
        for number in (1, 2, 3):
            self.assertEqual(json.loads(scene.text(f"stop.{number}"))["reason"], "pruned")
        scene.hyperopt("verify", scene.dir)
        scene.nothing_left()


if __name__ == "__main__":
    main(sys.argv)
