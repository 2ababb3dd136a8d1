#include "search/controller.h"

#include <fmt/format.h>

#include <cassert>

#include "trial/json.h"

namespace hyperopt {
namespace {

std::string ResourcesText(const Resources& resources) {
  std::string text = fmt::format("{{\"cpus\":{},\"memory\":{},\"devices\":[",
                                 resources.cpus.ToText(),
                                 resources.memory);
  for (size_t i = 0; i < resources.devices.size(); ++i) {
    text += (i > 0 ? "," : "") + QuoteJson(resources.devices[i].id);
  }
  text += "],\"labels\":{";
  bool first = true;
  for (const auto& [key, value] : resources.labels) {
    text += (first ? "" : ",") + QuoteJson(key) + ":" + QuoteJson(value);
    first = false;
  }
  return text + "}}";
}

}  // namespace

void Controller::Handle(const ControllerEvent& event, Now now) {
  std::visit([&](const auto& e) { On(e, now); }, event);
}

void Controller::On(const PeerSaid& event, Now now) {
  std::visit([&](const auto& message) { OnMessage(event.peer, message, now); },
             event.message);
}

void Controller::On(const StopAsked& event, Now now) {
  // Only ever harder: drain, interrupt, kill.
  if (stop_ && (*stop_ == event.kind || event.kind == StopKind::kDrain)) return;
  if (stop_ == StopKind::kKill) return;
  stop_ = event.kind;
  stop_at_ = now.steady;
  Log("stop asked",
      std::nullopt,
      event.kind == StopKind::kDrain ? "\"drain\"" : "\"interrupt\"",
      now);
  if (event.kind == StopKind::kDrain) RecallAll();
  if (event.kind != StopKind::kDrain) InterruptAll();
}

// TakeTurn does what time asks for.
void Controller::On(const TimePassed&, Now) {}

// Why an executor may not take part; nullopt where it may.
std::optional<Refused> Controller::WhyRefused(const Hello& hello) const {
  if (hello.protocol != kProtocolVersion) {
    return Refused{
        fmt::format("it speaks protocol {}, the controller {}: use "
                    "the same version of hyperopt on both sides",
                    hello.protocol,
                    kProtocolVersion)};
  }
  if (!hello.sweep_id.empty() && hello.sweep_id != sweep_.id) {
    return Refused{"it holds trials of another sweep"};
  }
  if (end_) return Refused{"the sweep is over"};
  return std::nullopt;
}

void Controller::OnMessage(const std::string& peer, const Hello& hello, Now now) {
  if (std::optional<Refused> refused = WhyRefused(hello)) {
    sends_.push_back({peer, std::move(*refused)});
    return;
  }
  const Member* known = hello.id ? fleet_.Find(*hello.id) : fleet_.FindPeer(peer);
  const bool same_life = known != nullptr && known->present &&
                         known->pid == hello.pid && known->born == hello.born &&
                         known->boot_id == hello.boot_id;
  Member& member = fleet_.Welcome(hello, peer, now.steady);
  TakeHeldPlaces(&member);
  if (!same_life) RecordJoined(&member, hello.resources, now);
  TakeBackHeld(&member, hello.holdings, now);
  Send(member, WelcomeFor(member));
}

// What its runs hold is taken from the fresh offer.
void Controller::TakeHeldPlaces(Member* member) {
  for (const RunKey& key : member->runs) {
    Live* live = FindLive(key);
    if (live == nullptr || live->after) continue;
    if (live->wanted) {
      live->placement = std::exchange(live->wanted, std::nullopt);
      --wanting_;
    }
    if (!live->placement) continue;
    if (!CanTake(*live->placement, member->offer)) {
      // It came back with less, or this one stands by; the run itself goes on.
      live->wanted = std::exchange(live->placement, std::nullopt);
      ++wanting_;
      continue;
    }
    fleet_.Take(*live->placement);
  }
  fleet_.Reopen(member->id);
}

void Controller::RecordJoined(Member* member, const Resources& resources, Now now) {
  ++member->life;
  ExecutorRow row;
  row.id = member->id;
  row.name = member->name;
  row.host = member->host;
  row.boot_id = member->boot_id;
  row.embedded = member->embedded;
  row.resources = ResourcesText(resources);
  row.joined = now.wall;
  changes_.push_back(PutExecutor{std::move(row)});
  Log("executor joined",
      std::nullopt,
      fmt::format("{{\"executor\":{},\"name\":{},\"host\":{}}}",
                  member->id.value(),
                  QuoteJson(member->name),
                  QuoteJson(member->host)),
      now);
}

// An attempt that was presumed lost and comes back goes on, before it is asked for.
void Controller::TakeBackHeld(Member* member,
                              const std::vector<Holding>& holdings,
                              Now now) {
  member->discarding = false;
  for (const Holding& holding : holdings) {
    if (holding.state == HoldState::kEnded || FindLive(holding.key) != nullptr)
      continue;
    if (TakeBackReturned(member, holding.key, Comeback::kRuns, now) == nullptr)
      member->discarding = true;
  }
  fleet_.Usability(member);
}

Welcome Controller::WelcomeFor(const Member& member) {
  Welcome welcome;
  welcome.id = member.id;
  welcome.sweep = spec_;
  welcome.timing = timing_;
  for (const RunKey& key : member.runs) {
    const Live* live = FindLive(key);
    // A launch that this life of the executor may not have got yet is sent again; one
    // that an earlier life may have started is asked for.
    if (live == nullptr) continue;
    if (!live->confirmed && live->sent_to == member.life) continue;
    welcome.expected.push_back({key, OffsetsOf(*live)});
  }
  return welcome;
}

void Controller::OnMessage(const std::string& peer, const Heartbeat& beat, Now now) {
  Member* member = fleet_.FindPeer(peer);
  if (member == nullptr || member->id != beat.id || !member->present) {
    sends_.push_back({peer, HelloAgain{}});
    return;
  }
  if (beat.turn != member->turn) {
    member->turn = beat.turn;
    member->turn_changed = now.steady;
  } else if (now.steady - member->turn_changed > Seconds(timing_.stuck_s)) {
    // Its transport speaks, its loop stands still: as good as silent, and it gets no
    // lease.
    member->silent = true;
    fleet_.Usability(member);
    return;
  }
  fleet_.Heard(member, now.steady);
  fleet_.Seen(member, beat.devices);
  Answer answer;
  answer.heartbeat = beat.number;
  Reconcile(member, beat.holdings, &answer, now);
  Send(*member, std::move(answer));
}

// Commands are level-triggered: what the executor holds is compared with the record,
// and what differs is sent.
void Controller::Reconcile(Member* member,
                           const std::vector<Holding>& holdings,
                           Answer* answer,
                           Now now) {
  std::set<RunKey> held;
  for (const Holding& holding : holdings) {
    held.insert(holding.key);
    Live* live = FindLive(holding.key);
    if (live == nullptr && holding.state != HoldState::kEnded) {
      live = TakeBackReturned(member, holding.key, Comeback::kRuns, now);
    }
    if (live != nullptr && live->row.executor == member->id) {
      live->confirmed = true;
      live->why = holding.why;
      live->seen_running |= holding.state != HoldState::kStarting;
      const auto& stopping = Row(holding.key.trial).stopping;
      const bool runs =
          holding.state == HoldState::kStarting ||
          holding.state == HoldState::kRunning ||
          (stop_ == StopKind::kKill && holding.state == HoldState::kStopping);
      if (runs && stopping && OrderIsDue(*live, *stopping)) {
        OrderStop(*live, *stopping);
      }
      if (runs && !stopping && interrupting()) OrderStop(*live, Reason::kInterrupted);
      if (MustRecall(*live, holding)) Recall(live);
      continue;
    }
    if (holding.state != HoldState::kEnded) {
      answer->unknown.push_back(holding.key);
    } else if (!IsAwaited(holding.key)) {
      answer->ended.push_back(holding.key);
    }
  }
  // What it was told to kill holds its CPUs and devices until it is gone.
  member->discarding = !answer->unknown.empty();
  fleet_.Usability(member);
  const Duration patience = Seconds(timing_.heartbeat_s);
  for (const RunKey& key : member->runs) {
    Live* live = FindLive(key);
    if (live == nullptr) continue;
    answer->acks.push_back(AckOf(*live));
    if (held.contains(key) || now.steady - live->sent <= patience) continue;
    live->sent = now.steady;
    if (!live->confirmed && live->sent_to == member->life) {
      Send(*member, live->launch);
    } else {
      // Another life of the executor may have started it: it is asked through a
      // welcome.
      sends_.push_back({member->peer, HelloAgain{}});
    }
  }
}

// True where the end of this attempt would still be taken.
bool Controller::IsAwaited(const RunKey& key) const {
  if (live_.contains(key)) return true;
  if (key.trial.value() < 0 || key.trial.value() >= std::ssize(rows_)) return false;
  const TrialRow& row = Row(key.trial);
  return key.run == RunId(0) && row.state == TrialState::kPending &&
         row.reason == Reason::kExecutorLost && row.attempt == key.attempt;
}

Controller::Live* Controller::FindLive(const RunKey& key) {
  const auto it = live_.find(key);
  return it == live_.end() ? nullptr : &it->second;
}

std::vector<SourceOffset> Controller::OffsetsOf(const Live& live) const {
  std::vector<SourceOffset> offsets;
  for (const auto& [name, offset] : live.offsets) offsets.push_back(offset);
  return offsets;
}

Ack Controller::AckOf(const Live& live) const {
  const TrialRow& row = Row(live.row.key.trial);
  return {
      live.row.key, OffsetsOf(live), row.best_step, row.last_step, FurtherBest(row.id)};
}

// Not every step that was reported has a checkpoint, so that more of them are named
// than stay.
std::vector<int64_t> Controller::FurtherBest(TrialId id) const {
  constexpr int64_t kNamed = 256;
  const int64_t wanted = config_.keep.best_checkpoints;
  const auto open = open_.find(id);
  if (wanted < 2 || open == open_.end()) return {};
  const auto count = static_cast<size_t>(std::max(kNamed, wanted));
  std::vector<int64_t> steps = open->second.curve.BestSteps(config_.goal, count);
  std::erase(steps, Row(id).best_step);
  return steps;
}

void Controller::Send(const Member& member, ToExecutor message) {
  sends_.push_back({member.peer, std::move(message)});
}

void Controller::Log(std::string kind,
                     std::optional<TrialId> trial,
                     std::string detail,
                     Now now) {
  changes_.push_back(AddEvent{
      {++sweep_.last_event, now.wall, std::move(kind), trial, std::move(detail)}});
}

int64_t& Controller::CountOf(TrialState state) {
  switch (state) {
    case TrialState::kPending:
      return counts_.pending;
    case TrialState::kRunning:
      return counts_.running;
    case TrialState::kPaused:
      return counts_.paused;
    case TrialState::kCompleted:
      return counts_.completed;
    case TrialState::kStopped:
      return counts_.stopped;
    case TrialState::kFailed:
      break;
  }
  return counts_.failed;
}

void Controller::Move(TrialRow* row,
                      TrialState to,
                      Reason reason,
                      const std::string& detail) {
  assert(CanTransition(row->state, to));
  --CountOf(row->state);
  ++CountOf(to);
  pending_.erase(row->id);
  if (to == TrialState::kPending) pending_.insert(row->id);
  row->state = to;
  row->reason = reason;
  row->detail = detail;
  Touch(row->id);
  NoteRepeat(*row);
}

std::optional<SendTo> Controller::AnswerWhileHeld(const PeerSaid& said) const {
  const auto* beat = std::get_if<Heartbeat>(&said.message);
  if (beat == nullptr) return std::nullopt;
  Answer answer;
  answer.heartbeat = beat->number;
  answer.held = true;
  return SendTo{said.peer, std::move(answer)};
}

SweepCounts Controller::Counts() const {
  SweepCounts counts = counts_;
  counts.planned = planned_;
  counts.running -= standing_by_;
  counts.pending += standing_by_;
  return counts;
}

const Params* Controller::FindParams(TrialId id) const {
  const auto it = open_.find(id);
  if (it != open_.end()) return &it->second.params;
  if (!race_) return nullptr;
  const auto known = configurations_.find(race_->Of(id).first);
  return known == configurations_.end() ? nullptr : &known->second;
}

double Controller::alive_s(Now now) const {
  return alive_before_ + ToSeconds(now.steady - started_);
}

}  // namespace hyperopt
