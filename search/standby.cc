#include "search/standby.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <utility>

namespace hyperopt {
namespace {

// Comes first, so that it is read without all the rest.
constexpr std::string_view kBehind = "{\"behind\":[";

std::optional<RunRow> RunOf(const TrialStore& store, const RunKey& key) {
  for (RunRow& run : store.LoadRuns(key.trial)) {
    if (run.key == key) return std::move(run);
  }
  return std::nullopt;
}

// Who ran to an end had its place, so that nobody before it is left.
bool HadItsPlace(const RunRow& run) {
  return run.outcome == "exit" || run.outcome == "signal";
}

// A place goes on to the next in the row; who leaves the row early stands between
// others no longer.
bool Waits(const TrialStore& store, const RunRow& run) {
  std::optional<RunKey> before = StandsBehind(run.placement);
  while (before) {
    const std::optional<RunRow> other = RunOf(store, *before);
    if (!other || HadItsPlace(*other)) return false;
    if (other->ended == 0) return true;
    before = StandsBehind(other->placement);
  }
  return false;
}

}  // namespace

std::string PlacedBehind(const std::string& placement, const RunKey& before) {
  return fmt::format("{}{},{},{}],{}",
                     kBehind,
                     before.trial.value(),
                     before.run.value(),
                     before.attempt.value(),
                     placement.substr(1));
}

std::optional<RunKey> StandsBehind(const std::string& placement) {
  if (!placement.starts_with(kBehind)) return std::nullopt;
  int64_t numbers[3] = {};
  const char* at = placement.data() + kBehind.size();
  const char* end = placement.data() + placement.size();
  for (int64_t& number : numbers) {
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc() || next == end) return std::nullopt;
    at = next + 1;
  }
  return RunKey{TrialId(numbers[0]),
                RunId(static_cast<int32_t>(numbers[1])),
                Attempt(static_cast<int32_t>(numbers[2]))};
}

std::set<TrialId> StandingBy(const TrialStore& store,
                             const std::vector<TrialRow>& trials) {
  std::set<TrialId> waiting;
  for (const TrialRow& row : trials) {
    if (row.state != TrialState::kRunning) continue;
    const std::optional<RunRow> run = RunOf(store, {row.id, RunId(0), row.attempt});
    if (run && run->ended == 0 && Waits(store, *run)) waiting.insert(row.id);
  }
  return waiting;
}

void MakeWaiting(TrialRow* row) {
  row->state = TrialState::kPending;
  if (row->attempt == Attempt(1)) row->started = 0;
}

}  // namespace hyperopt
