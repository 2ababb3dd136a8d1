// command, env, keep_env, read.
#include <doctest/doctest.h>

#include "search/testing/config_text.h"

namespace hyperopt {
namespace {

using testing::CommandFile;
using testing::Contains;
using testing::Errors;
using testing::Has;
using testing::LudwigFile;
using testing::Parse;

using Words = std::vector<std::string>;

std::string With(const std::string& command) {
  return "command: " + command +
         "\nhyperopt: {metric: loss, parameters: {lr: {space: uniform, lower: 0, "
         "upper: 1}}}\n";
}

TEST_SUITE_BEGIN("config command");

TEST_CASE("a list of words, as they are written") {
  CHECK(Parse(With("[run, 1e-5, 010, true, \"\", \"${lr}\", 'a b']")).command ==
        Words{"run", "1e-5", "010", "true", "", "${lr}", "a b"});
}

TEST_CASE("a text is split into words without a shell") {
  CHECK(Parse(With("python3 train.py --lr=${lr} 'a b'")).command ==
        Words{"python3", "train.py", "--lr=${lr}", "a b"});
  CHECK(Contains(Errors(With("run ${lr} > log")), "search.yaml:1:10: command: "));
  CHECK(Contains(Errors(With("\"run 'x\"")), "command: "));
}

TEST_CASE("what is no command") {
  for (const char* command : {"[]",
                              "''",
                              "{a: 1}",
                              "3",
                              "[run, [a]]",

                              "[run, ~]",
                              "[\"\"]",
                              "[\"${args}\"]"}) {
    CAPTURE(std::string(command));
    CHECK(Contains(Errors(With(command)), "command"));
  }
}

TEST_CASE("places are checked, with what is near") {
  CHECK(Contains(Errors(With("[run, \"${rl}\"]")), "did you mean ${lr}?"));
  CHECK(Contains(Errors(With("[sh, -c, \"x ${lr}\"]")), "\"$1\""));
  CHECK(Errors(With("[run, \"${args:hydra}\"]")).empty());
  CHECK(Contains(Errors(With("[run, \"${args:hidra}\"]")),
                 "search.yaml:1:10: command: ${args:hidra}: hidra is no style"));
  // A parameter whose range is wrong is no unknown name.
  const std::string errors = Errors(
      "command: [run, \"${lr}\"]\n"
      "hyperopt: {metric: loss, parameters: {lr: {space: uniform, lower: 1, upper: "
      "0}}}\n");
  CHECK(Contains(errors, "lower must be below upper"));
  CHECK_FALSE(Contains(errors, "${lr}"));
}

TEST_CASE("a parameter that no word has is said, not refused") {
  CHECK(Has(Parse(With("[run]")).notes, "not in the command: lr"));
  CHECK(Parse(With("[run, \"${lr}\"]")).notes.empty());
  CHECK(Parse(With("[run, \"${trial.config}\"]")).notes.empty());
  CHECK(Parse(With("[run]\nenv: {LR: \"${lr}\"}")).notes.empty());
  CHECK(Parse(With("[sh, -c, 'run $HYPEROPT_CONFIG']")).notes.empty());
  CHECK(
      Has(Parse("command: [run, \"${args}\"]\nhyperopt: {metric: loss, parameters: {a: "
                "{space: randn, arg: null}, b: {space: randn}}}\n")
              .notes,
          "not in the command: a;"));
}

TEST_CASE("with a command the metric is required") {
  CHECK(
      Contains(Errors("command: [run]\nhyperopt: {parameters: {a: {space: randn}}}\n"),
               "hyperopt.metric: is missing"));
  CHECK(Has(Parse(CommandFile("  split: test\n")).notes, "hyperopt.split has no use"));
}

TEST_CASE("env: templates, and names taken from where hyperopt runs") {
  const SearchConfig config = Parse(CommandFile(
      "",
      "env: {A: 1e-5, B: \"${lr}/${trial.id}\", C: '', T: {from: TOKEN}, D: true}\n"));
  CHECK(config.env.at("A") == EnvEntry{"1e-5", false});
  CHECK(config.env.at("B") == EnvEntry{"${lr}/${trial.id}", false});
  CHECK(config.env.at("C") == EnvEntry{"", false});
  CHECK(config.env.at("D") == EnvEntry{"true", false});
  CHECK(config.env.at("T") == EnvEntry{"TOKEN", true});
  for (const char* env : {"[A]",
                          "{A: null}",
                          "{A: [1]}",
                          "{'A B': 1}",
                          "{1A: 1}",
                          "{HYPEROPT_SEED: 1}",
                          "{CUDA_VISIBLE_DEVICES: 0}",
                          "{A: {from: 'x y'}}",
                          "{A: {form: X}}",
                          "{A: '${nothing}'}",
                          "{A: '${args}'}"}) {
    CAPTURE(std::string(env));
    CHECK(
        Contains(Errors(CommandFile("", "env: " + std::string(env) + "\n")), ": env"));
  }
}

TEST_CASE("keep_env takes names with wildcards") {
  CHECK(Parse(CommandFile("", "keep_env: [SLURM_*, 'PMI?', X]\n")).keep_env ==
        Words{"SLURM_*", "PMI?", "X"});
  CHECK(Parse(CommandFile("", "keep_env: '*'\n")).keep_env == Words{"*"});
  CHECK(Contains(Errors(CommandFile("", "keep_env: [a-b]\n")),
                 "search.yaml:2:12: keep_env"));
  CHECK(Contains(Errors(CommandFile("", "keep_env: {a: b}\n")),
                 "keep_env: must be names"));
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt
