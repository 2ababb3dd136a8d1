// The controller as a state machine without I/O: events in; record changes and sends
// out, to be carried out in this order: commit the changes, then send. Time is a
// parameter.
//
// One thread owns it. A turn is: Handle each event that has come, then TakeTurn once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "executors/messages.h"
#include "samplers/sampler.h"
#include "search/change_request.h"
#include "search/config.h"
#include "search/curve.h"
#include "search/fleet.h"
#include "search/outcome.h"
#include "search/placement.h"
#include "search/proposals.h"
#include "search/recorded_pieces.h"
#include "search/repeats.h"
#include "search/replay.h"
#include "search/scheduler.h"
#include "trial/clock.h"
#include "trial/record.h"

namespace hyperopt {

// ---- events ----

struct PeerSaid {
  std::string peer;
  FromExecutor message;
};
enum class StopKind {
  kInterrupt,  // nothing new; running trials get the stop contract and go back to
               // pending
  kDrain,      // nothing new; running trials end by themselves
  kKill,       // as kInterrupt, without grace
};
struct StopAsked {
  StopKind kind = StopKind::kInterrupt;
};
// The loop's clock went on; TakeTurn does what time asks for.
struct TimePassed {};

using ControllerEvent = std::variant<PeerSaid, StopAsked, TimePassed>;

// ---- what a turn leaves behind ----

struct SendTo {
  std::string peer;
  ToExecutor message;
};
struct SweepEnd {
  ExitCode code = ExitCode::kDone;
  std::string why;
};
struct Turn {
  std::vector<RecordChange> changes;  // one commit
  std::vector<SendTo> sends;          // after it
  std::optional<SweepEnd> end;        // after that
};

// What a restart hands in beside the snapshot.
struct ControllerStart {
  RecordSnapshot record;
  // Of the unfinished trials, and of the failed ones where they are to run again.
  std::map<TrialId, Params> params;
  std::map<TrialId, std::vector<ReportRow>> reports;  // of those that ran
  std::map<TrialId, std::vector<RunRow>> runs;  // of the unfinished trials that ran
  // What a scheduler that goes by curves must observe, in the order of their commit.
  std::vector<JudgedReport> curves;
  // Ends so far and what they brought, for samplers that read their history.
  std::vector<HistoryEntry> history;
  std::map<TrialId, CloneStart> clones;  // the trials that began as copies
  bool rerun_failed = false;             // failed -> pending, once
  // Where configurations are repeated: of all trials that are no repeat.
  std::map<TrialId, Params> configurations;
  // Shared facts that every executor is told.
  SweepSpec sweep;
};

struct SweepCounts {
  int64_t planned = 0;
  int64_t pending = 0, running = 0, paused = 0, completed = 0, stopped = 0, failed = 0;
  int64_t finished() const { return completed + stopped + failed; }
};

class Controller {
 public:
  // Sampler and scheduler must outlive it; of the config it keeps a copy.
  Controller(const SearchConfig& config,
             const Sampler& sampler,
             Scheduler& scheduler,
             ControllerStart start,
             Now now);

  void Handle(const ControllerEvent& event, Now now);
  Turn TakeTurn(Now now);
  // Does what a person asks for, and returns the words to tell them once the next
  // turn's changes are committed; "" lines between several. A token that was done
  // before returns its words again. Throws ConfigError where it is refused, with
  // nothing changed.
  std::string Change(const ChangeRequest& request, Now now);
  // A new era has begun (amend.h): unfinished trials that the new search can not run
  // end for good. Called once, before the first turn. Returns how many.
  int64_t BeginEra(const std::vector<std::string>& lines, Now now);
  // Where no controller runs: what Change has changed, for the record alone. Nothing is
  // sent, started or ended.
  std::vector<RecordChange> ChangesAlone(SweepState state, Now now);
  // The answer to a heartbeat while the record can not be written: that it is held, no
  // acknowledgements and no orders.
  std::optional<SendTo> AnswerWhileHeld(const PeerSaid& said) const;
  // When TimePassed is due at the latest.
  Time next_tick() const { return next_tick_; }

  // ---- for status lines, requests and tests; all const ----
  SweepCounts Counts() const;
  const std::vector<TrialRow>& trials() const { return rows_; }
  std::optional<TrialId> incumbent() const { return incumbent_; }
  // Where configurations are repeated: the best one, whose best trial is the incumbent.
  const Standing* leader() const { return race_ ? race_->Leader() : nullptr; }
  const Params* FindParams(TrialId id) const;
  const Fleet& fleet() const { return fleet_; }
  const SearchConfig& config() const { return config_; }
  const SweepRow& sweep() const { return sweep_; }
  // The last words of the newest failure, for the user to see.
  const std::string& last_words() const { return last_words_; }
  bool stopping() const { return stop_.has_value() || budget_over_; }
  bool paused() const { return paused_; }
  double alive_s(Now now) const;
  // Why a trial is not running, or what it is doing: lines for a person.
  std::vector<std::string> Explain(TrialId id, Now now) const;
  // One line: what holds up the next start; "" where nothing does.
  std::string WhatWaits() const;
  // Throws std::logic_error naming the first broken invariant.
  void CheckInvariants() const;

 private:
  // A launch that the record holds as not ended.
  struct Live {
    RunRow row;
    std::optional<Placement> placement;  // taken, or to be taken over from `after`
    std::optional<Placement> wanted;     // what it holds and was not to be had
    Launch launch;
    std::optional<RunKey> after;  // it stands by for the place of this run
    std::optional<RunKey> heir;   // who stands by for its place
    bool stood_by = false;
    bool recalled = false;   // told not to begin, where it has not
    Time placed;             // since when it has had its place
    bool confirmed = false;  // an executor has said that it holds it
    bool seen_running = false;
    std::string why;  // what its start waits for
    Time sent;
    int64_t sent_to = 0;  // the life of the executor that the launch was sent to
    std::map<std::string, SourceOffset> offsets;  // committed, by source
    int64_t step = 0;                             // counts reports without one
    int64_t iterations = 0;  // reports that carry the objective, checkpoint's included
    bool any_report = false;
    bool odd_said = false;
    bool overran = false;        // it has reported again after what it was launched for
    Oddities odd;                // of the whole attempt, once it is over
    int64_t metric_step = 0;     // of the last report with the metric
    std::optional<double> time;  // the field time_attr as it was said last
    double max_elapsed = 0;
    std::set<std::string> seen;  // numeric fields, while the metric never came
  };
  struct Checkpoint {
    Attempt attempt;
    int64_t step = 0;
    std::string path;  // of another trial's; "" for one of its own
  };
  // What is kept of a trial until it is finished.
  struct Open {
    Params params;
    std::vector<Objective> others;  // of several objectives, as they came last
    Curve curve;
    int64_t judged_time = -1;             // newest time the scheduler has judged
    std::vector<Checkpoint> checkpoints;  // complete ones, oldest attempt first
    std::map<Attempt, double> elapsed;    // what each attempt's reports say at most
    CloneStart clone;                     // of a copy
  };

  void On(const PeerSaid& event, Now now);
  void On(const StopAsked& event, Now now);
  void On(const TimePassed& event, Now now);
  void OnMessage(const std::string& peer, const Hello& hello, Now now);
  void OnMessage(const std::string& peer, const Heartbeat& beat, Now now);
  void OnMessage(const std::string& peer, const Measured& measured, Now now);
  void OnMessage(const std::string& peer, const Exited& exited, Now now);
  std::optional<Refused> WhyRefused(const Hello& hello) const;
  void TakeHeldPlaces(Member* member);
  void RecordJoined(Member* member, const Resources& resources, Now now);
  void TakeBackHeld(Member* member, const std::vector<Holding>& holdings, Now now);
  Welcome WelcomeFor(const Member& member);

  // controller_start.cc
  void Restore(ControllerStart start, Now now);
  void RestoreLost(const ControllerStart& start, Now now);
  Live MakeLive(const RunRow& row, const ControllerStart& start, Now now);
  void RestoreCurve(TrialId id, const std::vector<ReportRow>& reports);
  void RestoreLive(const RunRow& row, const ControllerStart& start, Now now);

  // controller_reports.cc
  void TakeLine(Live* live, const SourceId& source, const ReportLine& line, Now now);
  void Judge(Live* live, int64_t time, const Objective& value, Now now);
  static int64_t StepOf(const Live& live, const ReportLine& line, bool has_metric);
  int64_t TimeOf(const Live& live, const ReportLine& line, int64_t step) const;
  const Objective& RankedBy(const TrialRow& row) const;
  void NoteIncumbent(const TrialRow& row);

  // controller_ends.cc
  void EndRun(Live* live, const ExitInfo& end, Now now);
  void ApplyOutcome(TrialRow* row, const Outcome& outcome, Now now);
  void AddToHistory(const TrialRow& row);
  void NoteFastFailure(const Live& live, const ExitInfo& info, const Outcome& outcome);
  void LoseMember(Member* member, const std::string& why, Now now);
  enum class Comeback { kRuns, kEnded };
  Live* TakeBackReturned(Member* member, const RunKey& key, Comeback comeback, Now now);
  void CommitStop(Live* live, Reason reason, Now now);
  void CheckInitialFailures();
  void OrderStop(const Live& live, Reason reason);
  bool interrupting() const;
  void InterruptAll();
  static std::string CheckpointPath(TrialId trial, RunId run, const Checkpoint& at);

  // controller_change.cc
  std::string Apply(const AddTrials& add, Now now);
  std::string Apply(const AddSamples& add, Now now);
  std::string Apply(const StopTrials& stop, Now now);
  std::string Apply(const SetPaused& set, Now now);
  std::string Apply(const SetLimits& set, Now now);
  TrialId AddGiven(Params params, Now now);
  std::string StopOne(TrialId id, Now now);
  std::string StartsWhen() const;
  void UseSamples(int64_t num_samples);
  void PlanAnew();
  void Remember(const std::string& token, const std::string& answer);
  bool OverGpus(const Placement& placement) const;

  // controller_promote.cc
  TrialId Promote(const Promotion& promotion, bool more, Now now);
  std::optional<TrialId> Replace(const Promotion& promotion, Now now);
  CloneStart CloneOf(TrialId parent) const;
  bool OrderIsDue(const Live& live, Reason reason) const;
  void NoteOverrun(Live* live);
  void TakeLateCheckpoints(const Exited& exited);
  void NoteRestart(const TrialRow& row, const Launch& launch, Now now);
  void CompletePaused(Now now);
  int64_t TimeAtStep(const Open& open, int64_t step) const;
  // The row of a new trial, which is pending.
  void AddRow(TrialRow row);
  bool more_proposals() const {
    return std::ssize(rows_) < planned_ && !sampler_exhausted_;
  }

  // controller_repeats.cc
  void RestoreRepeats(std::map<TrialId, Params> configurations);
  void NoteConfiguration(TrialId id);
  std::optional<TrialId> NextRepeat() const;
  TrialId BeginRepeat(TrialId first, Now now);
  void NoteRepeat(const TrialRow& row);
  bool IsKnownAlready(TrialId id) const;
  void AddConfigurationToHistory(const TrialRow& row);
  void NoteLeader();

  // controller_standby.cc
  bool MayStandBy() const;
  int StandbyDepth() const;
  void FillStandbys(Now now);
  void StandBehind(const RunKey& head, Now now);
  void PassPlace(const RunKey& key, const Live& ended, Now now);
  void TakeWanted(Member* member);
  void Recall(Live* live);
  bool MustRecall(const Live& live, const Holding& holding) const;
  void RecallAll();
  void RecallOverdue(Now now);
  void NoteLength(const ExitInfo& info);
  void CorrectStart(Live* live, const ExitInfo& info);
  // Live runs that have a place.
  int64_t placed() const { return std::ssize(live_) - standing_by_; }

  // controller_turn.cc
  void CollectChanges(std::vector<RecordChange>* changes);
  void PlaceTrials(Now now);
  std::optional<TrialId> NextTrial(Now now);
  // `after`: it stands by for the place of that run.
  void LaunchTrial(TrialId id,
                   const Placement& placement,
                   std::optional<RunKey> after,
                   Now now);
  void CheckBudget(Now now);
  void CheckMembers(Now now);
  Duration TickEvery() const;
  void CheckEnd(Now now);
  void Reconcile(Member* member,
                 const std::vector<Holding>& holdings,
                 Answer* answer,
                 Now now);
  void FlushEnded(Now now);
  void End(SweepState state, SweepEnd end, Now now);
  SweepRow SweepNow(Now now) const;

  TrialRow& Row(TrialId id) { return rows_[static_cast<size_t>(id.value())]; }
  const TrialRow& Row(TrialId id) const {
    return rows_[static_cast<size_t>(id.value())];
  }
  void Touch(TrialId id) { dirty_trials_.insert(id); }
  void Move(TrialRow* row, TrialState to, Reason reason, const std::string& detail);
  void Log(std::string kind, std::optional<TrialId> trial, std::string detail, Now now);
  void Send(const Member& member, ToExecutor message);
  Live* FindLive(const RunKey& key);
  bool IsAwaited(const RunKey& key) const;
  std::vector<std::string> WhyNothingStarts() const;
  std::vector<SourceOffset> OffsetsOf(const Live& live) const;
  Ack AckOf(const Live& live) const;
  std::vector<int64_t> FurtherBest(TrialId id) const;
  int64_t& CountOf(TrialState state);

  SearchConfig config_;  // its limits may be changed
  const Sampler* sampler_;
  std::unique_ptr<Sampler> own_sampler_;  // once the number of samples was changed
  Scheduler& scheduler_;
  const std::string metric_;
  SweepSpec spec_;
  Timing timing_;
  SweepRow sweep_;
  std::vector<TrialRow> rows_;
  std::map<TrialId, Open> open_;
  std::set<TrialId> pending_;
  std::map<RunKey, Live> live_;
  std::map<TrialId, RunKey> live_of_;
  int64_t standing_by_ = 0;  // of live_
  int64_t wanting_ = 0;      // of live_
  int64_t short_runs_ = 0;   // that ended well, in a row
  double short_run_s_ = 0;
  std::set<RunKey> new_heads_;  // got their place since the last turn
  Time next_overdue_look_;
  Fleet fleet_;
  History history_;           // `ended` is kept where the sampler needs it
  std::set<TrialId> rested_;  // unfinished ones that are in `ended`
  SweepCounts counts_;
  std::optional<TrialId> incumbent_;
  Objective incumbent_value_;
  std::string last_words_;  // of the newest failure
  // Attempts presumed lost and not launched again: they may return, or, of a trial that
  // waits, what they left may become known.
  std::map<TrialId, Live> lost_;
  ProposalCursor cursor_{Era{}};
  std::optional<Race> race_;  // where configurations are repeated, and what they are
  std::map<TrialId, Params> configurations_;
  int64_t planned_ = 0;
  // Runs that came back or were restored may be more than an edited limit allows.
  int64_t over_limit_ = 0;

  std::optional<StopKind> stop_;
  Time stop_at_;
  bool budget_over_ = false;
  bool paused_ = false;
  std::optional<int64_t> most_gpus_;
  bool sampler_exhausted_ = false;
  bool restart_said_ = false;
  std::optional<SweepEnd> end_;
  bool ended_already_ = false;  // everyone was told
  bool interrupted_for_failure_ = false;
  Time next_ack_;
  std::optional<SweepEnd> failure_;  // decided, waits for what runs

  Time started_;  // this session
  Time last_tick_;
  Time next_tick_;
  Time last_executor_;  // when one was last present
  Time next_sweep_put_;
  double alive_before_ = 0;
  std::map<ExecutorId, std::vector<RunKey>> ended_acks_;
  // With them, so that old checkpoints go: of ended attempts that left any.
  std::map<ExecutorId, std::vector<Ack>> last_acks_;

  std::set<TrialId> dirty_trials_;
  // Where sources stand is recorded of runs that go on; an end makes it history.
  std::set<RunKey> dirty_offsets_;
  std::vector<RecordChange> changes_;
  std::vector<SendTo> sends_;
};

}  // namespace hyperopt
