// Runs that stand by. Where runs are short, the next ones are launched before there is
// room, each behind one that runs, and the executor starts them as places get free: the
// commit and the way here and back no longer cost a place. What a person sees is as
// before: no more run at once than may, and who stands by counts as pending.
#include <algorithm>
#include <utility>

#include "search/controller.h"

namespace hyperopt {
namespace {

// Longer ones gain nothing, and who stands by must not wait long for a wrong guess.
constexpr double kShortRunS = 0.2;
// Of each place so much work stands by, but no fewer and no more runs than these.
constexpr double kDeepS = 0.05;
constexpr int kLeastDeep = 4;
constexpr int kMostDeep = 16;
constexpr int64_t kShortInARow = 4;
// Whoever runs on is no short run: who stands by is called back, to start elsewhere.
constexpr double kOverdueS = 1;
constexpr double kOverdueLookS = 0.5;

}  // namespace

bool Controller::MayStandBy() const {
  const ResourceRequest& request = config_.executor.resources;
  // A sampler with a memory, and a race, are asked as late as can be; a device is free
  // only once its driver says so.
  return short_runs_ >= kShortInARow && !sampler_->needs_history() && !race_ &&
         request.gpu_per_rank == Share() && !stop_ && !budget_over_ && !failure_ &&
         !end_ && !paused_;
}

// Short ones are told of several at once, so that many are on their way; a row of
// longer ones would wait for a wrong guess.
int Controller::StandbyDepth() const {
  const double runs = kDeepS / std::max(short_run_s_, kDeepS / kMostDeep);
  return std::max(static_cast<int>(runs), kLeastDeep);
}

void Controller::FillStandbys(Now now) {
  const std::set<RunKey> heads = std::exchange(new_heads_, {});
  const auto limit = config_.executor.max_concurrent_trials;
  if (!MayStandBy() || (limit && placed() > *limit)) return;
  for (int round = 0; round < StandbyDepth(); ++round) {
    for (const RunKey& head : heads) StandBehind(head, now);
  }
}

void Controller::StandBehind(const RunKey& head, Now now) {
  // The last ones are spread as places get free.
  const int64_t left = std::ssize(pending_) + planned_ - std::ssize(rows_);
  if (left <= placed()) return;
  const Live* last = &live_.at(head);
  for (int depth = 0;; ++depth) {
    const bool going = last->recalled || Row(last->row.key.trial).stopping;
    // A trial that runs in pieces makes room for one that waits for its next.
    if (going || depth == StandbyDepth() || !last->placement || last->launch.budget)
      return;
    if (!last->heir) break;
    last = &live_.at(*last->heir);
  }
  const RunKey after = last->row.key;
  const Placement placement = *last->placement;
  const Member* member = fleet_.Find(placement.executor);
  if (member == nullptr || !member->present || !member->offer.usable) return;
  if (const auto id = NextTrial(now)) LaunchTrial(*id, placement, after, now);
}

// `ended` is live no more: who stands by for its place has it now, or stands by for the
// one that `ended` stood by for.
void Controller::PassPlace(const RunKey& key, const Live& ended, Now now) {
  new_heads_.erase(key);
  wanting_ -= ended.wanted.has_value();
  if (ended.after) {
    --standing_by_;
    live_.at(*ended.after).heir = ended.heir;
  } else if (ended.placement) {
    fleet_.GiveBack(*ended.placement);
  }
  Member* member = fleet_.Find(ended.row.executor);
  if (!ended.heir) return TakeWanted(member);
  Live& heir = live_.at(*ended.heir);
  heir.after = heir.launch.after = ended.after;
  if (heir.after) return;
  --standing_by_;
  if (budget_over_) CommitStop(&heir, Reason::kBudget, now);
  heir.placed = now.steady;
  new_heads_.insert(*ended.heir);
  if (member != nullptr && CanTake(*heir.placement, member->offer)) {
    return fleet_.Take(*heir.placement);
  }
  heir.wanted = std::exchange(heir.placement, std::nullopt);
  ++wanting_;
}

// After a restart of either side who stood by is not told from who runs, so that more
// is held than there is: places are taken as they get free.
void Controller::TakeWanted(Member* member) {
  if (wanting_ == 0 || member == nullptr) return;
  for (const RunKey& key : member->runs) {
    Live* live = FindLive(key);
    if (live == nullptr || !live->wanted) continue;
    if (!CanTake(*live->wanted, member->offer)) continue;
    fleet_.Take(*live->wanted);
    live->placement = std::exchange(live->wanted, std::nullopt);
    --wanting_;
  }
}

void Controller::Recall(Live* live) {
  live->recalled = true;
  const Member* member = fleet_.Find(live->row.executor);
  if (member == nullptr || !member->present) return;
  Send(*member, Stop{live->row.key, Reason::kPreempted, 0, true});
}

// What an earlier controller let stand by is not told from what runs, so that it would
// keep others from starting, and start in a pause.
bool Controller::MustRecall(const Live& live, const Holding& holding) const {
  if (holding.state != HoldState::kStarting) return false;
  const bool was_launched_before = live.sent_to == 0;
  const bool has_devices = config_.executor.resources.gpu_per_rank > Share();
  return live.recalled || (was_launched_before && !has_devices && !holding.why.empty());
}

void Controller::RecallAll() {
  if (standing_by_ == 0) return;
  for (auto& [key, live] : live_) {
    if (live.after) Recall(&live);
  }
}

void Controller::RecallOverdue(Now now) {
  if (standing_by_ == 0 || now.steady < next_overdue_look_) return;
  next_overdue_look_ = now.steady + Seconds(kOverdueLookS);
  for (auto& [key, live] : live_) {
    if (live.after || now.steady - live.placed < Seconds(kOverdueS)) continue;
    for (Live* at = &live; at->heir;) {
      at = &live_.at(*at->heir);
      if (!at->recalled) Recall(at);
    }
  }
}

void Controller::NoteLength(const ExitInfo& info) {
  const bool good = info.started && !info.lost && !info.asked && info.exit_code == 0;
  const bool is_short = good && info.wall_s < kShortRunS;
  short_runs_ = is_short ? short_runs_ + 1 : 0;
  // The longest of the last ones, forgotten by and by.
  short_run_s_ = is_short ? std::max(info.wall_s, 0.9 * short_run_s_) : 0;
}

// It was launched before it could begin.
void Controller::CorrectStart(Live* live, const ExitInfo& info) {
  if (!live->stood_by || !info.started || info.lost || info.ended_wall <= 0) return;
  TrialRow& row = Row(live->row.key.trial);
  const double started = info.ended_wall - info.wall_s;
  if (row.started == live->row.started) row.started = started;
  live->row.started = started;
}

}  // namespace hyperopt
