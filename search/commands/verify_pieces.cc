#include "search/commands/verify_pieces.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "search/recorded_pieces.h"
#include "search/scheduler.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

std::string Words(const RungRow& row) {
  return fmt::format("{} (bracket {}, rung {}, level {}, order {}{})",
                     row.stopped ? "stopped" : "went on",
                     row.bracket,
                     row.rung,
                     row.level,
                     row.order,
                     row.late ? ", passed over" : "");
}

std::string Words(const std::optional<Promotion>& promotion) {
  if (!promotion) return "nobody may go on";
  if (!promotion->parent) {
    return fmt::format("trial {} goes on", promotion->trial.value());
  }
  return fmt::format("trial {} gives its place to a copy of trial {}",
                     promotion->trial.value(),
                     promotion->parent->value());
}

// Tells a fresh scheduler what the record says came, in its order: entries are
// numbered, and each event that the scheduler decided says how many there were before
// it.
class Walk {
 public:
  Walk(const RecordedSweep& sweep,
       const std::function<void(TrialId, const std::string&)>& differ)
      : rungs_(sweep.record.rungs),
        differ_(differ),
        scheduler_(MakeScheduler(sweep.config.scheduler,
                                 sweep.record.sweep.goal,
                                 sweep.config.sampler.seed)) {}

  void Run(const std::vector<PieceEvent>& pieces) {
    for (const PieceEvent& piece : pieces) {
      switch (piece.kind) {
        case PieceEvent::Kind::kPaused:
        case PieceEvent::Kind::kEnded:
          waiting_.push_back(&piece);
          break;
        case PieceEvent::Kind::kPromoted:
        case PieceEvent::Kind::kReplaced:
          // From where a decision was another, nothing that follows can be compared.
          if (!Decide(piece)) return;
          break;
      }
    }
    TellEntriesUpTo(std::ssize(rungs_));
  }

 private:
  void TellEntriesUpTo(int64_t count) {
    while (next_ < rungs_.size() && rungs_[next_].order < count) {
      const RungRow& row = rungs_[next_];
      const std::vector<RungRow> expected =
          row.value.missing()
              ? scheduler_->OnFailed(row.trial)
              : scheduler_->OnMeasurement(row.trial, row.time, row.value).entries;
      if (expected.empty()) {
        differ_(row.trial,
                fmt::format("rung {} has an entry that no report makes", row.rung));
        ++next_;
      }
      Compare(expected);
    }
  }

  // The recorded entries that come next are these.
  void Compare(const std::vector<RungRow>& expected) {
    for (const RungRow& entry : expected) {
      if (next_ == rungs_.size() || rungs_[next_].trial != entry.trial) {
        differ_(entry.trial,
                fmt::format("rung {} has no entry, and should", entry.rung));
        continue;
      }
      const std::string was = Words(rungs_[next_++]), should = Words(entry);
      if (was == should) continue;
      differ_(entry.trial,
              fmt::format("the verdict at a rung is {}, should be {}", was, should));
    }
  }

  // Ends that came before a decision, and the entries before it; the end of the trial
  // that gives its place away is a part of the decision.
  bool TellWhatCameBefore(const PieceEvent& decision) {
    TellEntriesUpTo(decision.after);
    for (const PieceEvent* piece : std::exchange(waiting_, {})) {
      const bool ends = piece->kind == PieceEvent::Kind::kEnded;
      if (ends && piece->trial == decision.replaced) continue;
      try {
        ends ? scheduler_->OnEnded(piece->trial) : scheduler_->OnPaused(piece->trial);
      } catch (const EnvironmentError& error) {
        differ_(piece->trial, error.what());
        return false;
      }
    }
    return true;
  }

  bool Decide(const PieceEvent& decision) {
    const bool replaces = decision.kind == PieceEvent::Kind::kReplaced;
    const TrialId decided = replaces ? *decision.replaced : decision.trial;
    if (!TellWhatCameBefore(decision)) return false;
    const std::optional<Promotion> expected = scheduler_->NextPromotion(decision.more);
    const Promotion was{decided, decision.parent, decision.after};
    if (expected != was) {
      differ_(decided,
              fmt::format("{}, and should be: {}", Words(was), Words(expected)));
      return false;
    }
    if (!replaces) {
      scheduler_->OnPromoted(decided);
      return true;
    }
    scheduler_->OnEnded(decided);
    Compare(scheduler_->OnReplaced(
        decided, decision.trial, *decision.parent, decision.clone.time));
    return true;
  }

  const std::vector<RungRow>& rungs_;
  const std::function<void(TrialId, const std::string&)>& differ_;
  const std::unique_ptr<Scheduler> scheduler_;
  size_t next_ = 0;
  std::vector<const PieceEvent*> waiting_;  // to be told before the next decision
};

}  // namespace

void CheckPieces(const RecordedSweep& sweep,
                 const std::function<void(TrialId, const std::string&)>& differ) {
  Walk(sweep, differ).Run(RecordedPieces(*sweep.store));
}

}  // namespace hyperopt
