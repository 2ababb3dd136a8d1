#include "search/internal/progress_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "search/format.h"
#include "search/outcome.h"
#include "trial/errors.h"
#include "trial/fs.h"
#include "trial/json.h"
#include "trial/text.h"

namespace hyperopt::internal {
namespace {

constexpr int64_t kFailuresSaid = 5;
constexpr int64_t kOddLinesSaid = 3;

// The last line that says something, as "ValueError: no such column".
std::string LastLine(std::string_view words) {
  words = Trim(words);
  const size_t line = words.rfind('\n');
  return Printable(line == std::string_view::npos ? words : words.substr(line + 1));
}

// The last lines that say something: a traceback's end says where it was.
std::vector<std::string> LastLines(std::string_view words) {
  constexpr size_t kMost = 10;
  std::vector<std::string> lines;
  while (!words.empty()) {
    const size_t end = words.find('\n');
    std::string_view line = words.substr(0, end);
    words.remove_prefix(end == words.npos ? words.size() : end + 1);
    while (line.ends_with('\r')) line.remove_suffix(1);
    line.remove_prefix(line.rfind('\r') + 1);  // what a bar wrote over itself
    if (!Trim(line).empty()) lines.push_back(Printable(line));
  }
  if (lines.size() > kMost) lines.erase(lines.begin(), lines.end() - kMost);
  return lines;
}

// An event names an executor by its number.
std::string NameOfExecutor(const std::string& number, const Controller& controller) {
  for (const auto& [id, member] : controller.fleet().members()) {
    if (std::to_string(id.value()) == number) return member.offer.name;
  }
  return "executor " + number;
}

std::string ParamsText(const Params& params) {
  std::string text;
  for (const auto& [name, value] : params) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, ValueText(value));
  }
  return text;
}

// What `hyperopt set` or `add --trials` changed.
std::string ChangeText(const EventRow& event) {
  const OrderedJson json = ParseJson(event.detail);
  if (event.kind == "samples added") {
    return fmt::format("samples added: {}", json.value("samples", int64_t{0}));
  }
  std::string text;
  for (const OrderedJson& line : json.value("changed", OrderedJson::array())) {
    text += (text.empty() ? "set: " : "; ") + line.get<std::string>();
  }
  return text;
}

std::string EndWord(const SweepEnd& end) {
  switch (end.code) {
    case ExitCode::kDone:
      return "done";
    case ExitCode::kInterrupted:
      return "interrupted";
    default:
      return "failed";
  }
}

}  // namespace

Params ParamsAtEnd(const Controller& controller,
                   TrialId best,
                   const std::filesystem::path& dir) {
  if (const Params* params = controller.FindParams(best)) return *params;
  if (dir.empty()) return {};
  try {
    const OrderedJson json = ParseJson(ReadFile(dir / "best.json").value_or(""));
    if (json.value("trial", int64_t{-1}) != best.value()) return {};
    return ParamsFromJsonText(DumpJson(json.at("params")));
  } catch (const Error&) {
  } catch (const nlohmann::json::exception&) {
  }
  return {};
}

void ProgressWords::Begin(const Controller& controller, Now now) {
  if (began_) return;
  began_ = now.steady;
  next_best_ = now.steady;
  finished_before_ = controller.Counts().finished();
  if (controller.incumbent()) said_best_ = Status(controller, now).best;
}

void ProgressWords::OnTurn(std::span<const RecordChange> changes,
                           const Controller& controller,
                           Now now) {
  Begin(controller, now);
  int64_t added = 0;
  for (const RecordChange& change : changes) {
    if (const auto* event = std::get_if<AddEvent>(&change)) {
      added += event->row.kind == "added";
      OnEvent(event->row, controller);
    } else if (const auto* put = std::get_if<PutExecutor>(&change)) {
      if (put->row.embedded || put->row.left != 0) continue;
      Say(fmt::format("joined: {} on {}", put->row.name, put->row.host));
    }
  }
  if (added > 0) {
    Say(fmt::format("added by hand: {} trial{}", added, added == 1 ? "" : "s"));
  }
  NoteBest(controller, now);
}

void ProgressWords::OnEvent(const EventRow& event, const Controller& controller) {
  const std::string& kind = event.kind;
  if (kind == "launched") return;
  if (kind == "ended" && event.trial) {
    const TrialRow& row =
        controller.trials()[static_cast<size_t>(event.trial->value())];
    if (row.state == TrialState::kFailed) OnFailure(row, controller);
  } else if (kind == "executor silent") {
    Say(fmt::format("{} is silent: nothing new goes there",
                    NameOfExecutor(event.detail, controller)));
  } else if (kind == "budget over") {
    Say("the time budget is over: what runs is stopped");
  } else if (kind == "paused" || kind == "unpaused") {
    Say(kind == "paused" ? "paused: nothing new starts, what runs goes on"
                         : "unpaused: new trials start again");
  } else if (kind == "set" || kind == "samples added") {
    Say(ChangeText(event));
  } else if (kind == "stop asked") {
    const bool drains = event.detail == "\"drain\"";
    if (!drains && stop_said_) return;
    stop_said_ = !drains;
    Say(drains ? "stop asked: nothing new starts, what runs ends by itself"
               : "stop asked: nothing new starts, what runs is stopped and put back");
  } else if (kind == "restarts" && event.trial) {
    Say(fmt::format(
        "trial {} goes on from its start: it left no complete checkpoint in "
        "$HYPEROPT_CHECKPOINT_DIR, so that what it did before is done again",
        event.trial->value()));
  } else if (kind == "promoted" && event.trial && !no_copy_said_ &&
             event.detail.find("no_checkpoint_of") != event.detail.npos) {
    no_copy_said_ = true;
    Say(fmt::format(
        "trial {} keeps its place: the better one whose copy should take it "
        "left no complete checkpoint in $HYPEROPT_CHECKPOINT_DIR",
        event.trial->value()));
  } else if (kind == "odd lines" && event.trial && odd_said_ < kOddLinesSaid) {
    ++odd_said_;
    Say(fmt::format(
        "trial {}: {}", event.trial->value(), OddText(OddFromJson(event.detail))));
  }
}

// Each kind of failure once: often all trials fail of one thing.
void ProgressWords::OnFailure(const TrialRow& row, const Controller& controller) {
  const std::string line = LastLine(controller.last_words());
  std::string kind = WhyText(row) + '\n' + line;
  if (kind == failure_said_) {
    ++alike_;
    return;
  }
  if (failures_said_ == kFailuresSaid) return;
  SayAlike();
  failure_said_ = std::move(kind);
  ++failures_said_;
  Say(StateText(row));
  if (line != words_said_ && !line.empty()) Say("  | " + line);
  words_said_ = line;
  if (failures_said_ == kFailuresSaid) {
    Say("further failures are only counted");
  }
}

void ProgressWords::SayAlike() {
  if (alike_ == 0) return;
  Say(fmt::format("  {} more failed like this", std::exchange(alike_, 0)));
}

// The longer a sweep runs, the rarer a line.
void ProgressWords::NoteBest(const Controller& controller, Now now) {
  if (!controller.incumbent() || now.steady < next_best_) return;
  const BestSoFar best = BestOf(controller);
  if (said_best_ && said_best_->trial == best.trial &&
      said_best_->value == best.value) {
    return;
  }
  said_best_ = best;
  const double session_s = ToSeconds(now.steady - *began_);
  next_best_ = now.steady + Seconds(std::clamp(session_s / 30, 1.0, 60.0));
  std::string line = fmt::format("best: {} {} (trial {}, step {})",
                                 controller.sweep().metric,
                                 ValueText(best),
                                 best.trial.value(),
                                 best.step);
  if (const Params* params = controller.FindParams(best.trial)) {
    line += "  " + ParamsText(*params);
  }
  Say(line, TooLong::kCut);
}

void ProgressWords::Say(std::string_view line, TooLong too_long) const {
  emit_(Printable(line), too_long);
}

SweepStatus ProgressWords::Status(const Controller& controller, Now now) const {
  const double session_s = began_ ? ToSeconds(now.steady - *began_) : 0;
  return StatusOf(
      controller, session_s, controller.Counts().finished() - finished_before_, now);
}

void ProgressWords::End(const SweepEnd& end,
                        const Controller& controller,
                        const std::filesystem::path& dir,
                        Now now) {
  const SweepStatus status = Status(controller, now);
  const std::string counts = CountsText(status.counts);
  SayAlike();
  Say(fmt::format("{} after {}: {} of {} trials{}{}",
                  EndWord(end),
                  DurationText(status.alive_s),
                  status.counts.finished(),
                  status.counts.planned,
                  counts.empty() ? "" : ": ",
                  counts));
  const std::string quoted = QuoteShellWord(dir.string());
  if (status.counts.failed > failures_said_) {
    Say(fmt::format("  hyperopt trials {} --state failed", quoted), TooLong::kWhole);
  }
  if (!end.why.empty() && end.code != ExitCode::kInterrupted) Say("why: " + end.why);
  if (end.code == ExitCode::kNoTrialCompleted) {
    for (const std::string& line : LastLines(controller.last_words())) {
      Say("  | " + line);
    }
  }
  if (status.best) {
    Say("best: " + BestText(status));
    const Params params = ParamsAtEnd(controller, status.best->trial, dir);
    if (!params.empty()) Say("  " + ParamsText(params));
    if (std::filesystem::exists(dir / "best.json")) {
      Say("  " + (dir / "best.json").string(), TooLong::kWhole);
    }
    Say("  hyperopt report " + quoted, TooLong::kWhole);
  }
  if (end.code == ExitCode::kInterrupted || end.code == ExitCode::kEnvironment) {
    Say("go on with the same line, or:");
    Say("  hyperopt resume " + quoted, TooLong::kWhole);
  }
}

std::string ProgressWords::EndLine(const SweepEnd& end,
                                   const Controller& controller,
                                   const std::filesystem::path& dir,
                                   Now now) const {
  const SweepStatus status = Status(controller, now);
  return Printable(fmt::format("{}: {}; {}; {}",
                               EndWord(end),
                               BestText(status),
                               CountsText(status.counts),
                               dir.string()));
}

}  // namespace hyperopt::internal
