// What stands around a trial's command: setup, wrapper, container, tracker.
#include <fmt/format.h>

#include <algorithm>

#include "search/internal/config/readers.h"
#include "trial/command.h"
#include "trial/errors.h"
#include "trial/text.h"

namespace hyperopt::internal {
namespace {

std::vector<std::string> ParameterNames(const Reading& reading) {
  std::vector<std::string> names;
  for (const Parameter& parameter : reading.config.space.parameters()) {
    names.push_back(parameter.name);
  }
  return names;
}

void ReadSetup(Section& top, Reading& reading) {
  const Value* value = top.Take("setup");
  if (value == nullptr) return;
  std::string lines;
  if (value->is_string()) lines = value->text;
  for (const Value& line : value->items) {
    if (line.is_string()) lines += line.text + "\n";
  }
  while (lines.ends_with('\n')) lines.pop_back();
  const bool all_texts = std::ranges::all_of(
      value->items, [](const Value& line) { return line.is_string(); });
  if (Trim(lines).empty() || !all_texts) {
    top.Fail("setup", "must be lines for bash, as `setup: |` and the lines below it");
    return;
  }
  for (const std::string& name : ParameterNames(reading)) {
    if (lines.find("${" + name + "}") == lines.npos) continue;
    top.Fail("setup",
             fmt::format("runs once for all trials, so a parameter (${{{}}}) has no "
                         "place in it; hand it to the command",
                         name));
  }
  reading.config.around.setup = std::move(lines);
}

void ReadWrapper(Section& top, Reading& reading) {
  const std::vector<std::string> words =
      ReadWords(top, "wrapper", "[apptainer, exec, --nv, image.sif]");
  const std::vector<std::string> names = ParameterNames(reading);
  for (const std::string& word : words) {
    if (HasArgs(std::span(&word, 1))) {
      top.Fail("wrapper", "${args} belongs to the command");
    } else if (const auto problem = ProblemWithTemplate(word, names)) {
      top.Fail("wrapper", *problem);
    }
  }
  reading.config.around.wrapper = words;
}

// Words of ours that a second one of would break.
void CheckOptions(Section& container, const std::vector<std::string>& options) {
  for (const std::string& word : options) {
    for (const char* ours : {"--name", "--detach", "--cidfile"}) {
      if (word != ours && !word.starts_with(std::string(ours) + "=")) continue;
      container.Fail(
          "options",
          fmt::format("{} can not be given: the end of a trial is the end of "
                      "its container, which is found by its name",
                      ours));
    }
    if (word == "-d")
      container.Fail("options", "-d can not be given: a trial is awaited");
  }
}

void ReadContainer(Section& top, Reading& reading) {
  const Value* value = top.Take("container");
  if (value == nullptr) return;
  if (!reading.has_command) {
    top.Fail("container", "goes with `command`: the built-in trainer is in no image");
    return;
  }
  Container& container = reading.config.around.container;
  Section section(value, "container", reading.problems);
  const auto engine = section.Choice("engine", {"docker", "podman"});
  if (engine) {
    container.engine = *engine == "podman" ? Engine::kPodman : Engine::kDocker;
  } else if (value->is_map() && !section.Has("engine")) {
    section.Fail("engine", "is missing: docker or podman");
  }
  if (const auto image = section.Text("image")) {
    container.image = *image;
    if (image->starts_with('-')) section.Fail("image", "must be the name of an image");
  } else if (value->is_map() && !section.Has("image")) {
    section.Fail("image", "is missing: the image that trials run in");
  }
  if (section.Has("options")) {
    container.options = ReadWords(section, "options", "[--ipc=host]");
    CheckOptions(section, container.options);
  }
  section.Finish();
}

void ReadTracker(Section& top, Reading& reading) {
  const auto tracker = top.Choice("tracker", {"wandb", "mlflow"});
  if (!tracker) return;
  if (!reading.has_command) {
    top.Fail("tracker", "goes with `command`: the built-in trainer knows none");
    return;
  }
  reading.config.around.tracker =
      *tracker == "wandb" ? Tracker::kWandb : Tracker::kMlflow;
}

}  // namespace

void ReadSurroundings(Section& top, Reading& reading) {
  ReadSetup(top, reading);
  ReadWrapper(top, reading);
  ReadContainer(top, reading);
  ReadTracker(top, reading);
}

}  // namespace hyperopt::internal
