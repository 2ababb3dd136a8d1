#include "executors/device_lease.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "trial/errors.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

class TempFolder {
 public:
  TempFolder() {
    std::string name = fs::temp_directory_path() / "ho lease.XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~TempFolder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

const Share kHalf = Share::Of(0.5);
const Share kWhole = Share::Whole(1);

TEST_SUITE("device lease") {
  TEST_CASE("shares add up to one device, and what is let go can be had") {
    const TempFolder root;
    auto a = TryLease(root.path(), "GPU-1", kHalf, "/sweep a");
    auto b = TryLease(root.path(), "GPU-1", kHalf, "/sweep b");
    CHECK(a);
    CHECK(b);
    CHECK_FALSE(TryLease(root.path(), "GPU-1", Share::Micro(1), "/sweep c"));
    CHECK(TryLease(root.path(), "GPU-2", kWhole, "/sweep c"));
    const std::string holders = Holders(root.path(), "GPU-1");
    CHECK(holders.find("0.5 by /sweep a") != std::string::npos);
    CHECK(holders.find("0.5 by /sweep b") != std::string::npos);
    a.reset();
    CHECK(Holders(root.path(), "GPU-1") == "0.5 by /sweep b");
    CHECK_FALSE(TryLease(root.path(), "GPU-1", kWhole, "/sweep c"));
    CHECK(TryLease(root.path(), "GPU-1", kHalf, "/sweep c"));
    b.reset();
    CHECK(TryLease(root.path(), "GPU-1", kWhole, "/sweep c"));
    CHECK(Holders(root.path(), "GPU-1").empty());
    CHECK(Holders(root.path(), "GPU-3").empty());
  }

  TEST_CASE("ten tenths fit, an eleventh does not") {
    const TempFolder root;
    std::vector<DeviceLease> leases;
    while (auto lease = TryLease(root.path(), "GPU-1", Share::Of(0.1), "x")) {
      leases.push_back(*std::move(lease));
    }
    CHECK(leases.size() == 10);
  }

  TEST_CASE("a holder killed with -9 frees its share; a copy of the lock keeps it") {
    const TempFolder root;
    int ready[2];
    REQUIRE(pipe2(ready, O_CLOEXEC) == 0);
    const pid_t child = fork();
    if (child == 0) {
      const auto lease = TryLease(root.path(), "GPU-1", kWhole, "child");
      const char done = lease ? 'y' : 'n';
      if (write(ready[1], &done, 1) != 1) _exit(1);
      for (;;) pause();
    }
    char done = 0;
    REQUIRE(read(ready[0], &done, 1) == 1);
    CHECK(done == 'y');
    CHECK_FALSE(TryLease(root.path(), "GPU-1", kHalf, "us"));
    CHECK(Holders(root.path(), "GPU-1") == "1 by child");
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(ready[0]);
    close(ready[1]);
    auto lease = TryLease(root.path(), "GPU-1", kWhole, "us");
    REQUIRE(lease);
    // Another process, the keeper, has it too.
    auto joined = JoinLease(lease->path());
    REQUIRE(joined);
    const fs::path path = lease->path();
    lease.reset();
    CHECK_FALSE(TryLease(root.path(), "GPU-1", kHalf, "us"));
    CHECK(Holders(root.path(), "GPU-1") == "1 by us");
    joined.reset();
    CHECK(TryLease(root.path(), "GPU-1", kHalf, "us"));
    CHECK_FALSE(JoinLease(path));
  }

  TEST_CASE("many at once never take more than there is") {
    const TempFolder root;
    std::vector<std::optional<DeviceLease>> leases(16);
    {
      std::vector<std::jthread> threads;
      for (auto& lease : leases) {
        threads.emplace_back([&root, &lease] {
          for (int i = 0; i < 20 && !lease; ++i) {
            lease = TryLease(root.path(), "GPU-1", Share::Of(0.25), "t");
          }
        });
      }
    }
    const auto held =
        std::count_if(leases.begin(), leases.end(), [](const auto& lease) {
          return lease.has_value();
        });
    CHECK(held == 4);
  }

  TEST_CASE("a device's name stays within the folder, dead files are cleared away") {
    const TempFolder root;
    CHECK(TryLease(root.path(), "../outside", kWhole, "x"));
    CHECK_FALSE(fs::exists(root.path().parent_path() / "outside"));
    for (int i = 0; i < 10; ++i) CHECK(TryLease(root.path(), "GPU-1", kWhole, "x"));
    CHECK(std::distance(fs::directory_iterator(root.path() / "GPU-1"), {}) <= 2);
    CHECK_THROWS_AS(TryLease(root.path() / "absent", "GPU-1", kWhole, "x"),
                    EnvironmentError);
  }

  TEST_CASE("the usual folder is private") {
    const fs::path root = LeaseRoot();
    struct stat info {};
    REQUIRE(stat(root.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0700);
    CHECK(info.st_uid == geteuid());
  }
}

}  // namespace
}  // namespace hyperopt
