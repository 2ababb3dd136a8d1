#include "trainer/testing/rank_process.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "trial/fs.h"

namespace hyperopt {
namespace {

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

TestFolder::TestFolder() {
  std::string name = std::filesystem::temp_directory_path() / "trainer test XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp " + name);
  path_ = name;
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path TestFolder::Write(const std::string& name,
                                        const std::string& text) const {
  std::ofstream(path_ / name, std::ios::binary) << text;
  return path_ / name;
}

std::string TestFolder::Read(const std::string& name) const {
  return ReadFile(path_ / name).value_or("");
}

std::vector<std::string> TestFolder::Lines(const std::string& name) const {
  std::istringstream stream(Read(name));
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

RankProcess::RankProcess(const std::vector<std::string>& arguments,
                         const std::map<std::string, std::string>& env,
                         const std::filesystem::path& log) {
  std::vector<std::string> argv = {HYPEROPT_TRAIN_PROGRAM};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment = {"PATH=/usr/bin:/bin", "OMP_NUM_THREADS=1"};
  for (const auto& [name, value] : env) environment.push_back(name + "=" + value);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(
      &actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
  const int error = ::posix_spawn(&pid_,
                                  argv[0].c_str(),
                                  &actions,
                                  nullptr,
                                  Pointers(argv).data(),
                                  Pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("can not start " + argv[0]);
}

RankProcess::RankProcess(RankProcess&& other) noexcept : pid_(other.pid_) {
  other.pid_ = -1;
}

RankProcess::~RankProcess() {
  if (pid_ < 0) return;
  Signal(SIGKILL);
  Wait();
}

void RankProcess::Signal(int signal) const { ::kill(pid_, signal); }

int RankProcess::Wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int FreePort() {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(fd.get(), generic, size) != 0 ||
      ::getsockname(fd.get(), generic, &size) != 0) {
    throw std::runtime_error("no free port");
  }
  return ntohs(address.sin_port);
}

}  // namespace hyperopt
