#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <future>
#include <nlohmann/json.hpp>

#include "search/commands/ask_controller.h"
#include "search/commands/change.h"
#include "search/commands/dashboard.h"
#include "search/commands/recorded_sweep.h"
#include "search/commands/sweep_dir.h"
#include "search/commands/sweep_facts.h"
#include "search/report/live/dashboard.h"
#include "search/report/report_data.h"
#include "search/status.h"
#include "search/sweep_folder.h"
#include "trial/errors.h"
#include "trial/loop_signals.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

WallTime WallNow() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// The record in a folder, opened read-only for each Read and closed again.
class RecordSource : public LiveSource {
 public:
  explicit RecordSource(std::filesystem::path dir) : dir_(std::move(dir)) {}

  std::string Stamp() override { return (Controlled() ? "c" : "") + RecordStamp(dir_); }

  std::string Read() override {
    std::string text = ReportJson(ReadSweep(dir_), WallNow(), &memo_);
    text.back() = ',';
    return text + fmt::format("\"controlled\":{}}}", Controlled());
  }

 private:
  bool Controlled() const { return FindController(dir_).has_value(); }

  std::filesystem::path dir_;
  ReportMemo memo_;
};

OrderedJson LineOf(const fs::path& dir) {
  const SweepFacts facts(dir);
  SweepStatus status = StatusOf(Summarize(facts), facts.config);
  const bool runs = facts.sweep.state == SweepState::kRunning;
  if (runs && !FindController(dir)) status.state = "killed";
  OrderedJson line = StatusToJson(status);
  line["created"] = facts.sweep.created;
  return line;
}

// Only of a sweep that runs: what is asked for on a page is expected to happen now.
std::vector<std::string> ChangeLiving(const fs::path& dir, const OrderedJson& request) {
  if (!FindController(dir)) {
    throw ConfigError("no controller runs this sweep; go on with: hyperopt resume " +
                      dir.string());
  }
  Changed changed = ChangeSweep(dir, request);
  if (!changed.held.empty()) {
    changed.lines.push_back("not recorded yet: " + changed.held);
  }
  return changed.lines;
}

std::vector<fs::path> DirsOf(const DashboardCommandOptions& options) {
  std::vector<fs::path> dirs;
  for (const fs::path& dir : options.dirs) dirs.push_back(SweepDirOf(dir));
  if (dirs.empty()) dirs.push_back(SweepDirOf(std::nullopt));
  for (fs::path& dir : dirs) {
    if (!options.beside) RequireSweep(dir);
    dir = fs::absolute(dir).lexically_normal();
  }
  return dirs;
}

// What ends it: a signal, or the end of the sweep that it stands beside.
void AwaitEnd(int signals, bool beside) {
  pollfd ends[] = {{signals, POLLIN, 0}, {beside ? STDIN_FILENO : -1, POLLIN, 0}};
  while (poll(ends, 2, -1) < 0 && errno == EINTR) {
  }
}

}  // namespace

int DashboardCommand(const DashboardCommandOptions& options) {
  const UniqueFd signals = BlockLoopSignals();
  // The sweep comes first.
  setpriority(PRIO_PROCESS, 0, 10);
  DashboardOptions server;
  server.dirs = DirsOf(options);
  server.host = options.host;
  server.port = options.port;
  server.token = options.token;
  if (server.token.empty() && options.allow_changes) server.token = RandomHex(16);
  server.source = [](const fs::path& dir) {
    return std::make_unique<RecordSource>(dir);
  };
  server.line = LineOf;
  server.change = ChangeLiving;
  Dashboard dashboard(std::move(server));
  std::printf("dashboard at %s\n", dashboard.url().c_str());
  std::fflush(stdout);
  auto served = std::async(std::launch::async, [&] { dashboard.Serve(); });
  AwaitEnd(signals.get(), options.beside);
  // One that has not quite begun to listen does not hear the first.
  do {
    dashboard.Stop();
  } while (served.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready);
  return 0;
}

}  // namespace hyperopt
