#!/usr/bin/env python3
"""What a trial is told: words of a command, base configurations, lists of runs; and hyperopt init.

  words_test.py BUILD_DIR [unittest's words]
"""

import json
import os
import sys

from scene import SceneTest, main

# Writes its words and what it was told to told.json in the trial's folder, and reports.
TELLER = """
import json, os, sys
env = os.environ
told = {"words": sys.argv[1:], "cwd": os.getcwd(), "env": dict(env),
        "config": json.load(open(env["HYPEROPT_CONFIG"])), "params": json.load(open(env["HYPEROPT_PARAMS"]))}
json.dump(told, open(os.path.join(env["HYPEROPT_TRIAL_DIR"], "told.json"), "w"))
open(env["HYPEROPT_REPORT"], "a").write('{"step": 1, "loss": 0.5}\\n')
"""
ARGPARSE = """
import argparse, json, os
parser = argparse.ArgumentParser()
parser.add_argument("--learning-rate", type=float, required=True)
parser.add_argument("--layers", type=int, required=True)
parser.add_argument("--optimizer", choices=["adam"], required=True)
parser.add_argument("--bias", action=argparse.BooleanOptionalAction, default=None)
options = parser.parse_args()
assert options.bias is not None and 1e-5 <= options.learning_rate <= 0.1 and 1 <= options.layers <= 6
print(f"epoch 1 loss {options.learning_rate}")
"""


class Files(SceneTest):
    def write(self, name, text):
        with open(os.path.join(self.scene.folder, name), "w") as file:
            file.write(text)


class WordsTest(Files):
    def search_file(self, words, parameters, top=None, **hyperopt):
        self.write("teller.py", TELLER)
        search = {"metric": "loss", "parameters": parameters, "executor": {"num_samples": 1}, **hyperopt}
        command = [sys.executable, "${config.dir}/teller.py", *words]
        self.write("search.yaml", json.dumps({"command": command, "hyperopt": search, **(top or {})}))

    def told(self, trial=0):
        with open(os.path.join(self.scene.attempt(trial), "told.json")) as file:
            return json.load(file)

    def test_styles_reach_the_program(self):
        one = {name: {"space": "choice", "categories": [value]} for name, value in
               {"batch_size": 32, "rate": -1e-05, "amp": True, "bias": False, "note": "a 'b' ${c}", "shape": [1, "x"],
                "gone": 1}.items()}
        one["gone"]["arg"] = None
        one["note"]["arg"] = "remark"
        self.search_file(["${args}", "|", "${args:space,dashes,noflags}", "|", "${args:flags}", "|", "${args:hydra}"],
                         one)
        self.scene.run()
        text = "\x00".join(self.told()["words"]).split("\x00|\x00")
        self.assertEqual([part.split("\x00") for part in text], [
            ["--amp=true", "--batch_size=32", "--bias=false", "--remark=a 'b' ${c}", "--rate=-1.0e-05",
             '--shape=[1,"x"]'],
            ["--amp", "--batch-size", "32", "--no-bias", "--remark", "a 'b' ${c}", "--rate", "-0.00001",
             "--shape", '[1,"x"]'],
            ["--amp", "--batch_size=32", "--remark=a 'b' ${c}", "--rate=-1.0e-05", '--shape=[1,"x"]'],
            ["amp=true", "batch_size=32", "bias=false", r"remark='a \'b\' \${c}'", "rate=-1.0e-05", "shape=[1,x]"]])
        self.assertIn("not in the command: gone", self.scene.hyperopt("check", self.scene.config))

    def test_base_config_lives_in_the_record(self):
        scene = self.scene
        self.write("base.yaml", "name: of the model\nenv: [1]\noptimizer: {type: adam, lr: 1e-5, eps: 1e-8}\n")
        self.search_file([], {"optimizer.lr": {"space": "choice", "categories": [0.25]},
                              "optimizer.esp": {"space": "choice", "categories": [1]}},
                         top={"base_config": "base.yaml", "more": {"x": 1}})
        self.assertIn("did you mean eps?", scene.hyperopt("check", scene.config))
        scene.run()
        self.assertEqual(self.told()["config"], {"name": "of the model", "env": [1], "more": {"x": 1}, "optimizer": {
            "type": "adam", "lr": 0.25, "eps": 1e-08, "esp": 1}})
        with open(os.path.join(scene.attempt(), "config.json")) as file:
            self.assertIn("1.0e-08", file.read())  # a number for YAML 1.1 too
        # The record is enough to go on; and says that the file is another.
        os.unlink(os.path.join(scene.folder, "base.yaml"))
        said = scene.hyperopt("resume", scene.dir, "--trials", "+1", "--cpus", "2")
        self.assertIn("base.yaml is not what it was when the sweep began", said)
        self.assertEqual(self.told(1)["config"], self.told(0)["config"])
        scene.hyperopt("verify", scene.dir)
        # The same line with an edited file is another search.
        self.write("base.yaml", "optimizer: {type: sgd}\n")
        scene.run(code=2)
        self.assertIn("base.yaml was edited since", scene.said())
        self.assertIn("model.optimizer", scene.said())

    def test_a_fault_of_base_config_has_its_place(self):
        self.write("base.yaml", "a: 1\na: 2\n")
        self.search_file([], {"a": {"space": "randn"}}, top={"base_config": "base.yaml"})
        said = self.scene.hyperopt("check", self.scene.config, code=2)
        self.assertIn("base.yaml:2:1: a: ", said)

    def test_list_of_runs_lives_in_the_record(self):
        scene = self.scene
        self.write("runs.csv", "lr,name\n0.5,1e3\n0.25,x\n0.125,\"a,b\"\n")
        self.search_file(["${args}"], None, search_alg={"type": "list", "file": "runs.csv"},
                         executor={"num_samples": 2})
        self.assertIn("2 trials of a list of 3 rows", scene.hyperopt("check", scene.config))
        scene.run()
        self.assertEqual(self.told(0)["words"], ["--lr=0.5", "--name=1e3"])
        os.unlink(os.path.join(scene.folder, "runs.csv"))
        scene.hyperopt("resume", scene.dir, "--trials", "+1", "--cpus", "2")
        self.assertEqual([trial["params"] for trial in scene.trials()],
                         [{"lr": 0.5, "name": "1e3"}, {"lr": 0.25, "name": "x"}, {"lr": 0.125, "name": "a,b"}])
        self.completed()

    def test_folder_and_environment(self):
        scene = self.scene
        scene.env.update(SLURM_JOB_ID="7", SLURM_NTASKS="9", PMI_RANK="1", PMIX_ID="2", SECRET="s3cret")
        self.search_file([], {"lr": {"space": "choice", "categories": [0.5]}}, top={
            "workdir": "trial", "keep_env": ["SLURM_JOB_*", "PMI?_ID"],
            "env": {"TOKEN": {"from": "SECRET"}, "AT": "${trial.id}:${trial.attempt}:${lr}:${sweep.name}:$${x}"}})
        scene.run()
        told = self.told()
        self.assertEqual(told["cwd"], scene.attempt())
        env = told["env"]
        self.assertEqual((env["TOKEN"], env["SLURM_JOB_ID"], env["PMIX_ID"]), ("s3cret", "7", "2"))
        self.assertNotIn("SLURM_NTASKS", env)
        self.assertNotIn("PMI_RANK", env)
        name = scene.export()["sweep"]["name"]
        self.assertEqual(env["AT"], f"0:1:0.5:{name}:${{x}}")
        self.assertNotIn("s3cret", json.dumps(scene.query("select * from sweep"), default=str))


class InitTest(Files):
    def test_a_script(self):
        scene = self.scene
        self.write("train.py", ARGPARSE)
        words = ["--", sys.executable, "train.py", "--learning-rate", "1e-3", "--layers", "3", "--optimizer", "adam",
                 "--no-bias"]
        said = scene.hyperopt("init", *words)
        self.assertIn("hyperopt check search.yaml", said)
        self.assertIn("30 trials", scene.hyperopt("check", scene.config))
        scene.run("--set", "read={output: {step: 'epoch (\\d+)', loss: 'loss (\\S+)'}}",
                  "--set", "hyperopt.executor.num_samples=6")
        self.completed()
        # Never over a file that is there.
        before = scene.text("search.yaml")
        self.assertIn("is there already", scene.hyperopt("init", *words, code=2))
        self.assertEqual(scene.text("search.yaml"), before)
        scene.hyperopt("init", "--force", "--", "p", "--other=0.5")
        self.assertIn("other", scene.text("search.yaml"))
        os.mkdir(os.path.join(scene.folder, "sub"))
        scene.hyperopt("init", "-o", "sub/x.yaml", *words)
        self.assertIn("${config.dir}/../train.py", scene.text("sub", "x.yaml"))
        self.assertIn("30 trials", scene.hyperopt("check", "sub/x.yaml"))

    def test_what_can_not_be_guessed_from(self):
        scene = self.scene
        for words, text in ((["init"], "after --"), (["init", "--", "./run.sh"], "no option"),
                            (["init", "--target", "y"], "--dataset"),
                            (["init", "--dataset", "none.csv", "--target", "y"], "no such table")):
            self.assertIn(text, scene.hyperopt(*words, code=2))
        self.assertFalse(os.path.exists(scene.config))

    def test_a_table(self):
        scene = self.scene
        rows = "".join(f"{i},{'red' if i % 3 else 'blue'},{i % 2}\n" for i in range(60))
        self.write("d.csv", "size,colour,y\n" + rows)
        scene.hyperopt("init", "--dataset", "d.csv", "--target", "y")
        text = scene.text("search.yaml")
        self.assertIn("{name: size, type: number}", text)
        self.assertIn("{name: colour, type: category}", text)
        if os.path.exists(os.path.join(scene.build, "hyperopt-train")):
            self.assertIn("20 trials", scene.hyperopt("check", scene.config))
            scene.run("--set", "trainer.epochs=2", "--set", "hyperopt.executor.num_samples=2",
                      "--set", "hyperopt.executor.scheduler={type: fifo}")


if __name__ == "__main__":
    main(sys.argv)
