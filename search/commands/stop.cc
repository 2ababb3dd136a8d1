#include "search/commands/stop.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "executors/local_resources.h"
#include "search/commands/ask_controller.h"
#include "search/commands/recorded_sweep.h"
#include "search/commands/sweep_dir.h"
#include "search/sweep_folder.h"
#include "trial/errors.h"
#include "trial/text.h"

namespace hyperopt {
namespace {

constexpr auto kLookEvery = std::chrono::milliseconds(50);

[[noreturn]] void RefuseSilent(const LockHolder& holder) {
  const char* why = holder.host == HostName()
                        ? "does not answer; `kill {0}` asks it in another way"
                        : "runs on another host: type this command on {1}";
  throw EnvironmentError(
      fmt::format("the controller (pid {}) {}",
                  holder.pid,
                  fmt::format(fmt::runtime(why), holder.pid, holder.host)));
}

}  // namespace

int StopCommand(const StopOptions& options) {
  const std::filesystem::path dir = SweepDirOf(options.dir);
  const std::optional<LockHolder> holder = FindController(dir);
  if (!holder) {
    RequireSweep(dir);
    std::printf("%s: no controller runs, there is nothing to stop\n", dir.c_str());
    return 0;
  }
  const char* kind = options.drain ? "drain" : "interrupt";
  if (!AskController(dir, {{"op", "stop"}, {"kind", kind}})) RefuseSilent(*holder);
  std::printf("%s: %s\n",
              dir.c_str(),
              options.drain ? "nothing new starts; waiting for what runs to end"
                            : "stopping; what runs is put back");
  std::fflush(stdout);
  const auto same = [&] {
    const std::optional<LockHolder> now = FindController(dir);
    return now && now->pid == holder->pid;
  };
  while (same()) std::this_thread::sleep_for(kLookEvery);
  const SweepState state = ReadSweep(dir).record.sweep.state;
  if (state == SweepState::kFinished || state == SweepState::kFailed) {
    std::printf("%s: %s, nothing is left to go on with\n",
                dir.c_str(),
                std::string(ToString(state)).c_str());
    return 0;
  }
  std::printf("%s: stopped; go on with:\n  hyperopt resume %s\n",
              dir.c_str(),
              QuoteShellWord(dir.string()).c_str());
  return 0;
}

}  // namespace hyperopt
