#include "executors/local_resources.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "executors/internal/cgroup.h"
#include "executors/internal/gpus.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

// A root folder of one's own, with the files named.
class FakeRoot {
 public:
  FakeRoot() {
    std::string name = fs::temp_directory_path() / "ho root.XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~FakeRoot() { fs::remove_all(path_); }
  void Write(const fs::path& file, const std::string& text) const {
    fs::create_directories((path_ / file).parent_path());
    std::ofstream(path_ / file) << text;
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::vector<std::string> Ids(const std::vector<Device>& devices) {
  std::vector<std::string> ids;
  for (const Device& device : devices) ids.push_back(device.id);
  return ids;
}
using Strings = std::vector<std::string>;

TEST_SUITE("cgroup limits") {
  using internal::ReadCgroupLimits;

  TEST_CASE("no files, no limits") {
    const FakeRoot root;
    CHECK_FALSE(ReadCgroupLimits(root.path()).cpus);
    CHECK_FALSE(ReadCgroupLimits(root.path()).memory);
  }

  TEST_CASE("version 2: the tightest on the way up") {
    const FakeRoot root;
    root.Write("proc/self/cgroup", "0::/outer/inner\n");
    root.Write("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
    root.Write("sys/fs/cgroup/outer/inner/memory.max", "8589934592\n");
    root.Write("sys/fs/cgroup/outer/cpu.max", "150000 100000\n");
    root.Write("sys/fs/cgroup/outer/memory.max", "max\n");
    CHECK(ReadCgroupLimits(root.path()).cpus == 1.5);
    CHECK(ReadCgroupLimits(root.path()).memory == 8589934592);
    root.Write("sys/fs/cgroup/outer/memory.max", "1073741824\n");
    CHECK(ReadCgroupLimits(root.path()).memory == 1073741824);
  }

  TEST_CASE("version 2 in a container: the mount is the group") {
    const FakeRoot root;
    root.Write("proc/self/cgroup", "0::/\n");
    root.Write("sys/fs/cgroup/cpu.max", "50000 100000\n");
    root.Write("sys/fs/cgroup/memory.max", "1000000\n");
    CHECK(ReadCgroupLimits(root.path()).cpus == 0.5);
    CHECK(ReadCgroupLimits(root.path()).memory == 1000000);
  }

  TEST_CASE("version 1, with its huge number for none") {
    const FakeRoot root;
    root.Write("proc/self/cgroup",
               "12:cpu,cpuacct:/docker/x\n5:memory:/docker/x\n1:name=systemd:/y\n");
    root.Write("sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "-1\n");
    root.Write("sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_period_us", "100000\n");
    root.Write("sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes",
               "9223372036854771712\n");
    CHECK_FALSE(ReadCgroupLimits(root.path()).cpus);
    CHECK_FALSE(ReadCgroupLimits(root.path()).memory);
    root.Write("sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "400000\n");
    root.Write("sys/fs/cgroup/memory/memory.limit_in_bytes", "2000000000\n");
    CHECK(ReadCgroupLimits(root.path()).cpus == 4);
    CHECK(ReadCgroupLimits(root.path()).memory == 2000000000);
  }

  TEST_CASE("strange files limit nothing") {
    const FakeRoot root;
    root.Write("proc/self/cgroup", "rubbish\n0:x\n0::/\n::\n\n");
    root.Write("sys/fs/cgroup/cpu.max", "");
    root.Write("sys/fs/cgroup/memory.max", "lots");
    CHECK_FALSE(ReadCgroupLimits(root.path()).cpus);
    CHECK_FALSE(ReadCgroupLimits(root.path()).memory);
    root.Write("sys/fs/cgroup/cpu.max", "100 0");
    root.Write("sys/fs/cgroup/memory.max", "-5");
    CHECK_FALSE(ReadCgroupLimits(root.path()).cpus);
    CHECK_FALSE(ReadCgroupLimits(root.path()).memory);
  }
}

TEST_SUITE("gpus") {
  TEST_CASE("the entries of a mask as they are") {
    using internal::DevicesOfMask;
    CHECK(Ids(DevicesOfMask("4,5")) == Strings{"4", "5"});
    CHECK(Ids(DevicesOfMask(" 0 , GPU-ab , MIG-c/1/0 ")) ==
          Strings{"0", "GPU-ab", "MIG-c/1/0"});
    CHECK(DevicesOfMask("").empty());
    CHECK(DevicesOfMask("NoDevFiles").empty());
    CHECK(DevicesOfMask("-1").empty());
    CHECK(Ids(DevicesOfMask("2,-1,3")) == Strings{"2"});
    CHECK(Ids(DevicesOfMask("2,2,3")) == Strings{"2", "3"});
  }

  TEST_CASE("so many, or these, of what is visible") {
    using internal::ChooseDevices;
    const std::vector<Device> visible = {{"4"}, {"GPU-b"}, {"7"}};
    CHECK(Ids(ChooseDevices("2", visible)) == Strings{"4", "GPU-b"});
    CHECK(ChooseDevices("0", visible).empty());
    CHECK(Ids(ChooseDevices("0,2", visible)) == Strings{"4", "7"});
    CHECK(Ids(ChooseDevices("GPU-b", visible)) == Strings{"GPU-b"});
    CHECK(Ids(ChooseDevices("2,GPU-b", visible)) == Strings{"7", "GPU-b"});
    for (const char* flag : {"4", "0,3", "GPU-x", "", "0,", "0,0", "-1", "two"}) {
      CHECK_THROWS_AS(ChooseDevices(flag, visible), ConfigError);
    }
    CHECK(Ids(ChooseDevices("4", {})) == Strings{"0", "1", "2", "3"});
    CHECK(Ids(ChooseDevices("0,2", {})) == Strings{"0", "2"});
    CHECK_THROWS_AS(ChooseDevices("GPU-x", {}), ConfigError);
    CHECK_THROWS_AS(ChooseDevices("1000000000", {}), ConfigError);
  }

  TEST_CASE("what the driver lists, in PCI order, if its device file is there") {
    const FakeRoot root;
    CHECK(internal::InstalledGpus(root.path()).empty());
    const std::string gpus = "proc/driver/nvidia/gpus/";
    root.Write(gpus + "0000:41:00.0/information",
               "Model: \t\t H200\nGPU UUID: \t GPU-b\nDevice Minor: \t 1\n");
    root.Write(gpus + "0000:01:00.0/information",
               "Model: \t\t H200\nGPU UUID: \t GPU-a\nDevice Minor: \t 0\n");
    root.Write(gpus + "0000:81:00.0/information",
               "Model: \t\t H200\nGPU UUID: \t GPU-????\nDevice Minor: \t 2\n");
    root.Write("dev/nvidia1", "");
    root.Write("dev/nvidia2", "");
    const auto found = internal::InstalledGpus(root.path());
    REQUIRE(found.size() == 2);
    CHECK(found[0].uuid == "GPU-b");
    CHECK(found[1].uuid.empty());
  }
}

TEST_SUITE("local resources") {
  TEST_CASE("this machine has something to give") {
    const Resources here = LocalResources({});
    CHECK(here.cpus > Share());
    CHECK(here.memory > 1 << 20);
    CHECK(here.labels.empty());
    CHECK_FALSE(HostName().empty());
  }

  TEST_CASE("flags have their way") {
    ResourceFlags flags;
    flags.cpus = 2.5;
    flags.memory = 1 << 30;
    flags.labels = {"zone=a", "empty=", "x=y=z"};
    const Resources here = LocalResources(flags);
    CHECK(here.cpus == Share::Of(2.5));
    CHECK(here.memory == 1 << 30);
    CHECK(here.labels == std::map<std::string, std::string>{
                             {"zone", "a"}, {"empty", ""}, {"x", "y=z"}});
  }

  TEST_CASE("flags that can not be are refused") {
    for (const double cpus : {0.0, -1.0, 1e300, static_cast<double>(NAN)}) {
      ResourceFlags flags;
      flags.cpus = cpus;
      CHECK_THROWS_AS(LocalResources(flags), ConfigError);
    }
    ResourceFlags memory;
    memory.memory = 0;
    CHECK_THROWS_AS(LocalResources(memory), ConfigError);
    for (const char* label : {"zone", "=a", ""}) {
      ResourceFlags flags;
      flags.labels = {label};
      CHECK_THROWS_AS(LocalResources(flags), ConfigError);
    }
  }

  TEST_CASE("a pretend device has no UUID, a MIG name is its own") {
    CHECK_FALSE(DeviceUuid("1000"));
    CHECK_FALSE(DeviceUuid("no such"));
    CHECK(DeviceUuid("MIG-1") == "MIG-1");
  }
}

}  // namespace
}  // namespace hyperopt
