// Starts the real hyperopt-train for tests.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace hyperopt {

// A fresh folder, removed with the object. Its name holds a space on purpose.
class TestFolder {
 public:
  TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder();

  const std::filesystem::path& path() const { return path_; }
  // The path of a file in it, written with `text`.
  std::filesystem::path Write(const std::string& name, const std::string& text) const;
  std::string Read(const std::string& name) const;
  std::vector<std::string> Lines(const std::string& name) const;

 private:
  std::filesystem::path path_;
};

// One process of hyperopt-train; killed where it still runs in the destructor.
class RankProcess {
 public:
  // `env` is all of its environment beside PATH. Output goes to the file `log`.
  RankProcess(const std::vector<std::string>& arguments,
              const std::map<std::string, std::string>& env,
              const std::filesystem::path& log);
  RankProcess(RankProcess&& other) noexcept;
  RankProcess& operator=(RankProcess&&) = delete;
  ~RankProcess();

  void Signal(int signal) const;
  // The exit code; 128 + signal where it was killed.
  int Wait();

 private:
  int pid_ = -1;
};

// A port of loopback that nobody listens at.
int FreePort();

}  // namespace hyperopt
