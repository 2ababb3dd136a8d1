#include "executors/device_watch.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "executors/nvml.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kGiB = int64_t{1} << 30;
const RunKey kRun{TrialId(5), RunId(0), Attempt(1)};
const RunKey kOther{TrialId(6), RunId(0), Attempt(1)};

// A driver that says what the test writes.
class FakeDriver {
 public:
  FakeDriver() {
    std::string name = fs::temp_directory_path() / "ho nvml.XXXXXX";
    folder_ = mkdtemp(name.data());
    setenv("FAKE_NVML", (folder_ / "says").c_str(), 1);
  }
  ~FakeDriver() {
    unsetenv("FAKE_NVML");
    fs::remove_all(folder_);
  }
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;

  void Says(const std::string& text) const { std::ofstream(folder_ / "says") << text; }
  static std::unique_ptr<Nvml> Open() {
    std::string why;
    std::unique_ptr<Nvml> nvml = Nvml::Open(HYPEROPT_FAKE_NVML, &why);
    INFO(why);
    REQUIRE(nvml != nullptr);
    return nvml;
  }

 private:
  fs::path folder_;
};

std::string DeviceLine(const char* uuid, int64_t total_gib, int64_t free_gib) {
  return std::string("device ") + uuid + " " + std::to_string(total_gib * kGiB) + " " +
         std::to_string(free_gib * kGiB) + "\n";
}
std::string ProcessLine(int64_t pid, int64_t gib) {
  return "process " + std::to_string(pid) + " " +
         std::to_string(gib < 0 ? -1 : gib * kGiB) + "\n";
}

TEST_SUITE_BEGIN("device watch");

TEST_CASE("a library that is not there, and one without a driver, say why") {
  std::string why;
  CHECK(Nvml::Open("/no such library.so.1", &why) == nullptr);
  CHECK(why.find("/no such library.so.1") != why.npos);
  unsetenv("FAKE_NVML");
  CHECK(Nvml::Open(HYPEROPT_FAKE_NVML, &why) == nullptr);
  CHECK(why.find("Driver Not Loaded") != why.npos);
  CHECK(Nvml::Open("libc.so.6", &why) == nullptr);
  CHECK(why.find("lacks a function") != why.npos);
}

TEST_CASE("what the library says comes through") {
  const FakeDriver driver;
  std::string many;
  for (int i = 0; i < 300; ++i) many += ProcessLine(1000 + i, 1);
  driver.Says(DeviceLine("GPU-a", 80, 70) + ProcessLine(12, 10) +
              DeviceLine("GPU-b", 16, 1) + ProcessLine(7, -1) +
              DeviceLine("GPU-c", 400, 100) + many);
  const auto nvml = FakeDriver::Open();
  CHECK(nvml->Uuids() == std::vector<std::string>{"GPU-a", "GPU-b", "GPU-c"});
  const auto load = nvml->Load("GPU-a");
  REQUIRE(load);
  CHECK(load->total == 80 * kGiB);
  CHECK(load->free == 70 * kGiB);
  CHECK(load->processes == std::vector<DeviceProcess>{{12, 10 * kGiB}});
  CHECK(nvml->Load("GPU-b")->processes == std::vector<DeviceProcess>{{7, -1}});
  CHECK(nvml->Load("GPU-c")->processes.size() == 300);
  CHECK_FALSE(nvml->Load("GPU-x"));
}

TEST_CASE("others' processes are named with their users") {
  const FakeDriver driver;
  driver.Says(DeviceLine("GPU-a", 80, 10) + ProcessLine(getpid(), 60) +
              ProcessLine(999999999, 10));
  const auto nvml = FakeDriver::Open();
  DeviceWatch watch(*nvml, {{"0", "GPU-a"}}, [](int64_t) { return std::nullopt; });
  watch.Look();
  CHECK(watch.FreeOf("0") == 10 * kGiB);
  const std::string words = watch.Words("0");
  CHECK(words.starts_with("10 GiB of 80 GiB free; held by "));
  CHECK(words.find(ProcessWords(getpid()) + ": 60 GiB") != words.npos);
  CHECK(words.find("pid 999999999: 10 GiB") != words.npos);
  CHECK(ProcessWords(getpid()).find("(pid " + std::to_string(getpid())) !=
        std::string::npos);
  CHECK(watch.FreeOf("1") == -1);
  CHECK(watch.News({{"0"}, {"1"}})[1] == DeviceNews{-1, ""});
}

TEST_CASE("what own trials were promised and have not taken is not free") {
  const FakeDriver driver;
  const std::string empty = DeviceLine("GPU-a", 80, 80);
  driver.Says(empty);
  const auto nvml = FakeDriver::Open();
  std::map<int64_t, std::string> tokens = {{50, "sweep-5-0-1-0"}};
  DeviceWatch watch(*nvml, {{"0", "GPU-a"}}, [&](int64_t pid) {
    const auto at = tokens.find(pid);
    return at == tokens.end() ? std::nullopt : std::optional(at->second);
  });
  watch.Begin(kRun, "sweep-5-0-1", {"0", "pretend"}, 10 * kGiB);
  watch.Look();
  CHECK(watch.FreeOf("0") == 70 * kGiB);
  // Half of it taken, then more than it was promised.
  driver.Says(DeviceLine("GPU-a", 80, 76) + ProcessLine(50, 4));
  watch.Look();
  CHECK(watch.FreeOf("0") == 70 * kGiB);
  driver.Says(DeviceLine("GPU-a", 80, 65) + ProcessLine(50, 15));
  watch.Look();
  CHECK(watch.FreeOf("0") == 65 * kGiB);
  CHECK(watch.Words("0") == "65 GiB of 80 GiB free; held by 1 trial of this sweep");
  // One whose memory the driver does not tell.
  driver.Says(DeviceLine("GPU-a", 80, 65) + ProcessLine(50, -1));
  watch.Look();
  CHECK(watch.FreeOf("0") == 65 * kGiB);
  watch.Begin(kOther, "sweep-6-0-1", {"0"}, 10 * kGiB);
  CHECK(watch.FreeOf("0") == 55 * kGiB);
  watch.End(kOther);
  CHECK(watch.FreeOf("0") == 65 * kGiB);
}

TEST_CASE("a run holds its device until its processes have left the list") {
  const FakeDriver driver;
  driver.Says(DeviceLine("GPU-a", 80, 80));
  const auto nvml = FakeDriver::Open();
  std::map<int64_t, std::string> tokens = {{51, "sweep-5-0-1-0"}};
  DeviceWatch watch(*nvml, {{"0", "GPU-a"}}, [&](int64_t pid) {
    const auto at = tokens.find(pid);
    return at == tokens.end() ? std::nullopt : std::optional(at->second);
  });
  watch.Begin(kRun, "sweep-5-0-1", {"0"}, 0);
  watch.NoteLeaders(kRun, {50});
  watch.Look();
  CHECK_FALSE(watch.Holds(kRun));
  driver.Says(DeviceLine("GPU-a", 80, 70) + ProcessLine(51, 10) + ProcessLine(99, 1));
  watch.Look();
  CHECK(watch.Holds(kRun));
  // It has ended: its token can not be read any more, the driver still lists it.
  tokens.clear();
  watch.Look();
  CHECK(watch.Holds(kRun));
  driver.Says(DeviceLine("GPU-a", 80, 70) + ProcessLine(50, 10) + ProcessLine(99, 1));
  watch.Look();
  CHECK(watch.Holds(kRun));
  driver.Says(DeviceLine("GPU-a", 80, 79) + ProcessLine(99, 1));
  watch.Look();
  CHECK_FALSE(watch.Holds(kRun));
}

TEST_CASE("a run without a watched device is not watched") {
  const FakeDriver driver;
  driver.Says("");
  const auto nvml = FakeDriver::Open();
  DeviceWatch watch(*nvml, {}, [](int64_t) { return std::nullopt; });
  watch.Begin(kRun, "sweep-5-0-1", {"0"}, kGiB);
  CHECK_FALSE(watch.watches(kRun));
  CHECK_FALSE(watch.Holds(kRun));
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt
