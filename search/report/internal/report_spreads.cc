#include "search/report/internal/report_spreads.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "search/report_time.h"
#include "trial/errors.h"
#include "trial/json.h"

namespace hyperopt::internal {
namespace {

constexpr size_t kTrialsLookedAt = 4;    // from either end
constexpr size_t kReportsLookedAt = 20;  // of each, from either end

bool Has(const std::vector<std::string>& seen, const std::string& name) {
  return std::ranges::find(seen, name) != seen.end();
}

std::string FirstSeen(const std::vector<std::string>& seen,
                      std::initializer_list<std::string> names) {
  for (const std::string& name : names) {
    if (Has(seen, name)) return name;
  }
  return "";
}

// "loss_mean" and "mean_loss" are means of "loss".
std::string WithoutMean(const std::string& metric) {
  if (metric.ends_with("_mean")) return metric.substr(0, metric.size() - 5);
  if (metric.starts_with("mean_")) return metric.substr(5);
  return metric;
}

// The same metric on test data: "test_loss", "test.price.rmse", "test/loss".
std::string TestField(const std::string& metric, const std::vector<std::string>& seen) {
  for (const std::string& name : {metric, WithoutMean(metric)}) {
    for (const char* word :
         {"validation", "valid", "val", "eval", "dev", "overall", "cv"}) {
      const size_t size = std::string_view(word).size();
      if (!name.starts_with(word) || name.size() <= size) continue;
      const std::string test = "test" + name.substr(size);
      if (std::string("._/-").find(name[size]) != std::string::npos &&
          Has(seen, test)) {
        return test;
      }
    }
    std::string found = FirstSeen(
        seen, {"test_" + name, "test." + name, "test/" + name, name + "_test"});
    if (!found.empty() && found != metric) return found;
  }
  return "";
}

void AddFields(std::span<const ReportRow> reports, std::set<std::string>* seen) {
  for (size_t i = 0; i < reports.size(); ++i) {
    if (i >= kReportsLookedAt && i + kReportsLookedAt < reports.size()) continue;
    try {
      const OrderedJson values = ParseJson(reports[i].values);
      for (const auto& [name, value] : values.items()) seen->insert(name);
    } catch (const ConfigError&) {
    }
  }
}

// Most reports do not have it, and are not parsed.
std::optional<double> Field(const ReportRow& report, const std::string& name) {
  if (name.empty() || report.values.find(name) == std::string::npos) {
    return std::nullopt;
  }
  return FieldOf(report.values, name);
}

void TakeFolds(std::span<const ReportRow> reports,
               const SpreadFields& fields,
               const SearchConfig& config,
               TrialSpread* spread) {
  std::map<double, double> by_fold;
  for (const ReportRow& report : reports) {
    const std::optional<double> fold = Field(report, fields.fold);
    const std::optional<double> value = Field(report, fields.of_fold);
    if (!fold || !value || std::isnan(*fold)) continue;
    const auto [known, is_new] = by_fold.emplace(*fold, *value);
    const bool better =
        Better(config.goal, Objective::Of(*value), Objective::Of(known->second));
    if (config.value == ValueRule::kLast || better) known->second = *value;
  }
  for (const auto& [fold, value] : by_fold) {
    if (std::isfinite(value)) spread->folds.push_back(value);
  }
  if (spread->folds.empty()) return;
  const auto n = static_cast<double>(spread->folds.size());
  double mean = 0, square = 0;
  for (const double value : spread->folds) mean += value / n;
  for (const double value : spread->folds) square += (value - mean) * (value - mean);
  if (!std::isfinite(mean)) return;
  spread->mean = mean;
  const double error = std::sqrt(square / (n - 1) / n);
  if (n > 1 && std::isfinite(error)) spread->error = error;
}

std::optional<double> Finite(std::optional<double> value) {
  return value && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace

SpreadFields SpreadFieldsFor(const std::string& metric,
                             const std::vector<std::string>& seen) {
  SpreadFields fields;
  fields.test = TestField(metric, seen);
  const std::string plain = WithoutMean(metric);
  if (Has(seen, "fold")) {
    fields.fold = "fold";
    fields.of_fold = FirstSeen(seen, {"fold_" + plain, plain, metric});
    if (fields.of_fold.empty()) fields.fold.clear();
  }
  if (!fields.fold.empty()) return fields;
  fields.deviation = FirstSeen(seen, {plain + "_std", "std_" + plain});
  if (fields.deviation.empty()) return fields;
  fields.mean = FirstSeen(seen, {plain + "_mean", "mean_" + plain, metric});
  if (fields.mean.empty()) fields.deviation.clear();
  return fields;
}

SpreadFields FindSpreadFields(const TrialStore& store,
                              std::span<const TrialRow> trials,
                              const std::string& metric) {
  std::vector<TrialId> with_reports;
  for (const TrialRow& row : trials) {
    if (row.reports > 0) with_reports.push_back(row.id);
  }
  std::set<std::string> seen;
  for (size_t i = 0; i < with_reports.size(); ++i) {
    if (i >= kTrialsLookedAt && i + kTrialsLookedAt < with_reports.size()) continue;
    AddFields(store.LoadReports(with_reports[i]), &seen);
  }
  return SpreadFieldsFor(metric, {seen.begin(), seen.end()});
}

TrialSpread SpreadOf(std::span<const ReportRow> reports,
                     const SpreadFields& fields,
                     const SearchConfig& config,
                     int64_t step) {
  TrialSpread spread;
  if (!fields.fold.empty()) TakeFolds(reports, fields, config, &spread);
  for (const ReportRow& report : reports) {
    if (!fields.deviation.empty() && report.step <= step) {
      const auto mean = Finite(Field(report, fields.mean));
      if (mean) {
        spread.mean = mean;
        spread.error = Finite(Field(report, fields.deviation));
      }
    }
    if (const auto test = Field(report, fields.test)) spread.test = Finite(test);
  }
  return spread;
}

}  // namespace hyperopt::internal
