// Reports: what a trial says, recorded once and judged once.
#include <cmath>

#include "search/controller.h"
#include "search/objectives.h"
#include "search/report_time.h"
#include "trial/failpoint.h"
#include "trial/json.h"
#include "trial/param_value.h"

namespace hyperopt {
namespace {

constexpr size_t kSeenNames = 20;
constexpr size_t kMostSources = 64;  // more than an executor opens

std::string ValuesText(const ReportLine& line) {
  std::string text = "{";
  for (const auto& [name, value] : line.values) {
    if (text.size() > 1) text += ",";
    text += QuoteJson(name) + ":";
    text +=
        std::isfinite(value) ? DoubleToText(value) : '"' + DoubleToText(value) + '"';
  }
  return text + "}";
}

}  // namespace

void Controller::OnMessage(const std::string& peer, const Measured& measured, Now now) {
  Member* member = fleet_.FindPeer(peer);
  if (member == nullptr || member->id != measured.id || !member->present) {
    sends_.push_back({peer, HelloAgain{}});
    return;
  }
  fleet_.Heard(member, now.steady);
  // The fence: words of an attempt that is over or superseded are dropped.
  Live* live = FindLive(measured.key);
  if (live == nullptr && Defective("no_fence")) {
    const auto current = live_of_.find(measured.key.trial);
    if (current != live_of_.end()) live = FindLive(current->second);
  }
  if (live == nullptr || live->row.executor != member->id) return;
  live->confirmed = live->seen_running = true;
  const std::string& name = measured.upto.source.name;
  if (!live->offsets.contains(name) && live->offsets.size() >= kMostSources) return;
  SourceOffset& have =
      live->offsets.try_emplace(name, SourceOffset{{name, 0}, 0, 0, 0}).first->second;
  const bool new_generation = measured.upto.source.generation > have.source.generation;
  if (measured.upto.source.generation < have.source.generation) return;
  const int64_t known = new_generation ? 0 : have.offset;
  if (measured.from > known) return;  // a gap: it is read again after the next answer
  for (const ReportLine& line : measured.lines) {
    if (line.end_offset > measured.upto.offset) continue;
    if (line.end_offset <= known && !Defective("no_dedup")) continue;
    TakeLine(live, measured.upto.source, line, now);
  }
  if (PlaceOf(measured.upto) <= PlaceOf(have)) return;
  have = measured.upto;
  dirty_offsets_.insert(measured.key);
  if (measured.oddities.any() && !live->odd_said) {
    live->odd_said = true;
    Log("odd line", measured.key.trial, QuoteJson(measured.oddities.first), now);
  }
  Touch(measured.key.trial);
}

void Controller::TakeLine(Live* live,
                          const SourceId& source,
                          const ReportLine& line,
                          Now now) {
  TrialRow& row = Row(live->row.key.trial);
  Open& open = open_[row.id];
  live->any_report = true;
  live->max_elapsed = std::max(live->max_elapsed, line.elapsed_s);
  open.elapsed[live->row.key.attempt] = live->max_elapsed;
  const auto value = line.values.find(metric_);
  const bool has_metric = value != line.values.end();
  const int64_t step = StepOf(*live, line, has_metric);
  live->step = step;
  if (has_metric) live->metric_step = step;
  const auto time = line.values.find(config_.scheduler.time_attr);
  if (time != line.values.end()) live->time = time->second;
  if (!config_.objectives.empty()) {
    TakeOthers(ValuesText(line), config_, &open.others);
  }
  const Objective objective =
      has_metric ? Objective::Of(value->second) : Objective::Missing();
  changes_.push_back(AddReport{{live->row.key,
                                source,
                                line.end_offset,
                                step,
                                objective,
                                ValuesText(line),
                                now.wall,
                                line.elapsed_s}});
  if (!has_metric) {
    for (const auto& [name, number] : line.values) {
      if (live->seen.size() < kSeenNames) live->seen.insert(name);
    }
    return;
  }
  ++row.reports;
  // A resumed trial may repeat the report of its checkpoint, which is counted already.
  if (step > live->launch.first_step) ++live->iterations;
  const bool ahead = open.curve.empty() || step > open.curve.last_step();
  open.curve.Add(step, live->row.key.attempt.value(), objective);
  row.last = objective;
  row.last_step = step;
  if (row.best.missing() || Better(config_.goal, objective, row.best)) {
    row.best = objective;
    row.best_step = step;
  }
  if (open.curve.TakeReplaced()) {
    const Curve::Best best = open.curve.BestOf(config_.goal);
    row.best = best.value;
    row.best_step = best.step;
  }
  NoteIncumbent(row);
  // A step that was seen before is kept and not judged; words after a stop enter no
  // rung.
  const int64_t reached = TimeOf(*live, line, step);
  if (row.stopping) {
    if (ahead) scheduler_.Observe(row.id, reached, objective);
    NoteOverrun(live);
  } else if (ahead) {
    Judge(live, reached, objective, now);
  }
}

// The metric may stand in another line than the step that it belongs to: a line without
// a step is at the one said since the metric came last, else one further than that. A
// line with neither is where the attempt is.
int64_t Controller::StepOf(const Live& live, const ReportLine& line, bool has_metric) {
  if (line.step) return *line.step;
  const bool is_new = live.step > live.metric_step;
  if (!has_metric || is_new || live.step == INT64_MAX) return live.step;
  return live.step + 1;
}

int64_t Controller::TimeOf(const Live& live,
                           const ReportLine& line,
                           int64_t step) const {
  const std::string& attr = config_.scheduler.time_attr;
  if (attr == "training_iteration") return live.iterations;
  if (attr == "step") return step;
  // As this line says, or an earlier one of the attempt did.
  if (live.time) return WholeTime(*live.time);
  if (attr != "time_total_s") return -1;
  // Earlier attempts count as far as their reports go, which is what the record holds.
  const Open& open = open_.at(live.row.key.trial);
  return WholeTime(static_cast<double>(open.clone.time) +
                   ElapsedBefore(open.elapsed, live.row.key.attempt) + line.elapsed_s);
}

void Controller::Judge(Live* live, int64_t time, const Objective& value, Now now) {
  TrialRow& row = Row(live->row.key.trial);
  Open& open = open_[row.id];
  if (time <= open.judged_time) return;
  open.judged_time = time;
  const Verdict verdict = scheduler_.OnMeasurement(row.id, time, value);
  for (const RungRow& entry : verdict.entries) changes_.push_back(PutRung{entry});
  const std::optional<int64_t> max_time = scheduler_.max_time();
  if (max_time && time >= *max_time) {
    CommitStop(live, Reason::kMaxTime, now);
  } else if (const auto reason = ReasonOf(verdict.decision)) {
    CommitStop(live, *reason, now);
  }
}

// Ranks by what the file asks for; failed trials rank nowhere.
const Objective& Controller::RankedBy(const TrialRow& row) const {
  return config_.value == ValueRule::kBest ? row.best : row.last;
}

void Controller::NoteIncumbent(const TrialRow& row) {
  if (race_) return NoteLeader();
  if (incumbent_ == row.id) {
    // Its own value may have become worse: look at all again, which is rare.
    if (!Better(config_.goal, incumbent_value_, RankedBy(row)) &&
        row.state != TrialState::kFailed) {
      incumbent_value_ = RankedBy(row);
      return;
    }
    incumbent_.reset();
    for (const TrialRow& other : rows_) NoteIncumbent(other);
    return;
  }
  if (row.state == TrialState::kFailed || !RankedBy(row).finite()) return;
  // The last value of a trial that still runs is no result yet.
  if (config_.value == ValueRule::kLast && !IsFinished(row.state)) return;
  if (incumbent_ && !Better(config_.goal, RankedBy(row), incumbent_value_)) return;
  if (incumbent_ && IsFinished(Row(*incumbent_).state)) open_.erase(*incumbent_);
  incumbent_ = row.id;
  incumbent_value_ = RankedBy(row);
}

}  // namespace hyperopt
