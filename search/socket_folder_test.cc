#include "search/socket_folder.h"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <future>
#include <vector>

#include "trial/testing/store_folder.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

class Folders {
 public:
  fs::path Make(int number, std::vector<const char*> files, bool old = true) const {
    const fs::path folder = At(number);
    fs::create_directory(folder);
    for (const char* name : files)
      WriteFileAtomically(folder / name, "1\n", Durability::kProcess);
    if (old) Age(folder);
    return folder;
  }
  void Age(const fs::path& folder) const {
    fs::last_write_time(folder,
                        fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
  fs::path At(int number) const {
    std::string name = std::to_string(number);
    return dir_.path() / (std::string(16 - name.size(), '0') + name);
  }

 private:
  StoreFolder dir_;
};

// Listens until it is destroyed; its file stays, as a dead process leaves it.
UniqueFd Listen(const fs::path& path) {
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  REQUIRE(path.string().size() < sizeof address.sun_path);
  std::strcpy(address.sun_path, path.c_str());
  REQUIRE(bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(listen(fd.get(), 1) == 0);
  return fd;
}

TEST_SUITE_BEGIN("socket folder");

TEST_CASE("what dead sweeps left is removed, what anybody uses is not") {
  const Folders folders;
  const fs::path own = folders.Make(1, {});
  const fs::path dead =
      folders.Make(2, {"keeper.lock", "controller.lock", "executor.id"});
  const fs::path older = folders.Make(3, {"keeper.lock", "executor.id"});
  const fs::path empty = folders.Make(4, {});
  const fs::path killed = folders.Make(5, {"keeper.lock"});
  Listen(killed / "executors.sock");
  folders.Age(killed);

  const fs::path controlled = folders.Make(10, {"controller.lock"});
  const auto controller = FileLock::TryAcquire(controlled / "controller.lock");
  const fs::path kept = folders.Make(11, {"keeper.lock", "controller.lock"});
  const auto keeper = FileLock::TryAcquire(kept / "keeper.lock");
  const fs::path by_hand = folders.Make(12, {"executor.lock", "keeper.lock"});
  const fs::path fresh = folders.Make(13, {"keeper.lock"}, false);
  const fs::path served = folders.Make(14, {});
  const UniqueFd listener = Listen(served / "requests.sock");
  folders.Age(served);
  fs::create_directory(own.parent_path() / "not ours");
  folders.Age(own.parent_path() / "not ours");

  RemoveDeadFolders(own, 100);
  for (const fs::path& gone : {dead, older, empty, killed}) {
    CAPTURE(gone);
    CHECK_FALSE(fs::exists(gone));
  }
  for (const fs::path& there : {own, controlled, kept, by_hand, fresh, served}) {
    CAPTURE(there);
    CHECK(fs::exists(there));
  }
  CHECK(fs::exists(own.parent_path() / "not ours"));
}

TEST_CASE("each start looks at a few, from its own place on") {
  const Folders folders;
  for (int i = 0; i < 10; ++i) folders.Make(i, {});
  const fs::path own = folders.Make(7, {}, false);
  RemoveDeadFolders(own, 4);
  for (const int gone : {8, 9, 0, 1}) CHECK_FALSE(fs::exists(folders.At(gone)));
  for (const int there : {2, 3, 4, 5, 6, 7}) CHECK(fs::exists(folders.At(there)));
}

TEST_CASE("at its end a sweep removes its own; beginning again makes it anew") {
  const std::string what = "socket folder test " + RandomHex(8);
  SocketFolder folder = SocketFolder::Take(what);
  const fs::path path = folder.path();
  CHECK(FileLock::IsHeld(path / "controller.lock"));
  SUBCASE("with nobody left in it") {
    folder.Remove();
    CHECK_FALSE(fs::exists(path));
    folder.Remove();
  }
  SUBCASE("not under a keeper that stays") {
    auto keeper = FileLock::TryAcquire(path / "keeper.lock");
    folder.Remove();
    CHECK(fs::exists(path));
    keeper.reset();
    folder.Remove();
    CHECK_FALSE(fs::exists(path));
  }
  SocketFolder again = SocketFolder::Take(what);
  CHECK(again.path() == path);
  CHECK(FileLock::IsHeld(path / "controller.lock"));
  again.Remove();
}

// One ends, or is long dead, while others begin in the same place.
TEST_CASE("who begins is never without its folder") {
  const Folders folders;
  const auto begin_and_end = [&](int number) {
    for (int i = 0; i < 50; ++i) {
      SocketFolder folder = SocketFolder::TakeAt(folders.At(number));
      folders.Age(folder.path());
      if (!FileLock::IsHeld(folder.path() / "controller.lock")) return false;
      if (i % 3 > 0) folder.Remove();  // else it is killed
    }
    return true;
  };
  std::vector<std::future<bool>> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back(std::async(std::launch::async, begin_and_end, i));
  }
  for (std::future<bool>& each : all) CHECK(each.get());
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt
