#include "search/record_start.h"

#include <doctest/doctest.h>

#include <vector>

#include "search/recorded_history.h"
#include "search/testing/played_sweep.h"

namespace hyperopt {
namespace {

using testing::PlayedSweep;
using testing::ScriptedTrial;

constexpr char kFile[] = R"(
command: [train]
hyperopt:
  metric: loss
  parameters:
    x: {space: uniform, lower: 0, upper: 1}
  executor: {num_samples: 7}
)";

// Longer and shorter ones in turn, so that they end in another order than they began;
// trial 3 fails.
ScriptedTrial Uneven(TrialId id, const Params&) {
  ScriptedTrial trial;
  const auto number = id.value();
  for (int64_t i = 0; i < 2 + number * 5 % 7; ++i) {
    trial.values.push_back(static_cast<double>(number * 10 + i % 3));
  }
  trial.exit_code = number == 3 ? 1 : 0;
  return trial;
}

// Proposes at random and keeps what it was told of the past.
class Listening final : public Sampler {
 public:
  Listening(const SearchConfig& config, std::vector<std::vector<HistoryEntry>>* heard)
      : sampler_(MakeSampler(config.space, config.sampler)), heard_(heard) {}
  std::optional<Params> Suggest(TrialId id, const History& history) const override {
    heard_->push_back(history.ended);
    return sampler_->Suggest(id, history);
  }
  std::optional<int64_t> TrialCount() const override { return sampler_->TrialCount(); }
  bool needs_history() const override { return true; }

 private:
  std::unique_ptr<Sampler> sampler_;
  std::vector<std::vector<HistoryEntry>>* heard_;
};

OpenedRecord Opened(const PlayedSweep& sweep) {
  RecordedSweep recorded = sweep.Record();
  OpenedRecord record;
  record.store = std::move(recorded.store);
  record.snapshot = std::move(recorded.record);
  return record;
}

std::vector<int64_t> Ids(const std::vector<HistoryEntry>& history) {
  std::vector<int64_t> ids;
  for (const HistoryEntry& entry : history) ids.push_back(entry.trial.value());
  return ids;
}

TEST_CASE("a resumed sampler hears of the past what the undisturbed one heard") {
  std::vector<std::vector<HistoryEntry>> heard;
  PlayedSweep sweep(
      kFile, Uneven, 3, std::make_unique<Listening>(testing::Parse(kFile), &heard));
  sweep.PlayToEnd();
  REQUIRE(heard.size() == 7);
  OpenedRecord record = Opened(sweep);
  const ControllerStart start = MakeControllerStart(
      sweep.config(), &record, "results/played", {"train"}, {.history = true});
  REQUIRE(start.history.size() == 7);
  CHECK(Ids(start.history) != std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6});
  const std::vector<HistoryEntry>& undisturbed = heard.back();
  REQUIRE(undisturbed.size() >= 3);
  for (size_t i = 0; i < undisturbed.size(); ++i) {
    CHECK(start.history[i].trial == undisturbed[i].trial);
    CHECK(start.history[i].state == undisturbed[i].state);
    CHECK(start.history[i].params == undisturbed[i].params);
    CHECK(start.history[i].objective == undisturbed[i].objective);
    CHECK(start.history[i].step == undisturbed[i].step);
  }
}

TEST_CASE("a trial that failed comes up for its parameters only to be run again") {
  PlayedSweep sweep(kFile, Uneven);
  sweep.PlayToEnd();
  const auto params = [&](const StartWants& wants) {
    OpenedRecord record = Opened(sweep);
    const ControllerStart start = MakeControllerStart(
        sweep.config(), &record, "results/played", {"train"}, wants);
    CHECK(start.history.empty());
    CHECK(start.record.trials.size() == 7);
    CHECK(record.snapshot.trials.empty());
    CHECK(record.snapshot.sweep == start.record.sweep);
    return start.params;
  };
  CHECK(params({}).empty());
  const auto again = params({.rerun_failed = true});
  REQUIRE(again.size() == 1);
  CHECK(again.begin()->first == TrialId(3));
}

}  // namespace
}  // namespace hyperopt
