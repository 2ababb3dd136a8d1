#include "search/commands/verify_repeats.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "search/proposals.h"
#include "search/repeats.h"
#include "trial/json.h"

namespace hyperopt {
namespace {

// What happened to a trial, in the order of the events.
struct Happening {
  enum class Kind { kLaunched, kEnded, kEndedOnce };  // kEndedOnce: it ran once more
  int64_t event = 0;
  TrialId trial;
  Kind kind = Kind::kLaunched;
};

struct Events {
  std::vector<Happening> happenings;
  std::map<TrialId, bool> more;  // of each repeat: whether others were left to propose
};

Events ReadEvents(const TrialStore& store) {
  Events events;
  std::map<TrialId, size_t> end_of;
  store.ForEachEvent(1, [&](const EventRow& event) {
    if (!event.trial) return true;
    if (event.kind == "launched") {
      events.happenings.push_back(
          {event.number, *event.trial, Happening::Kind::kLaunched});
    } else if (event.kind == "repeat") {
      events.more[*event.trial] = ParseJson(event.detail).value("more", false);
    } else if (event.kind == "ended") {
      const std::string state = ParseJson(event.detail).value("state", "");
      const auto read = TrialStateFromString(state);
      if (!read || !IsFinished(*read)) return true;
      if (const auto before = end_of.find(*event.trial); before != end_of.end()) {
        events.happenings[before->second].kind = Happening::Kind::kEndedOnce;
      }
      end_of[*event.trial] = events.happenings.size();
      events.happenings.push_back(
          {event.number, *event.trial, Happening::Kind::kEnded});
    }
    return true;
  });
  return events;
}

std::string Words(const std::optional<TrialId>& first) {
  return first ? fmt::format("a repeat of trial {}", first->value())
               : std::string("no repeat");
}

class Walk {
 public:
  Walk(const RecordedSweep& sweep, const SearchConfig& config, int64_t first)
      : rows_(sweep.record.trials),
        by_best_(config.value == ValueRule::kBest),
        events_(ReadEvents(*sweep.store)),
        race_(config.repeats, config.goal, TrialId(first)) {}

  bool IsFirst(TrialId trial) const { return race_.Of(trial).first == trial; }

  // The trial's creation; returns what should have been created then, where that is to
  // be known.
  std::optional<std::string> Create(const TrialRow& row, bool of_era) {
    std::optional<std::string> wrong;
    if (of_era && !IsGiven(row)) {
      TellUpTo(row.history);
      const auto more = events_.more.find(row.id);
      const bool left = !row.parent || (more != events_.more.end() && more->second);
      const std::optional<TrialId> due = race_.Next(left);
      if (due != row.parent) {
        wrong = fmt::format("it is {}, and {} was due", Words(row.parent), Words(due));
      }
    }
    race_.OnCreated(row.id, row.parent);
    return wrong;
  }

 private:
  void TellUpTo(int64_t event) {
    const std::vector<Happening>& all = events_.happenings;
    for (; next_ < all.size() && all[next_].event <= event; ++next_) {
      const Happening& each = all[next_];
      const TrialRow& row = rows_[static_cast<size_t>(each.trial.value())];
      switch (each.kind) {
        case Happening::Kind::kLaunched:
          if (race_.EndOf(row.id)) race_.OnReopened(row.id);
          break;
        case Happening::Kind::kEndedOnce:
          race_.OnEnded(row.id, {.state = TrialState::kFailed, .value = {}});
          break;
        case Happening::Kind::kEnded:
          if (const auto end = RepeatEndOf(row, by_best_)) race_.OnEnded(row.id, *end);
          break;
      }
    }
  }

  const std::vector<TrialRow>& rows_;
  const bool by_best_;
  const Events events_;
  Race race_;
  size_t next_ = 0;
};

}  // namespace

void CheckRepeats(const RecordedSweep& sweep,
                  const SearchConfig& config,
                  int64_t first,
                  int64_t end,
                  const std::function<void(TrialId, const std::string&)>& differ) {
  Walk walk(sweep, config, first);
  for (int64_t i = 0; i < end; ++i) {
    const TrialRow& row = sweep.record.trials[static_cast<size_t>(i)];
    if (row.parent && (*row.parent >= row.id || !walk.IsFirst(*row.parent))) {
      differ(row.id, "it is a repeat of no configuration");
      return;
    }
    if (const auto wrong = walk.Create(row, i >= first)) differ(row.id, *wrong);
    if (i < first || !row.parent) continue;
    const TrialId ids[] = {row.id, *row.parent};
    const std::vector<Params> params = sweep.store->LoadParams(ids);
    if (params[0] != params[1]) {
      differ(row.id,
             fmt::format("its parameters are not those of trial {}, which it repeats",
                         row.parent->value()));
    }
  }
}

}  // namespace hyperopt
