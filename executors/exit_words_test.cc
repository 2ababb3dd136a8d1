#include "executors/internal/exit_words.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "trial/testing/store_folder.h"

namespace hyperopt {
namespace {

TEST_CASE("the kernel's count of kills for memory") {
  const StoreFolder folder;
  const std::string path = (folder.path() / "memory.events").string();
  const auto say = [&](const std::string& text) {
    std::ofstream(path, std::ios::trunc) << text;
  };
  say("low 0\noom 7\noom_kill 2\noom_group_kill 9\n");
  OomWatch watch(path);
  CHECK(watch.Rose() == false);
  say("low 0\noom 8\noom_kill 3\noom_group_kill 9\n");
  CHECK(watch.Rose() == true);
  CHECK(watch.Rose() == false);  // told once
  say("low 0\noom 9\noom_kill 4\n");
  watch.Look();  // of before
  CHECK(watch.Rose() == false);
  for (const char* text : {"", "oom 9\n", "oom_kill \n", "oom_kill x\n", "\xff\n"}) {
    CAPTURE(text);
    say(text);
    CHECK(watch.Rose() == std::nullopt);
  }
  // Seen again: what it was before is not known.
  say("oom_kill 50\n");
  CHECK(watch.Rose() == std::nullopt);
  say("oom_kill 51\n");
  CHECK(watch.Rose() == true);
  std::filesystem::remove(path);
  CHECK(watch.Rose() == std::nullopt);
}

}  // namespace
}  // namespace hyperopt
