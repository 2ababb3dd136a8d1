#include "search/internal/progress_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "search/format.h"
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

std::string WhyOf(const TrialRow& row) {
  return Printable(row.detail.empty() ? ToString(row.reason) : row.detail);
}

std::string ParamsText(const Params& params) {
  std::string text;
  for (const auto& [name, value] : params) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, ToWord(value));
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
  for (const RecordChange& change : changes) {
    if (const auto* event = std::get_if<AddEvent>(&change)) {
      OnEvent(event->row, controller);
    } else if (const auto* put = std::get_if<PutExecutor>(&change)) {
      if (put->row.embedded || put->row.left != 0) continue;
      emit_(Printable(
          fmt::format("executor {} on {} joined", put->row.name, put->row.host)));
    }
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
    emit_(Printable(
        fmt::format("executor {} is silent: nothing new goes to it", event.detail)));
  } else if (kind == "budget over") {
    emit_("the time budget is over: what runs is stopped");
  } else if (kind == "stop asked") {
    emit_(event.detail == "\"drain\""
              ? "stop asked: nothing new starts, what runs ends by itself"
              : "stop asked: nothing new starts, what runs is put back");
  } else if (kind == "odd lines" && event.trial && odd_said_ < kOddLinesSaid) {
    ++odd_said_;
    emit_(Printable(fmt::format("trial {} wrote a line that is no report: {}",
                                event.trial->value(),
                                event.detail)));
  }
}

void ProgressWords::OnFailure(const TrialRow& row, const Controller& controller) {
  if (failures_said_ == kFailuresSaid) return;
  ++failures_said_;
  emit_(fmt::format("trial {} failed: {}", row.id.value(), WhyOf(row)));
  if (controller.last_words() != words_said_) {
    words_said_ = controller.last_words();
    const std::string line = LastLine(words_said_);
    if (!line.empty()) emit_("  | " + line);
  }
  if (failures_said_ == kFailuresSaid) {
    emit_(
        "further failures are only counted; `hyperopt trials --state failed` lists "
        "them");
  }
}

// The longer a sweep runs, the rarer a line.
void ProgressWords::NoteBest(const Controller& controller, Now now) {
  if (!controller.incumbent() || now.steady < next_best_) return;
  const auto index = static_cast<size_t>(controller.incumbent()->value());
  const BestSoFar best = BestOf(controller.trials()[index], config_.value);
  if (said_best_ && said_best_->trial == best.trial &&
      said_best_->value == best.value) {
    return;
  }
  said_best_ = best;
  const double session_s = ToSeconds(now.steady - *began_);
  next_best_ = now.steady + Seconds(std::clamp(session_s / 30, 1.0, 60.0));
  std::string line = fmt::format("best: {} {} (trial {}, step {})",
                                 controller.sweep().metric,
                                 NumberText(best.value),
                                 best.trial.value(),
                                 best.step);
  if (const Params* params = controller.FindParams(best.trial)) {
    line += "  " + ParamsText(*params);
  }
  emit_(Printable(line));
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
  emit_(fmt::format("{} after {}: {} of {} trials{}{}",
                    EndWord(end),
                    DurationText(status.alive_s),
                    status.counts.finished(),
                    status.counts.planned,
                    counts.empty() ? "" : ": ",
                    counts));
  if (!end.why.empty() && end.code != ExitCode::kInterrupted) {
    emit_(Printable("why: " + end.why));
  }
  if (end.code == ExitCode::kNoTrialCompleted) {
    const std::string line = LastLine(controller.last_words());
    if (!line.empty()) emit_("  | " + line);
  }
  if (status.best) {
    emit_(Printable("best: " + BestText(status)));
    const Params params = ParamsAtEnd(controller, status.best->trial, dir);
    if (!params.empty()) emit_(Printable("  " + ParamsText(params)));
    if (std::filesystem::exists(dir / "best.json")) {
      emit_("  " + (dir / "best.json").string());
    }
  }
  if (end.code == ExitCode::kInterrupted || end.code == ExitCode::kEnvironment) {
    emit_("go on with the same line, or: hyperopt resume " + dir.string());
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
