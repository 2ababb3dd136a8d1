#include "trainer/checkpoint.h"

#include <doctest/doctest.h>

#include <fstream>

#include "trainer/testing/rank_process.h"

namespace hyperopt {
namespace {

TEST_CASE("the checkpoint protocol: torn ones are not there, complete ones are final") {
  TestFolder folder;
  const auto write = [&](const std::string& text) {
    return
        [text](const std::filesystem::path& to) { std::ofstream(to / "data") << text; };
  };
  CHECK(!FindCheckpoint(folder.path()));
  WriteCheckpoint(folder.path(), 9, write("nine"));
  WriteCheckpoint(folder.path(), 10, write("ten"));
  CHECK(FindCheckpoint(folder.path()) == folder.path() / "10");
  CHECK(FindCheckpoint(folder.path() / "9") == folder.path() / "9");
  std::filesystem::create_directory(folder.path() / "11");
  folder.Write("11/data", "torn");
  folder.Write("11/left", "over");
  CHECK(FindCheckpoint(folder.path()) == folder.path() / "10");
  WriteCheckpoint(folder.path(), 11, write("eleven"));
  CHECK(FindCheckpoint(folder.path()) == folder.path() / "11");
  CHECK(folder.Read("11/data") == "eleven");
  CHECK(!std::filesystem::exists(folder.path() / "11/left"));
  CHECK_THROWS(WriteCheckpoint(folder.path(), 9, write("again")));
  CHECK(folder.Read("9/data") == "nine");
}

}  // namespace
}  // namespace hyperopt
