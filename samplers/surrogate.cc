#include "samplers/surrogate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "samplers/internal/encoded.h"
#include "samplers/internal/gp_fit.h"
#include "samplers/internal/gp_model.h"
#include "samplers/internal/output_warp.h"

namespace hyperopt {
namespace {

using internal::Encoding;
using internal::Observation;
using internal::Outcome;
using internal::Row;

constexpr size_t kMostWarped = 2048;
constexpr size_t kMostKnown = 256;   // trials of a model
constexpr size_t kMostFitted = 128;  // of them, those that its lengths are fitted on
constexpr double kMostSteps = 4;
// A search needs no details of what is bad; who looks at a map does.
constexpr double kMostAbove = 16;

// All that can be used, from best to worst.
std::vector<Observation> Ranked(const Encoding& encoding,
                                Goal goal,
                                std::span<const Params> params,
                                std::span<const Objective> values) {
  std::vector<Observation> ranked;
  for (size_t i = 0; i < params.size(); ++i) {
    if (!values[i].finite()) continue;
    std::optional<Row> row = encoding.ToRow(params[i]);
    if (!row) continue;
    const double value = goal == Goal::kMinimize ? values[i].value : -values[i].value;
    ranked.push_back(
        {.row = std::move(*row), .outcome = Outcome::kValue, .value = value});
  }
  std::ranges::stable_sort(ranked, {}, &Observation::value);
  return ranked;
}

// Values of one sign whose better half is of many sizes are told apart by their
// logarithms. One that diverged is no reason.
bool WantsLog(const std::vector<Observation>& ranked) {
  constexpr double kSizes = 30;
  if (ranked.front().value * ranked.back().value <= 0) return false;
  const double ratio = ranked[ranked.size() / 2].value / ranked.front().value;
  return ratio > kSizes || ratio < 1 / kSizes;
}

// The places of the first `head`, and an even sample of the others, `most` together.
std::vector<size_t> Sample(size_t size, size_t most, size_t head) {
  std::vector<size_t> places(std::min(size, most));
  std::iota(places.begin(), places.end(), size_t{0});
  if (size <= most) return places;
  for (size_t k = head; k < most; ++k) {
    places[k] = head + (k - head) * (size - head) / (most - head);
  }
  return places;
}

template <typename Item>
std::vector<Item> Picked(const std::vector<Item>& items,
                         const std::vector<size_t>& places) {
  std::vector<Item> picked;
  for (size_t place : places) picked.push_back(items[place]);
  return picked;
}

// From the outputs of the model back to what was warped: straight lines between the
// trials.
class Unwarp {
 public:
  // Both ascending.
  Unwarp(const std::vector<double>& warped, const std::vector<double>& values) {
    for (size_t i = 0; i < warped.size(); ++i) {
      if (!warped_.empty() && warped[i] <= warped_.back()) continue;
      warped_.push_back(warped[i]);
      values_.push_back(values[i]);
    }
    if (warped_.size() < 2) return;
    const size_t last = warped_.size() - 1, middle = (last + 1) / 2;
    slope_ = (values_[middle] / 4 - values_[0] / 4) / (warped_[middle] - warped_[0]);
    if (last < 2) return;
    // What is as bad as it counts may be a divergence of 1e300: on the map it is no
    // further from the one before it than the others are apart.
    const double before =
        (values_[last - 1] / 4 - values_[0] / 4) / (warped_[last - 1] - warped_[0]);
    const double most = values_[last - 1] +
                        4 * kMostSteps * before * (warped_[last] - warped_[last - 1]);
    values_[last] = std::min(values_[last], most);
  }

  double operator()(double y) const {
    if (y >= warped_.back()) return values_.back();
    if (y <= warped_.front()) {
      // As far beyond the best as the better half is spread.
      const double value = values_[0] - 4 * slope_ * (warped_[0] - y);
      return std::isfinite(value) ? value : values_[0];
    }
    const auto above = std::ranges::upper_bound(warped_, y);
    const auto i = static_cast<size_t>(above - warped_.begin());
    const double t = (y - warped_[i - 1]) / (warped_[i] - warped_[i - 1]);
    return (1 - t) * values_[i - 1] + t * values_[i];
  }

 private:
  std::vector<double> warped_, values_;
  double slope_ = 0;  // a quarter of it: a difference may be infinite
};

}  // namespace

// How values are put to the model: to be minimised, or the logarithm of that.
struct Scale {
  bool minimize = true;
  bool log = false;
  double sign = 0;  // of all values, as they are minimised; 0 where they have both

  double In(double value) const { return log ? sign * std::log(sign * value) : value; }
  double Out(double y) const {
    const double value = log ? sign * std::exp(sign * y) : y;
    // No loss is expected to be below zero where none was.
    const double kept = sign * value < 0 ? 0 : value;
    return minimize ? kept : -kept;
  }
};

struct Surrogate::Data {
  SearchSpace space;
  Encoding encoding;
  Scale scale;
  Unwarp unwarp;
  internal::GpModel model;

  double Value(double output) const { return scale.Out(unwarp(output)); }

  std::optional<size_t> AxisOf(size_t parameter) const;
  // Empty where `at` does not fit the space.
  std::vector<Row> RowsAround(const Params& at,
                              std::span<const Variation> varied) const;
};

std::optional<size_t> Surrogate::Data::AxisOf(size_t parameter) const {
  const auto axes = encoding.axes();
  const auto found = std::ranges::find(axes, parameter, &internal::Axis::parameter);
  if (found == axes.end()) return std::nullopt;
  return static_cast<size_t>(found - axes.begin());
}

std::vector<Row> Surrogate::Data::RowsAround(const Params& at,
                                             std::span<const Variation> varied) const {
  std::vector<Row> rows;
  Params params = at;
  for (const Variation& variation : varied) {
    assert(!variation.values.empty());
    params[space.parameters()[variation.parameter].name] = variation.values[0];
  }
  if (auto row = encoding.ToRow(params)) rows.push_back(*std::move(row));
  if (rows.empty()) return rows;
  for (const Variation& variation : varied) {
    const size_t axis = AxisOf(variation.parameter).value();
    ParamValue& value = params[space.parameters()[variation.parameter].name];
    const std::vector<Row> before = rows;
    rows.clear();
    for (const ParamValue& each : variation.values) {
      value = each;
      const std::optional<Row> with = encoding.ToRow(params);
      if (!with) return {};
      for (const Row& row : before) {
        rows.push_back(row);
        rows.back()[axis] = (*with)[axis];
      }
    }
  }
  return rows;
}

Surrogate::Surrogate(const SearchSpace& space,
                     Goal goal,
                     std::span<const Params> params,
                     std::span<const Objective> values) {
  assert(params.size() == values.size());
  Encoding encoding(space);
  std::vector<Observation> ranked = Ranked(encoding, goal, params, values);
  usable_ = std::ssize(ranked);
  if (encoding.size() == 0) {
    why_ = "No parameter has more than one value.";
  } else if (usable_ < kLeastTrialsForSurrogate) {
    why_ = fmt::format("Too few trials have a value: {} of the {} it takes.",
                       usable_,
                       kLeastTrialsForSurrogate);
  } else if (ranked.front().value == ranked.back().value) {
    why_ = "All trials with a value are equally good.";
  }
  if (!why_.empty()) return;
  Scale scale{goal == Goal::kMinimize, WantsLog(ranked)};
  scale.sign = ranked.front().value > 0 ? 1 : ranked.back().value < 0 ? -1 : 0;
  for (Observation& each : ranked) each.value = scale.In(each.value);
  // Before the good ones are picked: the spread that counts is not theirs.
  ranked = Picked(ranked, Sample(ranked.size(), kMostWarped, kMostKnown / 2));
  const std::vector<double> warped = internal::WarpOutputs(ranked, kMostAbove);
  std::vector<Row> rows;
  std::vector<double> y, plain;
  for (const Observation& each : ranked) plain.push_back(each.value);
  for (const size_t place : Sample(ranked.size(), kMostKnown, kMostKnown / 2)) {
    rows.push_back(std::move(ranked[place].row));
    y.push_back(warped[place]);
  }
  used_ = std::ssize(rows);
  const std::vector<size_t> fitted = Sample(rows.size(), kMostFitted, kMostFitted / 2);
  const internal::GpLikelihood likelihood(
      encoding, Picked(rows, fitted), Picked(y, fitted));
  const internal::Vector theta =
      internal::MostLikelyTheta(likelihood, internal::PriorOf(encoding));
  internal::GpModel model(encoding, rows, y, theta);
  data_ = std::make_unique<Data>(
      Data{space, std::move(encoding), scale, Unwarp(warped, plain), std::move(model)});
}

Surrogate::~Surrogate() = default;
Surrogate::Surrogate(Surrogate&&) noexcept = default;
Surrogate& Surrogate::operator=(Surrogate&&) noexcept = default;

bool Surrogate::Knows(size_t parameter) const {
  return data_->AxisOf(parameter).has_value();
}

std::vector<Estimate> Surrogate::Around(const Params& at,
                                        std::span<const Variation> varied) const {
  const std::vector<Row> rows = data_->RowsAround(at, varied);
  std::vector<Estimate> estimates;
  if (rows.empty()) return estimates;
  internal::Vector mean, variance;
  data_->model.Predict(rows, &mean, &variance);
  for (Eigen::Index i = 0; i < mean.size(); ++i) {
    const double sd = std::sqrt(variance[i]);
    Estimate estimate{
        data_->Value(mean[i]), data_->Value(mean[i] - sd), data_->Value(mean[i] + sd)};
    if (estimate.low > estimate.high) std::swap(estimate.low, estimate.high);
    estimates.push_back(estimate);
  }
  return estimates;
}

std::vector<double> Surrogate::Middles(const Params& at,
                                       std::span<const Variation> varied) const {
  const std::vector<Row> rows = data_->RowsAround(at, varied);
  std::vector<double> middles;
  if (rows.empty()) return middles;
  for (const double mean : data_->model.Means(rows)) {
    middles.push_back(data_->Value(mean));
  }
  return middles;
}

}  // namespace hyperopt
