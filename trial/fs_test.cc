#include "trial/fs.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "trial/errors.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

// A new folder, with a space in its name, removed at the end.
class TestFolder {
 public:
  TestFolder() : path_(fs::temp_directory_path() / ("fs test " + RandomHex(8))) {
    fs::create_directory(path_);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() { fs::remove_all(path_); }

  fs::path operator/(const char* name) const { return path_ / name; }
  const fs::path& path() const { return path_; }
  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(path_)) {
      names.insert(entry.path().filename());
    }
    return names;
  }

 private:
  fs::path path_;
};

TEST_CASE(
    "fs: a file is written whole, in both durabilities, and nothing else is left") {
  const TestFolder folder;
  for (Durability durability : {Durability::kProcess, Durability::kMachine}) {
    for (const std::string& text :
         {std::string("one"), std::string(), std::string("a\0b\n", 4)}) {
      WriteFileAtomically(folder / "a file", text, durability);
      CHECK(ReadFile(folder / "a file") == text);
    }
  }
  CHECK(folder.Names() == std::set<std::string>{"a file"});
}

TEST_CASE("fs: a big file comes back") {
  const TestFolder folder;
  std::string text;
  for (int i = 0; i < 300000; ++i) text += std::to_string(i);
  WriteFileAtomically(folder / "big", text, Durability::kProcess);
  CHECK(ReadFile(folder / "big") == text);
}

TEST_CASE("fs: the mode is the one asked for") {
  const TestFolder folder;
  WriteFileAtomically(folder / "key", "secret", Durability::kMachine, 0600);
  struct stat info {};
  REQUIRE(stat((folder / "key").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
}

TEST_CASE("fs: a reader sees the old text or the new, never a part") {
  const TestFolder folder;
  const fs::path path = folder / "state.json";
  const std::string texts[] = {std::string(100000, 'a'), std::string(50000, 'b')};
  WriteFileAtomically(path, texts[0], Durability::kProcess);
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int i = 0; i < 200; ++i) {
      WriteFileAtomically(path, texts[i % 2], Durability::kProcess);
    }
    done = true;
  });
  bool whole = true;
  while (!done) {
    const auto text = ReadFile(path);
    whole = whole && (text == texts[0] || text == texts[1]);
  }
  writer.join();
  CHECK(whole);
}

TEST_CASE("fs: a failed write names the path and leaves things as they were") {
  const TestFolder folder;
  fs::create_directories(folder / "taken/inside");
  CHECK_THROWS_AS(WriteFileAtomically(folder / "taken", "x", Durability::kProcess),
                  EnvironmentError);
  CHECK(folder.Names() == std::set<std::string>{"taken"});
  const fs::path missing = folder / "no folder/file";
  CHECK_THROWS_WITH_AS(
      WriteFileAtomically(missing, "x", Durability::kProcess),
      (missing.string() + ": can not be created: No such file or directory").c_str(),
      EnvironmentError);
}

TEST_CASE("fs: an absent file is no error, a folder in its place is one") {
  const TestFolder folder;
  CHECK_FALSE(ReadFile(folder / "none").has_value());
  CHECK_FALSE(ReadFile(folder / "none/at all").has_value());
  WriteFileAtomically(folder / "file", "x", Durability::kProcess);
  CHECK_FALSE(ReadFile(folder / "file/below").has_value());
  CHECK_THROWS_AS(ReadFile(folder.path()), EnvironmentError);
}

TEST_CASE("fs: a lock has one holder, and is free when that is gone") {
  const TestFolder folder;
  const fs::path path = folder / "lock";
  CHECK_FALSE(FileLock::IsHeld(path));
  {
    auto lock = FileLock::TryAcquire(path);
    REQUIRE(lock.has_value());
    CHECK(FileLock::IsHeld(path));
    CHECK_FALSE(FileLock::TryAcquire(path).has_value());
    lock->WriteText("a longer text of the first");
    lock->WriteText("pid 12");
    CHECK(lock->ReadText() == "pid 12");
    CHECK(ReadFile(path) == "pid 12");
    FileLock moved = std::move(*lock);
    lock.reset();
    CHECK(FileLock::IsHeld(path));
    CHECK(moved.path() == path);
  }
  CHECK_FALSE(FileLock::IsHeld(path));
  const auto again = FileLock::TryAcquire(path);
  REQUIRE(again.has_value());
  CHECK(again->ReadText() == "pid 12");  // until the new holder writes
}

TEST_CASE("fs: a lock goes with its process, and an exec'd child does not have it") {
  const TestFolder folder;
  const fs::path path = folder / "lock";
  int ready[2];
  int go[2];
  REQUIRE(pipe(ready) == 0);
  REQUIRE(pipe(go) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const auto lock = FileLock::TryAcquire(path);
    const char word = lock && (fcntl(lock->fd(), F_GETFD) & FD_CLOEXEC) ? 'y' : 'n';
    char wait = 0;
    const bool told = write(ready[1], &word, 1) == 1 && read(go[0], &wait, 1) == 1;
    _exit(told ? 0 : 1);  // without the destructor, as SIGKILL would
  }
  char word = 0;
  REQUIRE(read(ready[0], &word, 1) == 1);
  CHECK(word == 'y');
  CHECK(FileLock::IsHeld(path));
  CHECK_FALSE(FileLock::TryAcquire(path).has_value());
  REQUIRE(write(go[1], "g", 1) == 1);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK_FALSE(FileLock::IsHeld(path));
  CHECK(FileLock::TryAcquire(path).has_value());
  for (int fd : {ready[0], ready[1], go[0], go[1]}) close(fd);
}

TEST_CASE("fs: of many that want a lock exactly one gets it, while others look") {
  const TestFolder folder;
  const fs::path path = folder / "lock";
  std::atomic<int> holders = 0;
  std::atomic<int> tried = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const auto lock = FileLock::TryAcquire(path);
      holders += lock ? 1 : 0;
      ++tried;
      while (tried < 8) std::this_thread::yield();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(holders == 1);
}

TEST_CASE("fs: a lock in a folder that is not there is an error") {
  const TestFolder folder;
  CHECK_THROWS_AS(FileLock::TryAcquire(folder / "none/lock"), EnvironmentError);
}

TEST_CASE("fs: UniqueFd closes what it holds, once") {
  const auto open_file = [] {
    return UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC));
  };
  int number = 0;
  {
    UniqueFd a = open_file();
    REQUIRE(a);
    number = a.get();
    UniqueFd b = std::move(a);
    CHECK(b.get() == number);
    CHECK(fcntl(number, F_GETFD) >= 0);
    b = open_file();
    CHECK(fcntl(number, F_GETFD) < 0);
    number = b.get();
  }
  CHECK(fcntl(number, F_GETFD) < 0);
  UniqueFd c = open_file();
  const int released = c.Release();
  c.Reset();
  CHECK(fcntl(released, F_GETFD) >= 0);
  close(released);
}

TEST_CASE("fs: local file systems are told, for paths that are not there yet too") {
  CHECK_FALSE(IsNetworkFileSystem("/proc"));
  CHECK_FALSE(IsNetworkFileSystem("/proc/none/at/all"));
}

TEST_CASE("fs: random hex has the length asked for and does not repeat") {
  CHECK(RandomHex(0).empty());
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string text = RandomHex(8);
    CHECK(text.size() == 16);
    CHECK(text.find_first_not_of("0123456789abcdef") == std::string::npos);
    seen.insert(text);
  }
  CHECK(seen.size() == 100);
}

TEST_CASE("fs: folders are synced, a missing one is an error") {
  const TestFolder folder;
  SyncFolder(folder.path());
  CHECK_THROWS_AS(SyncFolder(folder / "none"), EnvironmentError);
}

}  // namespace
}  // namespace hyperopt
