#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>

#include "executors/attempt_folder.h"
#include "executors/testing/temp_sweep.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;
using testing::TempSweep;

TEST_SUITE("checkpoints") {
  void Make(const fs::path& dir, const std::string& name, bool complete) {
    fs::create_directories(dir / kCheckpointFolder / name);
    std::ofstream(dir / kCheckpointFolder / name / "weights") << "w";
    if (complete) std::ofstream(dir / kCheckpointFolder / name / "COMPLETE") << "";
  }

  TEST_CASE("only complete ones in folders named by a number count, in order") {
    const TempSweep temp;
    CHECK(CompleteCheckpoints(temp.dir()).empty());
    for (const char* name : {"10", "9", "0", "2"}) Make(temp.dir(), name, true);
    for (const char* name : {"x", "01", "-1", "+3", "3.tmp", "99999999999999999999"}) {
      Make(temp.dir(), name, true);
    }
    Make(temp.dir(), "11", false);
    CHECK(CompleteCheckpoints(temp.dir()) == std::vector<int64_t>{0, 2, 9, 10});
  }

  TEST_CASE("the best, the newest, the named and the unreported ones stay") {
    const TempSweep temp;
    for (const char* name : {"1", "2", "3", "4", "5", "6"})
      Make(temp.dir(), name, true);
    Make(temp.dir(), "7", false);
    PruneCheckpoints(temp.dir(), 2, 4, {3});
    CHECK(CompleteCheckpoints(temp.dir()) == std::vector<int64_t>{2, 3, 5, 6});
    CHECK_FALSE(fs::exists(temp.dir() / kCheckpointFolder / "1"));
    CHECK(fs::exists(temp.dir() / kCheckpointFolder / "7"));
    PruneCheckpoints(temp.dir(), 2, 100, {});
    CHECK(CompleteCheckpoints(temp.dir()) == std::vector<int64_t>{2, 6});
    CHECK(fs::exists(temp.dir() / kCheckpointFolder / "7" / "weights"));
    PruneCheckpoints(temp.dir() / "absent", 1, 1, {});
  }

  TEST_CASE("several of the best and of the last stay") {
    const TempSweep temp;
    for (const char* step : {"10", "20", "30", "40", "50"})
      Make(temp.dir(), step, true);
    using Steps = std::vector<int64_t>;
    // Steps that were reported and have no checkpoint do not count.
    CHECK(KeptCheckpoints(temp.dir(), {35, 30, 7, 10, 20}, 2, 1) == Steps{30, 10, 50});
    CHECK(KeptCheckpoints(temp.dir(), {30}, 0, 2) == Steps{40, 50});
    CHECK(KeptCheckpoints(temp.dir(), {30}, 9, 9) == Steps{30, 10, 20, 30, 40, 50});
    CHECK(KeptCheckpoints(temp.dir() / "absent", {30}, 1, 1).empty());
    PruneCheckpoints(temp.dir(), -1, 50, {30, 10, 50});
    CHECK(CompleteCheckpoints(temp.dir()) == Steps{10, 30, 50});
  }
}

TEST_SUITE("logs") {
  int64_t Allocated(const fs::path& file) {
    struct stat info {};
    REQUIRE(stat(file.c_str(), &info) == 0);
    return info.st_blocks * 512;
  }

  TEST_CASE("the middle of a big log goes, offsets stay") {
    const TempSweep temp;
    const fs::path log = temp.dir() / "stdout.log";
    CHECK_FALSE(PunchLog(log, 1 << 20));
    std::string text;
    for (int i = 0; text.size() < 4 << 20; ++i) text += fmt::format("line {:09}\n", i);
    std::ofstream(log) << text.substr(0, 1 << 19);
    CHECK_FALSE(PunchLog(log, 1 << 20));
    std::ofstream(log) << text;
    REQUIRE(PunchLog(log, 1 << 20));
    CHECK(Allocated(log) <= (1 << 19) + 16384);
    const std::string now = *ReadFile(log);
    REQUIRE(now.size() == text.size());
    const size_t quarter = 1 << 18;
    CHECK((now.substr(0, quarter) == text.substr(0, quarter)));
    CHECK((now.substr(now.size() - quarter) == text.substr(text.size() - quarter)));
    CHECK(now[now.size() / 2] == '\0');
    CHECK_FALSE(PunchLog(log, 1 << 20));
    std::ofstream(log, std::ios::app) << text;
    CHECK(PunchLog(log, 1 << 20));
    CHECK(fs::file_size(log) == 2 * text.size());
    CHECK(Allocated(log) <= (1 << 19) + 16384);
  }
}

}  // namespace
}  // namespace hyperopt
