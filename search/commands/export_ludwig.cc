// Ludwig's hyperopt_statistics.json: best first, failed trials left out.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "search/commands/export.h"
#include "search/commands/export_common.h"
#include "search/status.h"
#include "trial/errors.h"
#include "trial/json.h"

namespace hyperopt {
namespace {

using SortedJson = nlohmann::json;  // Ludwig writes its keys in order

struct Split {
  const char* field;   // as the built-in trainer reports it
  const char* ludwig;  // as Ludwig calls it
};
constexpr std::array<Split, 3> kSplits{
    {{"train", "training"}, {"validation", "validation"}, {"test", "test"}}};

// Where a reported field belongs. The trainer's say split and feature; a command's own
// are of the file's split and output feature.
struct Place {
  std::string split, feature, metric;
};
Place PlaceOf(const std::string& field, const SearchConfig& config) {
  const size_t first = field.find('.');
  const size_t last = field.rfind('.');
  if (first != std::string::npos && last > first) {
    for (const Split& split : kSplits) {
      if (field.compare(0, first, split.field) != 0) continue;
      return {split.ludwig,
              field.substr(first + 1, last - first - 1),
              field.substr(last + 1)};
    }
  }
  return {config.split == "train" ? "training" : config.split,
          config.output_feature,
          field};
}

SortedJson FieldsOf(const ReportRow& report) {
  SortedJson fields = SortedJson::parse(report.values, nullptr, false);
  return fields.is_object() ? fields : SortedJson::object();
}

// A curve takes for each step the highest attempt's value.
std::vector<const ReportRow*> CurveOf(const std::vector<ReportRow>& reports) {
  std::vector<const ReportRow*> curve;
  for (const ReportRow& report : reports) {
    if (report.objective.missing()) continue;
    while (!curve.empty() && curve.back()->step >= report.step &&
           curve.back()->key.attempt < report.key.attempt) {
      curve.pop_back();
    }
    curve.push_back(&report);
  }
  return curve;
}

SortedJson TrainingStats(const std::vector<const ReportRow*>& curve,
                         const SearchConfig& config) {
  SortedJson stats = {{"training", SortedJson::object()},
                      {"validation", SortedJson::object()},
                      {"test", SortedJson::object()}};
  for (const ReportRow* report : curve) {
    const SortedJson fields = FieldsOf(*report);
    for (const auto& [field, value] : fields.items()) {
      const Place place = PlaceOf(field, config);
      // The trainer repeats its main values under their plain names.
      if (config.command.empty() && field.find('.') == std::string::npos) continue;
      stats[place.split][place.feature][place.metric].push_back(value);
    }
  }
  return stats;
}

// The best report's values of the test rows, else of the validation rows.
SortedJson EvalStats(const std::vector<const ReportRow*>& curve,
                     int64_t best_step,
                     const SearchConfig& config) {
  std::map<std::string, SortedJson> by_split;
  for (const ReportRow* report : curve) {
    if (report->step != best_step) continue;
    const SortedJson fields = FieldsOf(*report);
    for (const auto& [field, value] : fields.items()) {
      if (config.command.empty() && field.find('.') == std::string::npos) continue;
      const Place place = PlaceOf(field, config);
      by_split[place.split][place.feature][place.metric] = value;
    }
  }
  for (const char* split : {"test", "validation", "training"}) {
    if (by_split.contains(split)) return by_split[split];
  }
  return SortedJson::object();
}

SortedJson HyperoptSection(const SweepRow& row) {
  const SortedJson resolved = SortedJson::parse(row.resolved, nullptr, false);
  if (!resolved.is_object() || !resolved.contains("hyperopt")) {
    return SortedJson::object();
  }
  return resolved["hyperopt"];
}

}  // namespace

void ExportLudwig(const RecordedSweep& sweep, const TextSink& sink) {
  struct Result {
    Objective score;
    SortedJson json;
  };
  const SearchConfig& config = sweep.config;
  std::vector<Result> results;
  ForEachTrial(sweep, [&](const TrialRecord& trial) {
    const TrialRow& row = *trial.row;
    const bool told = row.state != TrialState::kFailed && row.reports > 0;
    if (!told) return;
    const BestSoFar best = BestOf(row, config.value);
    const std::vector<ReportRow> reports = sweep.store->LoadReports(row.id);
    const std::vector<const ReportRow*> curve = CurveOf(reports);
    const double score = best.value.AsDouble();
    results.push_back(
        {best.value,
         {{"parameters", SortedJson::parse(ToJsonText(trial.params))},
          {"metric_score",
           best.value.finite() ? SortedJson(score) : SortedJson(DoubleToText(score))},
          {"training_stats", TrainingStats(curve, config)},
          {"eval_stats", EvalStats(curve, best.step, config)}}});
  });
  std::stable_sort(
      results.begin(), results.end(), [&](const Result& a, const Result& b) {
        return Better(sweep.record.sweep.goal, a.score, b.score);
      });
  SortedJson list = SortedJson::array();
  for (Result& result : results) list.push_back(std::move(result.json));
  const SortedJson whole = {{"hyperopt_config", HyperoptSection(sweep.record.sweep)},
                            {"hyperopt_results", std::move(list)}};
  sink(whole.dump(4, ' ', false, SortedJson::error_handler_t::replace));
  sink("\n");
}

}  // namespace hyperopt
