// The files of configs/: each must read, and its README must name it.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "search/testing/config_text.h"

namespace hyperopt {
namespace {

const std::filesystem::path& Folder() {
  static const std::filesystem::path folder = HYPEROPT_SOURCE_DIR "/configs";
  return folder;
}

std::vector<std::filesystem::path> Files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(Folder())) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

TEST_SUITE_BEGIN("config examples");

TEST_CASE("every file of configs/ reads, and reads back as resolved") {
  const auto files = Files();
  CHECK(files.size() >= 8);
  for (const auto& file : files) {
    CAPTURE(file.string());
    const SearchConfig config = LoadConfig(file);
    CHECK(config.name == file.stem().string());
    CHECK(config.space.size() > 0);
    const SearchConfig again = testing::Parse(ResolvedJson(config));
    CHECK(ComparedSettings(again) == ComparedSettings(config));
  }
}

TEST_CASE("the README names every file") {
  std::ifstream stream(Folder() / "README.md");
  std::ostringstream text;
  text << stream.rdbuf();
  for (const auto& file : Files()) {
    CAPTURE(file.string());
    CHECK(testing::Contains(text.str(), "| " + file.filename().string() + " |"));
  }
}

TEST_CASE("the examples show what they say") {
  CHECK(LoadConfig(Folder() / "command-asha.yaml").scheduler.kind ==
        SchedulerKind::kAsha);
  CHECK(LoadConfig(Folder() / "gpu-packing.yaml").executor.resources.gpu_per_rank ==
        Share::Of(0.25));
  CHECK(LoadConfig(Folder() / "command-repeats.yaml").repeats == 3);
  CHECK(LoadConfig(Folder() / "ranks.yaml").executor.resources.ranks == 4);
  CHECK(LoadConfig(Folder() / "ludwig-asha.yaml").executor.resources.ranks == 2);
  CHECK(LoadConfig(Folder() / "ludwig-grid.yaml").executor.num_samples == 1);
  CHECK(LoadConfig(Folder() / "command-output.yaml").read.front().patterns.size() == 2);
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt
