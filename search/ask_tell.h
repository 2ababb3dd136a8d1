// A search that somebody else runs: lines of JSON in, lines of JSON out. Which trial is
// next, what is told of it, and whether it goes on; no process is started.
//
//   {"op":"ask"}                              {"trial":0,"params":{...}} or
//   {"done":true}
//   {"op":"report","trial":0,"step":1,"value":0.5}   {"ok":true,"stop":false}
//   {"op":"tell","trial":0,"value":0.3}              {"ok":true}
//   anything else                                    {"error":"..."}
//
// Where trials run in pieces (ASHA's promotion mode) an answer to ask also has
// "budget", the time to run to; a trial that goes on is handed out again, with the
// "step" it is at; a report that reaches the budget is answered "stop" and
// "paused":true; and an ask is answered {"wait":true} while only trials that are out
// can say what goes on.
//
// Where configurations are repeated (repeats.h) an answer to ask also has "repeat" and
// "seed": a repeat of an earlier trial's parameters has its own number, and is told
// like any other.
//
// A value is a number, or one of "NaN", "Infinity", "-Infinity" (quoted, or bare as
// Python writes them). `tell` takes "state":"failed" beside or instead of the value,
// and "stopped":true where the trial was ended early.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "samplers/sampler.h"
#include "search/config.h"
#include "search/repeats.h"
#include "search/scheduler.h"
#include "trial/clock.h"
#include "trial/json.h"
#include "trial/store.h"

namespace hyperopt {

// What may be told is told once: of a trial that was asked for and has not ended. With
// a store every answer is given after its commit, so that what a client was told is in
// the record. Thread-compatible.
class AskTell {
 public:
  // `store` may be null, then nothing outlives the object; else it must outlive it, and
  // `record` is what it holds. Trials that the record has open are asked for again
  // first.
  AskTell(const SearchConfig& config, TrialStore* store, RecordSnapshot record);

  // The answer to one line, without its newline. Throws EnvironmentError where it can
  // not be recorded; then it was not taken either.
  std::string Answer(std::string_view line, Now now);
  // The last commit: whether all is done, or the search can go on later.
  void Close(Now now);

 private:
  struct Open {
    Params params;
    int64_t judged_time = 0;
    int64_t iterations = 0;  // reports past step 0, in all attempts
    std::string began = {};  // what the attempt goes on from, as the record says it
    std::vector<Objective> others;  // of several objectives, as they came last
  };

  OrderedJson Handle(const OrderedJson& request, Now now);
  OrderedJson Ask(Now now);
  OrderedJson Tell(const OrderedJson& request, Now now);
  OrderedJson Report(const OrderedJson& request, Now now);
  TrialRow& OpenTrial(const OrderedJson& request);
  void AddValue(
      TrialRow* row, int64_t step, const Objective& value, std::string fields, Now now);
  void Judge(TrialRow* row, int64_t time, const Objective& value);
  int64_t TimeOf(const TrialRow& row, const std::string& fields, Now now) const;
  void RestoreCurves();
  void RestoreOpen(const TrialRow& row, Params params);
  // ask_tell_repeats.cc
  void RestoreRepeats();
  void NoteCreated(const TrialRow& row);
  std::optional<OrderedJson> NextRepeat(bool more, Now now);
  void AddToHistory(const TrialRow& row);
  bool IsKnownAlready(TrialId id) const;
  // ask_tell_pieces.cc
  OrderedJson GoOn(const Promotion& promotion, bool more, Now now);
  OrderedJson NothingLeft(Now now);
  void Rest(TrialRow* row, Now now);
  OrderedJson TellResting(TrialRow* kept, const OrderedJson& request, Now now);

  void End(TrialRow* row, TrialState state, Reason reason, Now now);
  const History& HistoryNow();
  OrderedJson Handed(TrialId id) const;
  void Log(std::string kind, TrialId trial, std::string detail, Now now);
  void Commit();

  const SearchConfig config_;
  const std::unique_ptr<Sampler> sampler_;
  const std::unique_ptr<Scheduler> scheduler_;
  TrialStore* store_;
  SweepRow sweep_;
  std::vector<TrialRow> rows_;
  std::map<TrialId, Open> open_;
  std::set<TrialId> to_hand_out_;  // open since before this process
  History history_;
  bool exhausted_ = false;    // ask had no more
  int64_t proposed_ = 0;      // trials that are no repeat
  std::optional<Race> race_;  // where configurations are repeated, and what they are
  std::map<TrialId, Params> configurations_;
  std::vector<RecordChange> changes_;
};

}  // namespace hyperopt
