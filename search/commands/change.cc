#include "search/commands/change.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>
#include <variant>

#include "executors/local_resources.h"
#include "search/change_json.h"
#include "search/commands/ask_controller.h"
#include "search/commands/recorded_sweep.h"
#include "search/format.h"
#include "search/limits.h"
#include "search/record_start.h"
#include "search/sweep_folder.h"
#include "trial/errors.h"
#include "trial/failpoint.h"
#include "trial/fs.h"
#include "trial/text.h"

namespace hyperopt {
namespace {

constexpr auto kLookEvery = std::chrono::milliseconds(20);
// A controller that begins has no sockets yet, one that ends answers no more.
constexpr int kMostLooks = 500;

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

Changed FromAnswer(const OrderedJson& answer) {
  Changed changed;
  changed.live = true;
  changed.lines = answer.at("lines").get<std::vector<std::string>>();
  changed.held = answer.value("held", "");
  return changed;
}

// The same controller code, without executors and without a turn.
Changed ChangeRecord(const std::filesystem::path& dir, const OrderedJson& request) {
  const SweepFolder folder = SweepFolder::Take(dir);
  OpenedRecord record;
  record.store = OpenSqliteStore(folder.database(), StoreMode::kOpen);
  std::optional<RecordSnapshot> snapshot = record.store->Load();
  if (!snapshot) throw ConfigError(dir.string() + ": the sweep has not begun yet");
  record.snapshot = std::move(*snapshot);
  const SweepState state = record.snapshot.sweep.state;
  SearchConfig config = ConfigForResume(record.snapshot.sweep);
  ApplyLimits(&record.snapshot.sweep, &config);
  config.sampler.num_samples += record.snapshot.sweep.extra_trials;
  const auto sampler = MakeSampler(config.space, config.sampler);
  const auto scheduler =
      MakeScheduler(config.scheduler, config.goal, config.sampler.seed);
  const std::optional<ChangeRequest> change =
      ChangeFromJson(request, config, record.snapshot.sweep);
  const Now now = ReadClocks();
  ControllerStart start =
      MakeControllerStart(config, &record, folder.dir(), config.command, {});
  Controller controller(config, *sampler, *scheduler, std::move(start), now);
  Changed changed;
  changed.lines = LinesOf(controller.Change(change.value(), now));
  const std::vector<RecordChange> changes = controller.ChangesAlone(state, now);
  // All that changes a sweep is an event.
  changed.none = std::ranges::none_of(changes, [](const RecordChange& each) {
    return std::holds_alternative<AddEvent>(each);
  });
  record.store->Commit(changes);
  Failpoint("change.after_commit");
  return changed;
}

}  // namespace

Changed ChangeSweep(const std::filesystem::path& dir, OrderedJson request) {
  // Says what is wrong with the folder, before anything is made in it.
  RequireOwnTrials(ReadSweep(dir).record.sweep, dir);
  request["token"] = RandomHex(8);
  for (int look = 0; look < kMostLooks; ++look) {
    const std::optional<LockHolder> holder = FindController(dir);
    if (!holder) {
      try {
        return ChangeRecord(dir, request);
      } catch (const ConfigError&) {
        // One that has just started holds the lock: it is asked.
        if (!FindController(dir)) throw;
      }
      continue;
    }
    if (holder->host != HostName() && !holder->host.empty()) {
      throw EnvironmentError(fmt::format(
          "the controller (pid {}) runs on another host: type this command on {}",
          holder->pid,
          holder->host));
    }
    if (const auto answer = AskController(dir, request)) return FromAnswer(*answer);
    std::this_thread::sleep_for(kLookEvery);
  }
  throw EnvironmentError(dir.string() +
                         ": its controller does not answer; it is not known whether "
                         "this was done: look with hyperopt status, and type it again");
}

int TellChanged(const std::filesystem::path& dir, const Changed& changed) {
  for (const std::string& line : changed.lines) {
    std::printf("%s\n", Printable(line).c_str());
  }
  if (!changed.held.empty()) {
    std::printf("not recorded yet, since the record can not be written: %s\n",
                Printable(changed.held).c_str());
    return static_cast<int>(ExitCode::kEnvironment);
  }
  if (!changed.live && !changed.none) {
    std::printf(
        "no controller runs; it holds from the next start:\n  hyperopt resume "
        "%s\n",
        QuoteShellWord(dir.string()).c_str());
  }
  return 0;
}

}  // namespace hyperopt
