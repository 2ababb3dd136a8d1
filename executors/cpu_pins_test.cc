#include "executors/cpu_pins.h"

#include <doctest/doctest.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace hyperopt {
namespace {

namespace fs = std::filesystem;
using Lists = std::vector<std::vector<int>>;

RunKey KeyOf(int trial) { return {TrialId(trial), RunId(0), Attempt(1)}; }

class LeaseFolder {
 public:
  LeaseFolder() {
    std::string name = fs::temp_directory_path() / "ho pins.XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~LeaseFolder() { fs::remove_all(path_); }
  LeaseFolder(const LeaseFolder&) = delete;
  LeaseFolder& operator=(const LeaseFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

TEST_SUITE_BEGIN("cpu pins");

TEST_CASE("whole CPUs, each to one trial, given back at its end") {
  const LeaseFolder root;
  CpuPins pins({0, 4, 1, 5}, root.path(), "/sweep");
  CHECK(pins.Take(KeyOf(0), 1, Share::Whole(2)) == Lists{{0, 4}});
  CHECK(pins.Take(KeyOf(1), 2, Share::Whole(1)) == Lists{{1}, {5}});
  CHECK(pins.Take(KeyOf(2), 1, Share::Whole(1)) == Lists{{}});
  CHECK_FALSE(pins.Holds(KeyOf(2)));
  pins.GiveBack(KeyOf(0));
  CHECK(pins.Take(KeyOf(2), 1, Share::Whole(1)) == Lists{{0}});
}

TEST_CASE("who stands by has the CPUs of the run before it, and keeps them") {
  const LeaseFolder root;
  CpuPins pins({0, 1, 2}, root.path(), "/sweep");
  CpuPins others({0, 1, 2}, root.path(), "/other");
  CHECK(pins.Take(KeyOf(0), 2, Share::Whole(1)) == Lists{{0}, {1}});
  CHECK(pins.TakeOver(KeyOf(1), KeyOf(0), 2) == Lists{{0}, {1}});
  pins.GiveBack(KeyOf(0));
  CHECK(others.Take(KeyOf(7), 1, Share::Whole(2)) == Lists{{}});
  CHECK(pins.Take(KeyOf(2), 1, Share::Whole(1)) == Lists{{2}});
  pins.GiveBack(KeyOf(1));
  CHECK(others.Take(KeyOf(7), 1, Share::Whole(2)) == Lists{{0, 1}});
  // Behind one that is not pinned nobody is.
  CHECK(pins.TakeOver(KeyOf(3), KeyOf(9), 2) == Lists{{}, {}});
  CHECK_FALSE(pins.Holds(KeyOf(3)));
}

TEST_CASE("a share of a CPU, and more than there are, are not pinned") {
  const LeaseFolder root;
  CpuPins pins({0, 1}, root.path(), "/sweep");
  CHECK(pins.Take(KeyOf(0), 1, Share::Of(0.5)) == Lists{{}});
  CHECK(pins.Take(KeyOf(0), 1, Share::Of(1.5)) == Lists{{}});
  CHECK(pins.Take(KeyOf(0), 3, Share::Whole(1)) == Lists{{}, {}, {}});
  CHECK(pins.Take(KeyOf(0), 1, Share::Whole(2)) == Lists{{0, 1}});
}

TEST_CASE("sweeps of one machine do not give away the same CPU") {
  const LeaseFolder root;
  CpuPins ours({0, 1, 2}, root.path(), "/ours");
  {
    CpuPins theirs({0, 1, 2}, root.path(), "/theirs");
    CHECK(theirs.Take(KeyOf(0), 1, Share::Whole(1)) == Lists{{0}});
    CHECK(ours.Take(KeyOf(0), 1, Share::Whole(2)) == Lists{{1, 2}});
    CHECK(theirs.Take(KeyOf(1), 1, Share::Whole(1)) == Lists{{}});
  }
  CHECK(ours.Take(KeyOf(1), 1, Share::Whole(1)) == Lists{{0}});
}

TEST_CASE("CPUs of a run that was started before are not given away again") {
  const LeaseFolder root;
  CpuPins pins({0, 1, 2}, root.path(), "/sweep");
  pins.Adopt(KeyOf(0), {1});
  pins.Adopt(KeyOf(1), {0, 1, 2});  // not pinned
  CHECK(pins.Take(KeyOf(2), 1, Share::Whole(2)) == Lists{{0, 2}});
  pins.GiveBack(KeyOf(0));
  CHECK(pins.Take(KeyOf(3), 1, Share::Whole(1)) == Lists{{1}});
}

TEST_CASE("this process's CPUs, each once") {
  std::vector<int> cpus = CpusToPin();
  std::sort(cpus.begin(), cpus.end());
  CHECK(cpus == AffinityOf(0));
  CHECK(cpus == AffinityOf(getpid()));
  CHECK_FALSE(cpus.empty());
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt
