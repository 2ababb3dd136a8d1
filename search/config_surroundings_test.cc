// setup, wrapper, container, tracker, and how a machine is shared, in a search file.
#include <doctest/doctest.h>

#include "search/config.h"
#include "search/testing/config_text.h"

namespace hyperopt {
namespace {

using testing::CommandFile;
using testing::Contains;
using testing::Errors;
using testing::Parse;
using Words = std::vector<std::string>;

Surroundings With(const std::string& top, const std::string& executor = "") {
  return Parse(CommandFile("  executor: {" + executor + "}\n", top + "\n")).around;
}
std::string ErrorsWith(const std::string& top, const std::string& executor = "") {
  return Errors(CommandFile("  executor: {" + executor + "}\n", top + "\n"));
}

TEST_CASE("setup: lines as they are, whatever stands in them") {
  CHECK(With("setup: |\n  module load cuda\n\n  x=${HOME} # ${trial.id}\n").setup ==
        "module load cuda\n\nx=${HOME} # ${trial.id}");
  CHECK(With("setup: [a, \"b | c\"]").setup == "a\nb | c");
  CHECK(With("").setup.empty());
  CHECK(Contains(ErrorsWith("setup: \" \""), "setup: must be lines for bash"));
  CHECK(Contains(ErrorsWith("setup: [1]"), "setup: must be lines for bash"));
  CHECK(Contains(ErrorsWith("setup: {a: b}"), "setup: must be lines for bash"));
  CHECK(Contains(ErrorsWith("setup: \"echo ${lr}\""), "a parameter (${lr}) has no"));
}

TEST_CASE("wrapper: words with places, but not ${args}") {
  CHECK(With("wrapper: [apptainer, exec, --nv, \"${config.dir}/i.sif\"]").wrapper ==
        Words{"apptainer", "exec", "--nv", "${config.dir}/i.sif"});
  CHECK(With("wrapper: nice -n 5").wrapper == Words{"nice", "-n", "5"});
  CHECK(Contains(ErrorsWith("wrapper: []"), "wrapper: must be a list of words"));
  CHECK(Contains(ErrorsWith("wrapper: [a, \"${args}\"]"), "belongs to the command"));
  CHECK(Contains(ErrorsWith("wrapper: [a, \"${nothing}\"]"), "wrapper"));
}

TEST_CASE("container: engine and image, and options that do not break it") {
  const Container container =
      With("container: {engine: podman, image: \"x:1\", options: [--ipc=host]}")
          .container;
  CHECK(container == Container{Engine::kPodman, "x:1", {"--ipc=host"}});
  CHECK(Contains(ErrorsWith("container: {image: x}"), "container.engine: is missing"));
  CHECK(Contains(ErrorsWith("container: {engine: docker}"), "image: is missing"));
  CHECK(Contains(ErrorsWith("container: {engine: dokcer, image: x}"),
                 "did you mean docker?"));
  CHECK(Contains(ErrorsWith("container: {engine: docker, image: x, option: y}"),
                 "did you mean options?"));
  for (const char* word : {"--name", "--name=x", "-d", "--detach"}) {
    CAPTURE(word);
    CHECK(Contains(ErrorsWith("container: {engine: docker, image: x, options: [" +
                              std::string(word) + "]}"),
                   "can not be given"));
  }
  CHECK(Contains(ErrorsWith("container: image"), "container"));
}

TEST_CASE("tracker") {
  CHECK(With("tracker: wandb").tracker == Tracker::kWandb);
  CHECK(With("tracker: mlflow").tracker == Tracker::kMlflow);
  CHECK(Contains(ErrorsWith("tracker: wandbd"), "did you mean wandb?"));
}

TEST_CASE("a trial is pinned where it was said how many CPUs it may use") {
  CHECK_FALSE(With("").pin_cpus);
  CHECK(With("", "cpu_resources_per_trial: 2").pin_cpus);
  CHECK_FALSE(With("", "cpu_resources_per_trial: 2, pin_cpus: false").pin_cpus);
  CHECK(With("", "pin_cpus: true").pin_cpus);
}

TEST_CASE("memory of a GPU") {
  const SearchConfig config =
      Parse(CommandFile("  executor: {gpu_memory_per_trial: 10GiB}\n"));
  CHECK(config.executor.resources.gpu_memory == int64_t{10} << 30);
  CHECK(Contains(ErrorsWith("", "gpu_memory_per_trial: much"), "must be an amount"));
  CHECK(
      Contains(ErrorsWith("", "gpu_memory_per_trial: 1GiB, gpu_resources_per_trial: 0"),
               "needs none of its memory"));
}

TEST_CASE("with the built-in trainer, what needs a command is refused") {
  const std::string file =
      "input_features: [{name: a, type: number}]\n"
      "output_features: [{name: b, type: number}]\n"
      "hyperopt: {parameters: {trainer.learning_rate: {space: uniform, lower: 0, "
      "upper: 1}}}\n";
  CHECK(Contains(Errors(file + "tracker: wandb\n"), "goes with `command`"));
  CHECK(Contains(Errors(file + "container: {engine: docker, image: x}\n"),
                 "goes with `command`"));
}

TEST_CASE("all of it is kept in the record, and may be edited") {
  const SearchConfig config = Parse(CommandFile(
      "  executor: {cpu_resources_per_trial: 2, gpu_memory_per_trial: 1GiB}\n",
      "setup: \"a\\nb\"\nwrapper: [nice]\ntracker: mlflow\n"
      "container: {engine: docker, image: x, options: [--ipc=host]}\n"));
  const SearchConfig again = Parse(ResolvedJson(config));
  CHECK(again.around == config.around);
  CHECK(again.executor.resources == config.executor.resources);
  for (const char* key : {"setup", "wrapper", "container", "tracker"}) {
    CHECK(ComparedSettings(config).contains(key));
    CHECK(WhatAChangeMeans(key) == OnChange::kApplies);
  }
}

}  // namespace
}  // namespace hyperopt
