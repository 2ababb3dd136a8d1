#!/usr/bin/env python3
"""How a trial's end is judged, and what its report file may hold.

  outcomes_test.py BUILD_DIR [unittest's words]
"""

import json
import os
import sys

from scene import DONE, SceneTest, main
from sweep import wait_until


class OutcomesTest(SceneTest):
    def one(self, trial, **executor):
        """One trial of this script, beside one that completes so that the sweep has a result."""
        scene = self.scene
        scene.search(f"if [ $HYPEROPT_TRIAL = 0 ]; then {DONE}; exit; fi\n{trial}",
                     num_samples=2, max_concurrent_trials=1, **executor)
        said = scene.run()
        self.assertEqual(scene.states()[0], "completed")
        return scene.trials()[1], said

    def test_signal_is_tried_again(self):
        trial, _ = self.one(f"[ $HYPEROPT_ATTEMPT = 2 ] || kill -SEGV $$; {DONE}")
        self.assertEqual((trial["state"], trial["attempt"]), ("completed", 2))

    def test_signal_is_tried_again_once(self):
        trial, _ = self.one("kill -SEGV $$")
        self.assertEqual((trial["state"], trial["attempt"], trial["reason"]), ("failed", 2, "signal"))
        self.assertIn("SIGSEGV", trial["detail"])
        lines = self.scene.hyperopt("explain", self.scene.dir, "1")
        self.assertRegex(lines, "attempt 1: .* signal 11")
        self.assertRegex(lines, "attempt 2: .* signal 11")

    def test_seed_is_the_same_in_every_attempt(self):
        scene = self.scene
        scene.search(f"""
mark seeds "$HYPEROPT_SEED"
if [ $HYPEROPT_TRIAL = 0 ] && [ $HYPEROPT_ATTEMPT = 1 ]; then kill -SEGV $$; fi
{DONE}""", num_samples=2, max_concurrent_trials=1)
        scene.run()
        (first, again, other) = sorted(scene.marks("seeds"))
        self.assertEqual([first[:2], again[:2], other[:2]], [(0, 1), (0, 2), (1, 1)])
        self.assertEqual(first[2], again[2])
        self.assertNotEqual(first[2], other[2])

    def test_exit_code_is_not(self):
        trial, said = self.one("echo no such column >&2; exit 7")
        self.assertEqual((trial["state"], trial["attempt"], trial["reason"]), ("failed", 1, "exit code"))
        self.assertIn("7", trial["detail"])
        self.assertIn("no such column", said)

    def test_max_failures(self):
        trial, _ = self.one("exit 7", max_failures=2)
        self.assertEqual((trial["state"], trial["attempt"]), ("failed", 3))

    def test_killed(self):
        trial, _ = self.one("kill -KILL $$", max_failures=0)
        self.assertEqual((trial["state"], trial["attempt"]), ("failed", 1))
        # Which of the two is by the kernel's count of kills for memory, and that is the machine's.
        self.assertIn(trial["reason"], ("signal", "host memory"))

    def test_device_memory_is_told_apart(self):
        trial, _ = self.one("echo 'torch.OutOfMemoryError: CUDA out of memory.' >&2; exit 1")
        self.assertEqual((trial["state"], trial["attempt"], trial["reason"]), ("failed", 2, "device memory"))

    def test_program_that_is_not_there(self):
        scene = self.scene
        scene.search(DONE, top={"command": ["/no/such program"]})
        said = scene.run(code=1)
        self.assertIn("/no/such program", said)
        self.assertIn("no such program", said)
        self.assertEqual(set(scene.states()), {"failed"})

    def test_first_failures_stop_the_sweep(self):
        scene = self.scene
        scene.search("mark ran .; echo 'ValueError: nope' >&2; exit 1", num_samples=50)
        said = scene.run(code=1)
        self.assertIn("no trial completed before 3 failed", said)
        self.assertIn("ValueError: nope", said)
        self.assertLess(len(scene.marks("ran")), 6)
        scene.nothing_left()
        # Mended, it goes on.
        scene.search("mark ran .; " + DONE, num_samples=50)
        said = scene.hyperopt("resume", scene.dir, "--rerun-failed", "--cpus", "2")
        self.assertEqual({trial["state"] for trial in scene.trials()}, {"completed"})
        self.assertEqual(len(scene.trials()), 50)

    def test_all_fail_later(self):
        scene = self.scene
        scene.search("exit 1", num_samples=5, max_initial_failures=100)
        scene.run(code=1)
        self.assertEqual(scene.states(), ["failed"] * 5)

    def test_metric_never_came(self):
        trial, said = self.one("""report '{"step": 1, "eval_loss": 3, "lr": 1}'""")
        self.assertEqual((trial["state"], trial["reason"]), ("failed", "no metric"))
        self.assertEqual(trial["detail"], "`loss` never came; seen: eval_loss, lr; did you mean eval_loss?")
        self.assertIn("seen: eval_loss, lr", said)

    def test_no_report_at_all(self):
        trial, _ = self.one("true")
        self.assertEqual((trial["state"], trial["reason"]), ("failed", "no metric"))
        self.assertIn("no report was seen", trial["detail"])

    def test_nan_is_worst(self):
        scene = self.scene
        values = ["NaN", "2.5", "Infinity", "-Infinity", "null"]
        branches = " ".join(f"""{n}) report '{{"step": 1, "loss": {v}}}';;""" for n, v in enumerate(values))
        scene.search(f"case $HYPEROPT_TRIAL in {branches} esac", num_samples=5, max_concurrent_trials=1)
        scene.run()
        trials = scene.trials()
        self.assertEqual([t["state"] for t in trials], ["failed", "completed", "failed", "failed", "failed"])
        odd = "metric not finite"
        self.assertEqual([t["reason"] for t in trials], [odd, "", odd, odd, "no metric"])
        best = json.loads(scene.text("sweep", "best.json"))
        self.assertEqual((best["trial"], best["value"]), (1, 2.5))
        self.assertEqual(trials[0]["reports"][0]["loss"], "NaN")
        self.assertEqual(trials[3]["last"], "-Infinity")
        scene.hyperopt("verify", scene.dir)

    def test_nan_on_the_way(self):
        trial, _ = self.one("""report '{"step": 1, "loss": 2}'; report '{"step": 2, "loss": NaN}'""")
        self.assertEqual((trial["state"], trial["best"], trial["best_step"], trial["last"]),
                         ("completed", 2, 1, "NaN"))

    def test_odd_lines_are_no_reports(self):
        trial, said = self.one(r"""
report '{"step": 1, "loss": 3}'
head -c 3000000 /dev/zero | tr '\0' x >> "$HYPEROPT_REPORT"; echo >> "$HYPEROPT_REPORT"
head -c 300000 /dev/urandom | tr '\n' x >> "$HYPEROPT_REPORT"; echo >> "$HYPEROPT_REPORT"
report 'loss: 1'
report '[1, 2]'
report ''
report '{"step": 2, "loss": 2, "note": "text", "more": {"a": [1]}}'
report '{"loss": 0.1'
printf '{"step": 3, "loss": 1}' >> "$HYPEROPT_REPORT"
""")
        self.assertEqual((trial["state"], trial["best"], trial["steps"]), ("completed", 1, 3))
        self.assertEqual([report["loss"] for report in trial["reports"]], [3, 2, 1])
        odd = "lines were no reports ("
        self.assertEqual(said.count(odd), 1, said)

    def test_half_lines(self):
        trial, _ = self.one("""
for part in '{"st' 'ep": 1, "lo' 'ss": 4}' '
{"step": 2, "loss"' ': 3}
'; do printf '%s' "$part" >> "$HYPEROPT_REPORT"; mark part .; sleep 0.3; done""")
        self.assertEqual([report["loss"] for report in trial["reports"]], [4, 3])

    def test_report_file_truncated(self):
        scene = self.scene
        scene.search("""
for n in 1 2 3; do report "{\\"step\\": $n, \\"loss\\": 9}"; done
await go
: > "$HYPEROPT_REPORT"
report '{"step": 4, "loss": 8}'; report '{"step": 5, "loss": 7}'""", num_samples=2)
        process = scene.start()
        wait_until(lambda: scene.recorded(0) == 3 and scene.recorded(1) == 3, "three reports of both")
        scene.open("go")
        scene.expect(process)
        for trial in scene.trials():
            self.assertEqual([report["step"] for report in trial["reports"]], [1, 2, 3, 4, 5])
            self.assertEqual(trial["best"], 7)
        self.completed()

    def test_report_file_replaced(self):
        scene = self.scene
        scene.search("""
for n in 1 2 3; do report "{\\"step\\": $n, \\"loss\\": 9}"; done
await go
echo '{"step": 4, "loss": 8}' > "$HYPEROPT_REPORT.new"; mv "$HYPEROPT_REPORT.new" "$HYPEROPT_REPORT"
await on
report '{"step": 5, "loss": 7}'""", num_samples=1)
        process = scene.start()
        wait_until(lambda: scene.recorded() == 3, "three reports")
        scene.open("go")
        wait_until(lambda: scene.recorded() == 4, "the new file's")
        scene.open("on")
        scene.expect(process)
        self.assertEqual([r["step"] for r in scene.trials()[0]["reports"]], [1, 2, 3, 4, 5])

    def test_report_without_step(self):
        trial, _ = self.one("""report '{"loss": 3}'; report '{"loss": 2}'; report '{"loss": 4}'""")
        self.assertEqual((trial["best"], trial["best_step"], trial["last"], trial["steps"]), (2, 2, 4, 3))

    def test_wall_limit(self):
        trial, _ = self.one(DONE + "; await never", max_seconds_per_trial=1, stop_grace_s=1)
        self.assertEqual((trial["state"], trial["reason"], trial["attempt"]), ("stopped", "wall limit", 1))

    def test_wall_limit_without_a_value(self):
        trial, _ = self.one("await never", max_seconds_per_trial=1, stop_grace_s=1)
        self.assertEqual((trial["state"], trial["reason"]), ("failed", "wall limit"))
        self.scene.nothing_left()

    def test_last_value(self):
        scene = self.scene
        scene.search("""report '{"step": 1, "loss": 1}'; report "{\\"step\\": 2, \\"loss\\": $HYPEROPT_TRIAL}" """,
                     top={})
        scene.run("--set", "hyperopt.value=last", "--set", "hyperopt.goal=maximize")
        best = json.loads(scene.text("sweep", "best.json"))
        self.assertEqual((best["trial"], best["value"]), (3, 3))

    def test_trial_that_removes_its_folder(self):
        trial, _ = self.one('rm -rf "$HYPEROPT_TRIAL_DIR"')
        self.assertEqual(trial["state"], "failed")
        self.scene.nothing_left()
        self.assertFalse(os.path.exists(os.path.join(self.scene.attempt(1), "report.jsonl")))


if __name__ == "__main__":
    main(sys.argv)
