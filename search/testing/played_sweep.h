// A whole sweep in memory, for tests: the real controller, a pretend executor that runs
// every trial by a script, and the record that comes of it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "samplers/sampler.h"
#include "search/commands/recorded_sweep.h"
#include "search/config.h"
#include "search/controller.h"
#include "search/scheduler.h"
#include "search/testing/config_text.h"
#include "search/testing/store_view.h"
#include "trial/store.h"

namespace hyperopt::testing {

// How one trial behaves: the metric's value at steps 1, 2, ...; then it exits.
struct ScriptedTrial {
  std::vector<double> values;
  int exit_code = 0;
  std::string last_words;
};
using Script = std::function<ScriptedTrial(TrialId, const Params&)>;

class PlayedSweep {
 public:
  using Hook =
      std::function<void(std::span<const RecordChange>, const Controller&, Now)>;

  // `sampler`: instead of the file's.
  PlayedSweep(const std::string& file,
              Script script,
              int64_t cpus = 2,
              std::unique_ptr<Sampler> sampler = nullptr)
      : config_(Parse(file)),
        script_(std::move(script)),
        store_(NewMemoryStore()),
        sampler_(sampler ? std::move(sampler)
                         : MakeSampler(config_.space, config_.sampler)),
        scheduler_(
            MakeScheduler(config_.scheduler, config_.goal, config_.sampler.seed)) {
    SweepRow row;
    row.id = "0123456789abcdef";
    row.name = "played";
    row.goal = config_.goal;
    row.metric = config_.metric_field();
    row.seed = config_.sampler.seed;
    row.config = config_.text;
    row.resolved = ResolvedJson(config_);
    row.settings = ComparedSettings(config_);
    row.created = now_.wall;
    const std::vector<RecordChange> first = {PutSweep{row}};
    store_->Commit(first);
    ControllerStart start;
    start.record = *store_->Load();
    controller_.emplace(config_, *sampler_, *scheduler_, std::move(start), now_);
    Hello hello;
    hello.name = "embedded";
    hello.host = "node1";
    hello.pid = 7;
    hello.resources.cpus = Share::Whole(cpus);
    Say(hello);
  }

  // One turn: everything that runs says one thing.
  void Step() {
    const Turn turn = controller_->TakeTurn(now_);
    store_->Commit(turn.changes);
    if (hook) hook(turn.changes, *controller_, now_);
    end_ = turn.end;
    now_.steady += Seconds(0.125);
    now_.wall += 0.125;
    for (const SendTo& send : turn.sends) Take(send.message);
    std::vector<RunKey> keys;
    for (const auto& [key, trial] : live_) keys.push_back(key);
    for (const RunKey& key : keys) Advance(key);
    Heartbeat beat;
    beat.id = id_;
    beat.number = ++beats_;
    beat.turn = beats_;
    for (const auto& [key, trial] : live_) {
      beat.holdings.push_back({key, HoldState::kRunning, ""});
    }
    Say(beat);
  }
  void PlayToEnd() {
    while (!end_) Step();
  }

  void Ask(StopAsked asked) { controller_->Handle(asked, now_); }
  bool ended() const { return end_.has_value(); }

  // The record as a command reads it.
  RecordedSweep Record() const {
    RecordedSweep sweep;
    sweep.dir = "results/played";
    sweep.store = std::make_unique<StoreView>(store_.get());
    sweep.record = *store_->Load();
    sweep.config = ConfigOfRecord(sweep.record.sweep);
    return sweep;
  }

  const SearchConfig& config() const { return config_; }
  const Controller& controller() const { return *controller_; }
  Controller& controller() { return *controller_; }
  TrialStore& store() { return *store_; }
  const SweepEnd& end() const { return *end_; }
  Now now() const { return now_; }
  Hook hook;

 private:
  struct LiveTrial {
    ScriptedTrial script;
    size_t said = 0;
    std::optional<Reason> asked;
  };

  void Say(FromExecutor message) {
    controller_->Handle(PeerSaid{"peer", std::move(message)}, now_);
  }
  void Take(const ToExecutor& message) {
    if (const auto* welcome = std::get_if<Welcome>(&message)) id_ = welcome->id;
    if (const auto* launch = std::get_if<Launch>(&message)) {
      live_[launch->key].script = script_(launch->key.trial, launch->params);
    }
    if (const auto* stop = std::get_if<Stop>(&message)) {
      const auto at = live_.find(stop->key);
      if (at != live_.end()) at->second.asked = stop->reason;
    }
  }
  void Advance(const RunKey& key) {
    LiveTrial& trial = live_.at(key);
    SourceOffset upto;
    upto.offset = static_cast<int64_t>(trial.said) * 10;
    if (!trial.asked && trial.said < trial.script.values.size()) {
      Measured measured;
      measured.id = id_;
      measured.key = key;
      measured.from = upto.offset;
      measured.upto.offset = upto.offset + 10;
      ReportLine line;
      line.end_offset = upto.offset + 10;
      line.step = static_cast<int64_t>(trial.said) + 1;
      line.values[config_.metric_field()] = trial.script.values[trial.said++];
      measured.lines = {line};
      return Say(measured);
    }
    Exited exited;
    exited.id = id_;
    exited.key = key;
    exited.info.exit_code = trial.script.exit_code;
    exited.info.asked = trial.asked;
    exited.info.wall_s = static_cast<double>(trial.said);
    exited.info.ended_wall = now_.wall;
    exited.info.last_words = trial.script.last_words;
    exited.offsets = {upto};
    live_.erase(key);
    Say(exited);
  }

  SearchConfig config_;
  Script script_;
  std::unique_ptr<TrialStore> store_;
  std::unique_ptr<Sampler> sampler_;
  std::unique_ptr<Scheduler> scheduler_;
  std::optional<Controller> controller_;
  std::map<RunKey, LiveTrial> live_;
  ExecutorId id_;
  int64_t beats_ = 0;
  std::optional<SweepEnd> end_;
  Now now_{Time(Seconds(1000)), 1700000000};
};

}  // namespace hyperopt::testing
