// What is good: hyperopt.goal, metric, output_feature, split and value.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "search/internal/config/readers.h"
#include "trial/text.h"

namespace hyperopt::internal {
namespace {

void ReadGoal(Section& hyperopt, Reading& reading) {
  const Value* goal = hyperopt.Take("goal");
  if (goal == nullptr) return;
  if (goal->text == "min" || goal->text == "max") {
    hyperopt.Fail("goal", fmt::format("write {}imize", goal->text));
    return;
  }
  const auto text = hyperopt.Choice("goal", {"minimize", "maximize"});
  if (text == "maximize") reading.config.goal = Goal::kMaximize;
}

void ReadSplit(Section& hyperopt, Reading& reading) {
  const Value* split = hyperopt.Take("split");
  if (split == nullptr) return;
  if (split->is_string() && split->text == "training") {
    reading.problems.Note("hyperopt.split: training is read as train");
    reading.config.split = "train";
    return;
  }
  if (const auto text = hyperopt.Choice("split", {"train", "validation", "test"})) {
    reading.config.split = *text;
  }
}

// `validation.combined.loss`, as Ludwig's own Optuna example has it.
std::optional<std::string> MetricInOneWord(const std::string& metric) {
  const size_t first = metric.find('.');
  const size_t last = metric.rfind('.');
  if (first == metric.npos || first == last) return std::nullopt;
  return fmt::format(
      "split, feature and metric are three keys: metric: {}, output_feature: {}, "
      "split: "
      "{}",
      metric.substr(last + 1),
      metric.substr(first + 1, last - first - 1),
      metric.substr(0, first));
}

void CheckOutputFeature(Section& hyperopt, Reading& reading) {
  const SearchConfig& config = reading.config;
  const auto features = FeatureNames(reading.root, "output_features");
  const bool combined = config.output_feature == "combined";
  if (combined && config.metric != "loss") {
    std::string way_out = "name the output feature that it is measured on";
    if (!features.empty()) way_out = "write output_feature: " + features[0];
    hyperopt.Fail(
        "metric",
        fmt::format("the combined output feature has only the metric loss, not "
                    "{}; {}",
                    config.metric,
                    way_out));
  }
  if (combined || features.empty()) return;
  if (std::ranges::find(features, config.output_feature) != features.end()) return;
  const auto near = NearestName(config.output_feature, features);
  hyperopt.Fail("output_feature",
                fmt::format("no output feature {}; {}",
                            config.output_feature,
                            near ? fmt::format("did you mean {}?", *near)
                                 : fmt::format("there are combined, {}",
                                               fmt::join(features, ", "))));
}

// A split that gets no rows would fail every trial at its end.
void CheckSplitHasRows(Section& hyperopt, Reading& reading) {
  const Value* preprocessing = reading.root.Find("preprocessing");
  const Value* split =
      preprocessing == nullptr ? nullptr : preprocessing->Find("split");
  const Value* parts = split == nullptr ? nullptr : split->Find("probabilities");
  if (parts == nullptr || parts->items.size() != 3) return;
  const SearchConfig& config = reading.config;
  const size_t index =
      config.split == "train" ? 0 : (config.split == "validation" ? 1 : 2);
  const auto share = AsNumber(parts->items[index]);
  if (!share || *share > 0) return;
  hyperopt.Fail(
      "split",
      fmt::format("{} gets no rows: preprocessing.split.probabilities gives it "
                  "{}",
                  config.split,
                  parts->items[index].text));
}

void NoteDirection(Reading& reading) {
  constexpr std::array<std::string_view, 7> kLargerIsBetter = {
      "accuracy", "roc_auc", "r2", "precision", "recall", "specificity", "hits_at_k"};
  const SearchConfig& config = reading.config;
  const bool larger =
      std::ranges::find(kLargerIsBetter, config.metric) != kLargerIsBetter.end();
  if (larger && config.goal == Goal::kMinimize) {
    reading.problems.Note(
        fmt::format("hyperopt.goal is minimize, and {} is better when it is larger: "
                    "goal: maximize?",
                    config.metric));
  }
}

std::optional<OtherObjective> ReadOne(const Value& value,
                                      const std::string& path,
                                      Reading& reading) {
  Section section(&value, path, reading.problems);
  OtherObjective objective;
  const auto metric = section.Text("metric");
  if (!metric) {
    if (!section.Has("metric")) section.Fail("metric", "is missing");
    return std::nullopt;
  }
  objective.metric = *metric;
  if (const auto goal = section.Choice("goal", {"minimize", "maximize"})) {
    if (goal == "maximize") objective.goal = Goal::kMaximize;
  } else if (!section.Has("goal")) {
    section.Fail("goal", "is missing: minimize or maximize");
  }
  section.Finish();
  return objective;
}

// The first takes the place of goal and metric.
void ReadObjectives(Section& hyperopt, Reading& reading) {
  constexpr char kKey[] = "objectives";
  constexpr size_t kMost = 4;
  const Value* given = hyperopt.Take(kKey);
  if (given == nullptr) return;
  if (!reading.has_command) {
    hyperopt.Fail(kKey,
                  "several objectives need `command`: the built-in trainer has one "
                  "metric");
    return;
  }
  if (!given->is_list() || given->items.size() < 2 || given->items.size() > kMost) {
    hyperopt.Fail(kKey,
                  fmt::format("must be a list of 2 to {}, as in [{{metric: loss, goal: "
                              "minimize}}, {{metric: latency, goal: minimize}}]",
                              kMost));
    return;
  }
  for (const char* key : {"metric", "goal", "value"}) {
    hyperopt.Refuse(key,
                    "stands in `objectives`, whose values are the last ones: leave "
                    "it out here");
  }
  std::vector<OtherObjective> objectives;
  for (size_t i = 0; i < given->items.size(); ++i) {
    const std::string path = fmt::format("{}.{}", hyperopt.PathOf(kKey), i);
    auto objective = ReadOne(given->items[i], path, reading);
    if (!objective) return;
    if (std::ranges::find(objectives, objective->metric, &OtherObjective::metric) !=
        objectives.end()) {
      reading.problems.Add(given->items[i].place, path, "names a metric that is there");
    }
    objectives.push_back(*std::move(objective));
  }
  SearchConfig& config = reading.config;
  config.metric = objectives.front().metric;
  config.goal = objectives.front().goal;
  config.value = ValueRule::kLast;
  config.objectives.assign(objectives.begin() + 1, objectives.end());
  for (const OtherObjective& each : config.objectives) {
    config.sampler.other_goals.push_back(each.goal);
  }
}

void ReadMetric(Section& hyperopt, Reading& reading) {
  SearchConfig& config = reading.config;
  const auto metric = hyperopt.Text("metric");
  if (metric) config.metric = *metric;
  if (reading.has_command) {
    if (!hyperopt.Has("metric") && !hyperopt.Has("objectives")) {
      hyperopt.Fail("metric",
                    "is missing: the field of the report lines that says how good a "
                    "trial is, such as loss");
    }
    for (const char* key : {"output_feature", "split"}) {
      if (!hyperopt.Has(key)) continue;
      reading.problems.Note(fmt::format(
          "hyperopt.{} has no use with `command`: the metric is a report field", key));
    }
    return;
  }
  if (!metric) {
    config.metric = "loss";
    if (hyperopt.Has("metric")) return;
  }
  if (const auto problem = MetricInOneWord(config.metric)) {
    hyperopt.Fail("metric", *problem);
    return;
  }
  CheckOutputFeature(hyperopt, reading);
  CheckSplitHasRows(hyperopt, reading);
  NoteDirection(reading);
}

constexpr int64_t kMostRepeats = 1000;

}  // namespace

void ReadRepeats(Section& hyperopt, Reading& reading) {
  constexpr char kKey[] = "repeats";
  const auto repeats = hyperopt.Int(kKey, 1, kMostRepeats);
  if (!repeats) return;
  SearchConfig& config = reading.config;
  config.repeats = *repeats;
  if (*repeats == 1) return;
  if (!config.objectives.empty()) {
    hyperopt.Fail(kKey,
                  "ranks configurations by the mean of one metric, and here are "
                  "several objectives: leave one of the two out");
  }
  if (config.scheduler.pieces()) {
    hyperopt.Fail(
        kKey,
        fmt::format("goes by trials that run to their end, and with {} they wait: take "
                    "asha with mode stopping, or leave one of the two out",
                    config.scheduler.promotion ? "asha's mode promotion" : "pbt"));
  }
}

void ReadObjective(Section& hyperopt, Reading& reading) {
  ReadGoal(hyperopt, reading);
  ReadSplit(hyperopt, reading);
  if (const auto feature = hyperopt.Text("output_feature")) {
    reading.config.output_feature = *feature;
  }
  if (const auto value = hyperopt.Choice("value", {"best", "last"}); value == "last") {
    reading.config.value = ValueRule::kLast;
  }
  ReadMetric(hyperopt, reading);
  ReadObjectives(hyperopt, reading);
  for (const char* key : {"eval_split", "validation_metrics"}) {
    if (!hyperopt.Has(key)) continue;
    reading.problems.Note(
        fmt::format("hyperopt.{} has no effect, as in Ludwig; hyperopt.split says what "
                    "the metric is measured on",
                    key));
  }
}

}  // namespace hyperopt::internal
