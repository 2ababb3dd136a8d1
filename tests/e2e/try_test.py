#!/usr/bin/env python3
"""hyperopt try, and best for other programs.

  try_test.py BUILD_DIR [unittest's words]
"""

import glob
import json
import os
import re
import signal
import subprocess
import sys

from scene import DONE, SceneTest, main
from sweep import DEADLINE_S, wait_until


class TryTest(SceneTest):
    def setUp(self):
        super().setUp()
        self.tmp = os.path.join(self.scene.folder, "tmp")
        os.mkdir(self.tmp)
        self.scene.env["TMPDIR"] = self.tmp

    def start_try(self, *words):
        return subprocess.Popen([self.scene.binary, "try", self.scene.config, "--cpus", "4", *words], text=True,
                                env=self.scene.env, cwd=self.scene.folder, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run_try(self, *words, code=0):
        process = self.start_try(*words)
        out, err = process.communicate(timeout=DEADLINE_S)
        self.assertEqual(process.returncode, code, out + err)
        return out, err

    def test_a_good_one(self):
        scene = self.scene
        scene.search('echo hello; echo oops >&2; echo no json >> "$HYPEROPT_REPORT"; mkdir "$HYPEROPT_CHECKPOINT_DIR/20";'
                     ' : > "$HYPEROPT_CHECKPOINT_DIR/20/COMPLETE"; for i in 10 20; do '
                     'report "{\\"step\\": $i, \\"loss\\": 0.$i, \\"acc\\": 1}"; done',
                     top={"hooks": {"on_end": ["touch", "${config.dir}/hooked"]}})
        with open(scene.config) as file:
            search = json.load(file)
        search["command"].append("${args}")
        with open(scene.config, "w") as file:
            json.dump(search, file)
        out, err = self.run_try("--params", '{"x": 0.25}')
        self.assertTrue(out.startswith("hello\n"), out)
        self.assertIn("oops\n", err)
        for words in ('tried       x=0.25', "--x=0.25", f"in          {scene.folder}", "ended       completed",
                      "loss: 2 reports, best 0.1 at step 10, last 0.2 at step 20", "acc (2x, last 1)",
                      "loss (2x, last 0.2)", "10 to 20, each 10", "a step", "at its peak", "of step 20",
                      "--stop-after", "1 line was no report: no json"):
            self.assertIn(words, out.replace("'", ""))
        self.assertEqual(os.listdir(self.tmp), [])
        self.assertFalse(os.path.exists(os.path.join(scene.folder, "hooked")))
        self.assertFalse(os.path.exists(os.path.join(scene.folder, "results")))

    def test_the_first_proposal_and_the_same_seed(self):
        scene = self.scene
        scene.search("echo $HYPEROPT_PARAM_X $HYPEROPT_SEED; " + DONE, num_samples=2)
        out, _ = self.run_try()
        scene.run()
        self.assertEqual(out.splitlines()[0] + "\n", scene.hyperopt("logs", scene.dir, "0"))

    def test_the_metric_that_never_came(self):
        self.scene.search('report "{\\"eval_loss\\": 1}"')
        out, _ = self.run_try(code=1)
        self.assertIn("`loss` never came; seen: eval_loss; did you mean eval_loss?", out)
        self.scene.search("true")
        out, _ = self.run_try(code=1)
        self.assertIn("no report was seen", out)

    def test_one_that_fails(self):
        self.scene.search("exit 3", max_failures=5)
        out, _ = self.run_try(code=1)
        self.assertIn("failed: exit code 3", out)

    def test_wrong_words(self):
        self.scene.search(DONE)
        self.assertIn("did you mean x?", self.run_try("--params", '{"X": 1}', code=2)[1])
        said = self.run_try("--params", "x=1", code=2)[1]
        self.assertIn("JSON object", said)
        self.assertNotIn("json.exception", said)
        self.assertIn("a time as 5s", self.run_try("--stop-after", "soon", code=2)[1])
        self.assertEqual(os.listdir(self.tmp), [])

    def test_stop_after(self):
        scene = self.scene
        scene.search('report "{\\"loss\\": 1}"; trap "echo saved; exit 0" TERM; while :; do sleep 0.02; done')
        out, _ = self.run_try("--stop-after", "500ms")
        self.assertIn("saved\n", out)
        self.assertRegex(out, r"stop +TERM ended it after .*stop_grace_s is 5 s")
        scene.search('report "{\\"loss\\": 1}"; trap "" TERM; while :; do sleep 0.02; done', stop_grace_s=0.3)
        out, _ = self.run_try("--stop-after", "0.3", code=1)
        self.assertIn("did not end it within stop_grace_s (0.3 s)", out)

    def test_interrupted_and_kept(self):
        scene = self.scene
        scene.search('trap "echo told; exit 0" TERM; echo ready; while :; do sleep 0.02; done')
        process = self.start_try("--keep")
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=DEADLINE_S)
        self.assertEqual(process.returncode, 130, out + err)
        self.assertIn("told\n", out)
        kept, = glob.glob(os.path.join(self.tmp, "hyperopt-try-*"))
        self.assertIn(kept, out.replace("'", ""))
        self.assertIn("ready\ntold\n", scene.hyperopt("logs", kept, "0"))

    def test_ranks_and_read(self):
        scene = self.scene
        scene.search('echo "rank $RANK" >&2; [ "$RANK" != 0 ] || echo "val_loss=0.5"', top={
            "ranks": 2, "read": {"output": {"loss": "val_loss=(\\S+)"}}})
        out, err = self.run_try()
        self.assertEqual(sorted(err.split("\n")[:2]), ["rank 0", "rank 1"])
        self.assertIn("loss: 1 report", out)


class BestFormatTest(SceneTest):
    PARAMETERS = {"x": {"space": "uniform", "lower": 0, "upper": 1},
                  "use_bias": {"space": "choice", "categories": [True]},
                  "sizes": {"space": "choice", "categories": [[64, 32]]},
                  "opt.name": {"space": "choice", "categories": ["it's a b"]},
                  "tiny": {"space": "choice", "categories": [1e-7]}}

    def best(self, *words, code=0):
        return self.scene.hyperopt("best", self.scene.dir, *words, code=code)

    def sweep(self, command_word="${args}", parameters=None):
        scene = self.scene
        scene.search(DONE, num_samples=3, parameters=parameters or self.PARAMETERS)
        with open(scene.config) as file:
            search = json.load(file)
        search["command"].append(command_word)
        with open(scene.config, "w") as file:
            json.dump(search, file)
        scene.run()
        return scene.query("select value from parameter where name = 'x' and trial = "
                           "(select id from trial order by best limit 1)")[0][0]

    def test_for_programs(self):
        x = self.sweep()
        params = {"opt.name": "it's a b", "sizes": [64, 32], "tiny": 1e-7, "use_bias": True, "x": json.loads(x)}
        self.assertEqual(json.loads(self.best("--format", "json")), params)
        self.assertEqual(self.best("--format", "yaml"),
                         f'opt.name: "it\'s a b"\nsizes: [64,32]\ntiny: 1.0e-07\nuse_bias: true\nx: {x}\n')
        shell = 'set -a; eval "$("$0" best "$1" --format env)"; printf "%s|%s" "$HYPEROPT_PARAM_OPT_NAME" "$HYPEROPT_PARAM_X"'
        said = subprocess.run(["sh", "-c", shell, self.scene.binary, self.scene.dir], capture_output=True, text=True,
                              check=True)
        self.assertEqual(said.stdout, f"it's a b|{x}")
        shell = 'eval "printf \'%s|\' $("$0" best "$1" --format args)"'
        said = subprocess.run(["sh", "-c", shell, self.scene.binary, self.scene.dir], capture_output=True, text=True,
                              check=True)
        self.assertEqual(said.stdout, f"--opt.name=it's a b|--sizes=[64,32]|--tiny=1.0e-07|--use_bias=true|--x={x}|")
        self.assertEqual(float(self.best("--metric-only")), float(x))
        self.assertEqual(self.best("--format", "value"), self.best("--metric-only"))
        self.assertIn("choose one", self.best("--format", "json", "--top", "2", code=2))

    def test_a_bare_substitution_in_the_style_of_the_file(self):
        """python train.py $(hyperopt best DIR --format args), as it stands."""
        parameters = {key: value for key, value in self.PARAMETERS.items() if key != "opt.name"}
        x = self.sweep("${args:space,dashes,flags}", parameters)
        shell = 'printf "%s|" $("$0" best "$1" --format args)'
        said = subprocess.run(["sh", "-c", shell, self.scene.binary, self.scene.dir], capture_output=True, text=True,
                              check=True, cwd="/")
        self.assertEqual(said.stdout, f"--sizes|[64,32]|--tiny|1.0e-07|--use-bias|--x|{x}|")

    def test_the_top(self):
        self.sweep()
        lines = self.best("--top", "2").splitlines()
        self.assertEqual(len(lines), 3)
        self.assertTrue(re.match(r"trial +state +loss", lines[0]))

    def test_none_yet(self):
        self.scene.search("exit 1", num_samples=1)
        self.scene.run(code=1)
        for words in (["--format", "args"], ["--metric-only"], ["--top", "3"], []):
            self.assertIn("no trial has a finite loss", self.best(*words, code=1))


if __name__ == "__main__":
    main(sys.argv)
