#include "search/outcome.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "executors/report_reader.h"
#include "trial/json.h"
#include "trial/text.h"

namespace hyperopt {
namespace {

bool IsOwnCrash(const ExitInfo& info) {
  return info.signal.has_value() || info.host_memory || info.device_memory ||
         (info.exit_code && *info.exit_code > 128);
}

std::string SignalName(int signal) {
  const char* name = sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal)
                         : fmt::format("SIG{}", name);
}

Outcome OfStop(const TrialRow& row, Reason reason) {
  Outcome out;
  out.run_outcome = "stopped";
  out.reason = reason;
  out.state = Completes(reason)         ? TrialState::kCompleted
              : reason == Reason::kRung ? TrialState::kPaused
                                        : TrialState::kStopped;
  if (Completes(reason) && !row.best.finite()) {
    out.state = TrialState::kFailed;
    out.reason = Reason::kNotFinite;
    out.detail = reason == Reason::kMaxTime
                     ? "it reached max_t and its metric was never finite"
                     : "its metric was never finite";
  }
  return out;
}

Outcome OfLoss(const TrialRow& row, const ExitInfo& info, int max_lost) {
  Outcome out;
  out.run_outcome = "lost";
  out.lost = true;
  out.detail = info.error;
  const bool again = row.lost < max_lost;
  out.state = again ? TrialState::kPending : TrialState::kFailed;
  out.reason = again ? Reason::kExecutorLost : Reason::kTooManyLost;
  if (!again) out.detail = fmt::format("{} attempts were lost", row.lost + 1);
  return out;
}

// The field that was meant by `metric`: eval_loss, val/loss or Loss for loss, or one
// that is misspelt.
std::optional<std::string> LikelyMetric(const std::string& metric,
                                        const std::set<std::string>& seen) {
  const auto is_part = [](std::string_view whole, std::string_view part) {
    const size_t at = whole.rfind(part);
    if (at == whole.npos) return false;
    const auto parts = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) == 0;
    };
    const size_t end = at + part.size();
    return (at == 0 || parts(whole[at - 1])) &&
           (end == whole.size() || parts(whole[end]));
  };
  // What is measured on data that it was not trained on first.
  for (const std::string_view kind : {"val", "eval", "test", ""}) {
    for (const std::string& name : seen) {
      const bool fits = is_part(name, metric) || is_part(metric, name);
      if (fits && name.find(kind) != name.npos) return name;
    }
  }
  const std::vector<std::string> names(seen.begin(), seen.end());
  return NearestName(metric, names);
}

Outcome OfSuccess(const TrialRow& row,
                  const std::string& metric,
                  const std::set<std::string>& seen,
                  const Oddities& odd) {
  Outcome out;
  out.run_outcome = "exit";
  if (row.best.finite()) {
    out.state = TrialState::kCompleted;
    return out;
  }
  out.state = TrialState::kFailed;
  if (row.reports > 0) {
    out.reason = Reason::kNotFinite;
    out.detail = fmt::format("`{}` was never finite", metric);
    return out;
  }
  out.reason = Reason::kNoMetric;
  out.detail = NeverCame(metric, seen, odd);
  return out;
}

Outcome OfFault(const TrialRow& row,
                const ExitInfo& info,
                const ExecutorOptions& options) {
  Outcome out;
  out.own_fault = true;
  out.run_outcome = info.signal ? "signal" : "exit";
  Reason reason = Reason::kExitCode;
  if (!info.started) {
    out.run_outcome = "not started";
    reason = Reason::kCouldNotStart;
    out.detail = info.error;
  } else if (info.device_memory) {
    reason = Reason::kDeviceMemory;
    out.detail = "the device's memory was full";
  } else if (info.host_memory) {
    reason = Reason::kHostMemory;
    out.detail = "killed, most likely for host memory";
  } else if (info.signal) {
    reason = Reason::kSignal;
    out.detail = SignalName(*info.signal);
  } else {
    out.detail = fmt::format("exit code {}", info.exit_code.value_or(-1));
  }
  const int tries =
      IsOwnCrash(info) ? options.max_failures_crash : options.max_failures_exit;
  const bool again = info.started && row.failures < tries;
  out.state = again ? TrialState::kPending : TrialState::kFailed;
  out.reason = again ? Reason::kRetry : reason;
  return out;
}

}  // namespace

std::string NeverCame(const std::string& metric,
                      const std::set<std::string>& seen,
                      const Oddities& odd) {
  const std::string unread = odd.any() ? "; " + OddText(odd) : "";
  if (seen.empty()) {
    return fmt::format("`{}` never came; no report was seen{}", metric, unread);
  }
  std::string text =
      fmt::format("`{}` never came; seen: {}{}", metric, fmt::join(seen, ", "), unread);
  if (const auto likely = LikelyMetric(metric, seen)) {
    text += fmt::format("; did you mean {}?", *likely);
  }
  return text;
}

std::string OddText(const Oddities& odd) {
  if (!odd.any()) return "";
  const int64_t all = odd.not_json + odd.too_long + odd.binary + odd.no_number;
  if (odd.first.starts_with(kReaderSays)) {
    std::string text = odd.first.substr(kReaderSays.size());
    if (all > 1) text += fmt::format(" ({} more not understood)", all - 1);
    return text;
  }
  if (all == 1) return fmt::format("1 line was no report: {}", odd.first);
  std::vector<std::string> kinds;
  const auto add = [&kinds](int64_t count, std::string_view what) {
    if (count > 0) kinds.push_back(fmt::format("{} {}", count, what));
  };
  add(odd.not_json, "of another form");
  add(odd.too_long, "over 1 MiB");
  add(odd.binary, "binary");
  add(odd.no_number, "without a number");
  return fmt::format("{} lines were no reports ({}); the first: {}",
                     all,
                     fmt::join(kinds, ", "),
                     odd.first);
}

std::string OddToJson(const Oddities& odd) {
  return fmt::format(
      "{{\"not_json\":{},\"too_long\":{},\"binary\":{},\"no_number\":{},"
      "\"first\":{}}}",
      odd.not_json,
      odd.too_long,
      odd.binary,
      odd.no_number,
      QuoteJson(odd.first));
}

Oddities OddFromJson(std::string_view detail) {
  const OrderedJson json = ParseJson(std::string(detail));
  Oddities odd;
  odd.not_json = json.value("not_json", int64_t{0});
  odd.too_long = json.value("too_long", int64_t{0});
  odd.binary = json.value("binary", int64_t{0});
  odd.no_number = json.value("no_number", int64_t{0});
  odd.first = json.value("first", "");
  return odd;
}

bool Completes(Reason reason) {
  return reason == Reason::kMaxTime || reason == Reason::kTarget ||
         reason == Reason::kConverged;
}

std::optional<Reason> ReasonOf(Decision decision) {
  switch (decision) {
    case Decision::kContinue:
      break;
    case Decision::kStop:
      return Reason::kPruned;
    case Decision::kTarget:
      return Reason::kTarget;
    case Decision::kConverged:
      return Reason::kConverged;
    case Decision::kPause:
      return Reason::kRung;
  }
  return std::nullopt;
}

std::string CompleteText(Reason reason) {
  if (reason == Reason::kTarget) return "at the target";
  return reason == Reason::kConverged ? "converged" : "at max_t";
}

std::string WhyText(const TrialRow& row) {
  if (row.detail.empty() && Completes(row.reason)) return CompleteText(row.reason);
  if (row.reason == Reason::kRung && row.detail.empty()) return "at its rung";
  if (row.detail.empty()) return std::string(ToString(row.reason));
  // What failed it is in the detail already.
  if (row.state == TrialState::kFailed || row.reason == Reason::kNone ||
      row.reason == Reason::kWallLimit) {
    return row.detail;
  }
  return fmt::format("{}: {}", ToString(row.reason), row.detail);
}

std::string ParentText(const TrialRow& row, int64_t repeats) {
  const int64_t parent = row.parent->value();
  return repeats > 1 ? fmt::format("trial {} once more, with another seed", parent)
                     : fmt::format("a changed copy of trial {}", parent);
}

std::string StateText(const TrialRow& row) {
  const auto word = [&]() -> std::string {
    switch (row.state) {
      case TrialState::kCompleted:
      case TrialState::kFailed:
        return std::string(ToString(row.state));
      case TrialState::kStopped:
        return "was stopped";
      default:
        return fmt::format("is {}", ToString(row.state));
    }
  };
  const std::string why = WhyText(row);
  return fmt::format(
      "trial {} {}{}{}", row.id.value(), word(), why.empty() ? "" : ": ", why);
}

Outcome DecideOutcome(const TrialRow& row,
                      const ExitInfo& info,
                      const ExecutorOptions& options,
                      const std::string& metric,
                      const std::set<std::string>& seen,
                      const Oddities& odd) {
  if (row.stopping) return OfStop(row, *row.stopping);
  if (info.asked == Reason::kInterrupted || info.asked == Reason::kPreempted) {
    Outcome out;
    out.state = TrialState::kPending;
    out.reason = *info.asked;
    out.run_outcome = "interrupted";
    return out;
  }
  if (info.lost) return OfLoss(row, info, options.max_lost);
  if (info.wall_limit || info.asked == Reason::kWallLimit) {
    Outcome out;
    out.run_outcome = "stopped";
    out.reason = Reason::kWallLimit;
    out.state = row.best.finite() ? TrialState::kStopped : TrialState::kFailed;
    out.detail = fmt::format("ran longer than {} s", options.trial_wall_s.value_or(0));
    return out;
  }
  if (info.started && info.exit_code == 0 && !info.signal) {
    return OfSuccess(row, metric, seen, odd);
  }
  return OfFault(row, info, options);
}

}  // namespace hyperopt
