// What a trial's metric came to over the folds of a cross-validation, and on data that
// were kept apart, where its reports say so.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "search/config.h"
#include "trial/record.h"
#include "trial/store.h"

namespace hyperopt::internal {

// Which fields of the reports say it; "" where none does.
struct SpreadFields {
  std::string fold;       // the number of the fold that a report is of: "fold"
  std::string of_fold;    // the metric in one fold: "fold_loss", or the metric itself
  std::string mean;       // a mean over folds made by the trial: "loss_mean", "loss"
  std::string deviation;  // the standard deviation beside it: "loss_std"
  std::string test;       // "test_loss" beside "val_loss" or "loss"

  bool any() const { return !fold.empty() || !deviation.empty() || !test.empty(); }
};

// What `seen`, names of fields, means for the metric (docs/manual.md, "Folds").
SpreadFields SpreadFieldsFor(const std::string& metric,
                             const std::vector<std::string>& seen);

// Looks at some reports of a few trials.
SpreadFields FindSpreadFields(const TrialStore& store,
                              std::span<const TrialRow> trials,
                              const std::string& metric);

struct TrialSpread {
  std::optional<double> mean;
  std::optional<double> error;  // of the mean: standard error, or the deviation told
  std::vector<double> folds;    // finite ones, in the order of their numbers
  std::optional<double> test;

  bool any() const { return mean || test; }
};

// Of one trial's reports. With folds the mean is over what each fold ended with, or
// with `value: best` over the best of each. `step` is that of the ranked value: a mean
// that the trial made is taken from there.
TrialSpread SpreadOf(std::span<const ReportRow> reports,
                     const SpreadFields& fields,
                     const SearchConfig& config,
                     int64_t step);

}  // namespace hyperopt::internal
