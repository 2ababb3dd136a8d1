// How fast a keeper starts and ends programs that end at once, two at a time, against a
// bare posix_spawn + waitpid loop of two with the same program in the same run.
//   keeper_bench [PROGRAM [COUNT [FOLDER]]]
#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "executors/keeper.h"
#include "trial/clock.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

constexpr int kAtOnce = 2;

// User and system time of another process, in seconds, its children not counted.
double CpuOf(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::stringstream text;
  text << file.rdbuf();
  const std::string all = text.str();
  std::istringstream rest(all.substr(all.rfind(')') + 2));
  std::string skipped;
  for (int i = 0; i < 11; ++i) rest >> skipped;
  double user = 0;
  double system = 0;
  rest >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double OwnCpu() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](timeval t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double BareLoop(const std::string& program, int count) {
  std::string name = program;
  char* argv[] = {name.data(), nullptr};
  const Time start = ReadClocks().steady;
  int started = 0;
  int running = 0;
  while (started < count || running > 0) {
    while (started < count && running < kAtOnce) {
      pid_t pid = 0;
      if (posix_spawn(&pid, program.c_str(), nullptr, nullptr, argv, environ) != 0) {
        throw EnvironmentError(program + ": can not be started");
      }
      ++started;
      ++running;
    }
    waitpid(-1, nullptr, 0);
    --running;
  }
  return count / ToSeconds(ReadClocks().steady - start);
}

SpawnRun SpawnOf(const std::string& program, const fs::path& folder, int number) {
  SpawnRun spawn;
  spawn.key = {TrialId(number), RunId(0), Attempt(1)};
  const fs::path dir = folder / std::to_string(number);
  fs::create_directory(dir);
  spawn.dir = dir.string();
  spawn.token = TokenFor("00bench000000000", spawn.key);
  RankSpec rank;
  rank.argv = {program};
  for (char** entry = environ; *entry != nullptr; ++entry) rank.env.push_back(*entry);
  rank.cwd = folder.string();
  rank.stdout_path = (dir / "stdout.log").string();
  rank.stderr_path = (dir / "stderr.log").string();
  spawn.ranks.push_back(std::move(rank));
  return spawn;
}

void KeeperLoop(const std::string& program, int count, const fs::path& folder) {
  const auto link = StartOrAdoptKeeper({folder, "00bench000000000"});
  pid_t keeper = 0;
  int started = 0;
  int ended = 0;
  const double own_before = OwnCpu();
  double keeper_before = 0;
  const Time start = ReadClocks().steady;
  while (ended < count) {
    while (keeper != 0 && started < count && started - ended < kAtOnce) {
      link->Send(SpawnOf(program, folder, started++));
    }
    pollfd poller{link->fd(), POLLIN, 0};
    if (started > 0) poll(&poller, 1, -1);
    bool gone = false;
    for (const FromKeeper& message : link->Receive(&gone)) {
      if (const auto* hello = std::get_if<KeeperHello>(&message)) {
        keeper = hello->pid;
        keeper_before = CpuOf(keeper);
      } else if (const auto* end = std::get_if<RunEnded>(&message)) {
        ++ended;
        link->Send(ReleaseRun{end->key});
      }
    }
    if (gone) throw EnvironmentError("the keeper is gone");
  }
  const double seconds = ToSeconds(ReadClocks().steady - start);
  fmt::print(
      "keeper: {:.0f}/s, its CPU {:.3f} ms a run, the link's end {:.3f} ms a run\n",
      count / seconds,
      (CpuOf(keeper) - keeper_before) / count * 1e3,
      (OwnCpu() - own_before) / count * 1e3);
  link->Send(KeeperShutdown{});
  waitpid(keeper, nullptr, 0);
}

int Main(int argc, char** argv) {
  const std::string program = argc > 1 ? argv[1] : "/bin/true";
  const int count = argc > 2 ? std::atoi(argv[2]) : 2000;
  const fs::path base = argc > 3 ? fs::path(argv[3]) : fs::path("/dev/shm");
  const fs::path folder = base / fmt::format("keeper-bench-{}", getpid());
  fs::create_directory(folder);
  fmt::print("{} x {}, {} at once\n", count, program, kAtOnce);
  for (int round = 0; round < 3; ++round) {
    fmt::print("bare loop: {:.0f}/s\n", BareLoop(program, count));
    const fs::path own = folder / std::to_string(round);
    fs::create_directory(own);
    KeeperLoop(program, count, own);
  }
  fs::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace hyperopt

int main(int argc, char** argv) {
  try {
    return hyperopt::Main(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "keeper_bench: {}\n", error.what());
    return 3;
  }
}
