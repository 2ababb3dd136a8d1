#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "executors/attempt_folder.h"
#include "executors/keeper.h"
#include "search/commands/by_hand.h"
#include "search/commands/try.h"
#include "search/format.h"
#include "search/outcome.h"
#include "search/schedule_text.h"
#include "search/scheduler.h"
#include "trial/json.h"
#include "trial/resources.h"
#include "trial/text.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

constexpr size_t kIndent = 12;

struct Field {
  int64_t count = 0;
  std::string last;
};

std::string Count(int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// What the trial reported.
struct Seen {
  std::map<std::string, Field> fields;
  std::vector<const ReportRow*> metric;  // reports that carry it
  std::set<int64_t> steps;               // of those
};

Seen LookAt(const TrialFacts& facts) {
  Seen seen;
  for (const ReportRow& report : facts.reports) {
    const OrderedJson values = ParseJson(report.values);
    for (const auto& [name, value] : values.items()) {
      Field& field = seen.fields[name];
      ++field.count;
      field.last = value.is_number() ? NumberText(value.get<double>())
                                     : value.get<std::string>();
    }
    if (report.objective.missing()) continue;
    seen.metric.push_back(&report);
    seen.steps.insert(report.step);
  }
  return seen;
}

fs::path FolderOf(const TrialFacts& facts) {
  return AttemptFolder(facts.dir, facts.runs.back().key);
}

std::string EndText(const TrialFacts& facts) {
  const RunRow& run = facts.runs.back();
  std::string text(ToString(facts.row.state));
  const std::string why = WhyText(facts.row);
  if (!why.empty()) text += ": " + why;
  if (run.ended > 0) text += ", after " + DurationText(run.ended - run.started);
  if (run.exit_code && facts.row.state != TrialState::kFailed) {
    text += fmt::format(", exit code {}", *run.exit_code);
  }
  return text;
}

std::string MetricText(const TrialFacts& facts, const Seen& seen, const Oddities& odd) {
  const std::string& metric = facts.sweep.metric;
  if (seen.metric.empty()) {
    std::set<std::string> names;
    for (const auto& [name, field] : seen.fields) names.insert(name);
    return NeverCame(metric, names, odd);
  }
  const TrialRow& row = facts.row;
  return fmt::format("{}: {}, best {} at step {}, last {} at step {}",
                     metric,
                     Count(row.reports, "report"),
                     NumberText(row.best),
                     row.best_step,
                     NumberText(row.last),
                     row.last_step);
}

std::string FieldsText(const Seen& seen) {
  std::vector<std::string> parts;
  for (const auto& [name, field] : seen.fields) {
    parts.push_back(fmt::format("{} ({}x, last {})", name, field.count, field.last));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// "1 to 10", "100 to 1000, each 100".
std::string SpacingText(const std::set<int64_t>& steps) {
  if (steps.size() == 1) return fmt::format("{}", *steps.begin());
  std::map<int64_t, int64_t> gaps;
  for (auto at = std::next(steps.begin()); at != steps.end(); ++at) {
    ++gaps[*at - *std::prev(at)];
  }
  std::string text = fmt::format("{} to {}", *steps.begin(), *steps.rbegin());
  if (gaps.size() == 1) return text + fmt::format(", each {}", gaps.begin()->first);
  return text +
         fmt::format(", {} to {} apart", gaps.begin()->first, gaps.rbegin()->first);
}

// What early stopping would go by.
std::string TimeAttrText(const TrialFacts& facts, const Seen& seen) {
  const SchedulerOptions& scheduler = facts.config.scheduler;
  if (scheduler.kind == SchedulerKind::kFifo) return "";
  const std::string& attr = scheduler.time_attr;
  std::string reached;
  if (attr == "training_iteration") {
    reached = fmt::format("{}", seen.metric.size());
  } else if (attr == "step") {
    reached = seen.steps.empty() ? "nothing" : std::to_string(*seen.steps.rbegin());
  } else if (const auto field = seen.fields.find(attr); field != seen.fields.end()) {
    reached = field->second.last;
  } else {
    return fmt::format("`{}` never came, which early stopping goes by", attr);
  }
  std::string text = fmt::format("{} reached {}", attr, reached);
  for (const SchedulerOptions& rule : RulesOf(scheduler)) {
    if (rule.kind != SchedulerKind::kAsha) {
      text += "; " + RuleText(rule);
      continue;
    }
    const std::vector<int64_t> rungs = RungLevels(rule, 0);
    text +=
        fmt::format("; rungs are {}, max_t is {}",
                    rungs.empty() ? "none" : fmt::format("{}", fmt::join(rungs, ", ")),
                    rule.max_t);
  }
  return text;
}

// Between the first and the last report with the metric, of the last attempt: each
// counts its own time.
std::string PaceText(const Seen& seen) {
  if (seen.metric.empty()) return "";
  const ReportRow& first = *seen.metric.front();
  const ReportRow& last = *seen.metric.back();
  std::string text =
      fmt::format("the first report after {}", DurationText(first.elapsed_s));
  const ReportRow& from = **std::ranges::find_if(
      seen.metric, [&](const ReportRow* report) { return report->key == last.key; });
  const int64_t steps = last.step - from.step;
  if (steps > 0) {
    const double each = (last.elapsed_s - from.elapsed_s) / static_cast<double>(steps);
    text += fmt::format(", then {} a step", DurationText(each));
  }
  return text;
}

int64_t SizeOf(const fs::path& folder) {
  int64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    if (entry.is_regular_file(error))
      bytes += static_cast<int64_t>(entry.file_size(error));
  }
  return bytes;
}

std::string CheckpointText(const TrialFacts& facts) {
  const fs::path folder = FolderOf(facts) / kCheckpointFolder;
  const std::vector<int64_t> steps = facts.runs.back().checkpoints;
  if (!steps.empty()) {
    return fmt::format("of step {}; {} the newest",
                       fmt::join(steps, ", "),
                       SizeToText(SizeOf(folder / std::to_string(steps.back()))));
  }
  std::error_code error;
  if (fs::is_empty(folder, error) || error) return "none";
  return "none complete: each wants a folder named by its step, with a file COMPLETE "
         "renamed into it last";
}

std::string SignalText(int signal) {
  const char* name = sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : name;
}

std::string StopText(const TrialFacts& facts) {
  const ExecutorOptions& executor = facts.config.executor;
  const std::optional<double> took = StopTook(facts);
  if (!took) return "not asked to; --stop-after 5s tries how it ends";
  const std::string signal = SignalText(executor.stop_signal);
  if (WasKilled(facts)) {
    return fmt::format("{} did not end it within stop_grace_s ({} s): it was killed",
                       signal,
                       executor.stop_grace_s);
  }
  return fmt::format("{} ended it after {} (stop_grace_s is {} s)",
                     signal,
                     DurationText(*took),
                     executor.stop_grace_s);
}

}  // namespace

std::optional<double> StopTook(const TrialFacts& facts) {
  if (facts.runs.empty()) return std::nullopt;
  const fs::path folder = FolderOf(facts);
  struct stat told {};
  const auto exit = ReadExitJson(folder);
  if (!exit || stat((folder / "stop.json").c_str(), &told) != 0) return std::nullopt;
  const double when = static_cast<double>(told.st_mtim.tv_sec) +
                      1e-9 * static_cast<double>(told.st_mtim.tv_nsec);
  return std::max(0.0, exit->ended_wall - when);
}

bool WasKilled(const TrialFacts& facts) {
  return !facts.runs.empty() && facts.runs.back().signal == SIGKILL;
}

Oddities OddLines(const TrialStore& store) {
  Oddities odd;
  store.ForEachEvent(1, [&](const EventRow& event) {
    if (event.kind != "odd lines") return true;
    odd = OddFromJson(event.detail);
    return false;
  });
  return odd;
}

std::vector<std::string> TryReport(const TrialFacts& facts,
                                   const Oddities& odd,
                                   int64_t device_memory,
                                   size_t width) {
  std::vector<std::string> lines;
  const auto say = [&](const char* name, const std::string& text) {
    if (text.empty()) return;
    lines.push_back(Wrapped(
        fmt::format("{:<{}}{}", name, kIndent, Printable(text)), width, kIndent));
  };
  std::vector<std::string> tried;
  for (const auto& [name, value] : facts.params) {
    tried.push_back(fmt::format("{}={}", name, ToWord(value)));
  }
  say("tried", fmt::format("{}", fmt::join(tried, " ")));
  if (facts.runs.empty()) {
    say("ended", "it did not start");
    return lines;
  }
  const RankSpec rank = FirstRank(facts);
  std::vector<std::string> words;
  for (const std::string& word : rank.argv) words.push_back(QuoteShellWord(word));
  say("ran", fmt::format("{}", fmt::join(words, " ")));
  say("in", rank.cwd);
  say("ended", EndText(facts));
  const Seen seen = LookAt(facts);
  say("metric", MetricText(facts, seen, odd));
  say("fields", FieldsText(seen));
  say("steps", seen.steps.empty() ? "" : SpacingText(seen.steps));
  say("stops by", TimeAttrText(facts, seen));
  say("time", PaceText(seen));
  const int64_t memory = facts.runs.back().peak_memory;
  say("memory", memory == 0 ? "" : SizeToText(memory) + " at its peak, on the host");
  say("devices",
      device_memory == 0 ? ""
                         : SizeToText(device_memory) + " at its peak, as was seen");
  say("checkpoints", CheckpointText(facts));
  say("stop", StopText(facts));
  say("note", OddText(odd));
  return lines;
}

}  // namespace hyperopt
