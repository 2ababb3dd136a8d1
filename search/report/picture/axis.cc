#include "search/report/picture/axis.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/report/picture/svg.h"

namespace hyperopt::internal {
namespace {

// 1, 2 or 5 times a power of ten.
double RoundStep(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

}  // namespace

Axis::Axis(double low, double high, bool log)
    : low_(low), high_(high), log_(log && low > 0) {
  if (low_ != high_) return;
  if (log_) {
    low_ /= 2;
    high_ *= 2;
  } else {
    const double room = std::max(1.0, std::abs(low_)) * 0.1;
    low_ -= room;
    high_ += room;
  }
}

double Axis::operator()(double value) const {
  const double share = log_ ? std::log(value / low_) / std::log(high_ / low_)
                            : (value - low_) / (high_ - low_);
  return from_ + share * (to_ - from_);
}

std::vector<Tick> Axis::Ticks(int count) const {
  std::vector<Tick> ticks;
  const auto add = [&](double value) {
    if (value < low_ - 1e-9 * std::abs(low_) ||
        value > high_ + 1e-9 * std::abs(high_)) {
      return;
    }
    ticks.push_back({value, TickText(value)});
  };
  const int first = log_ ? static_cast<int>(std::floor(std::log10(low_))) : 0;
  const int last = log_ ? static_cast<int>(std::ceil(std::log10(high_))) : 0;
  if (log_ && last - first > 2) {
    const int every = std::max(1, (last - first + count - 1) / count);
    for (int power = first; power <= last; power += every) add(std::pow(10, power));
  } else if (log_) {
    for (int power = first; power <= last; ++power) {
      for (const double factor : {1.0, 2.0, 5.0}) add(factor * std::pow(10, power));
    }
  }
  if (ticks.size() >= 2) return ticks;
  for (double wanted = count; ticks.size() < 2 && wanted < 100; wanted *= 2) {
    ticks.clear();
    const double step = RoundStep((high_ - low_) / wanted);
    for (double k = std::ceil(low_ / step - 1e-9); k * step <= high_ + step * 1e-9;
         ++k) {
      add(k == 0 ? 0.0 : k * step);
    }
  }
  return ticks;
}

std::pair<double, double> ExtentOf(std::span<const double> values) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return low <= high ? std::pair(low, high) : std::pair(0.0, 1.0);
}

bool WantsLog(std::span<const double> values) {
  std::vector<double> finite;
  for (const double value : values) {
    if (std::isfinite(value)) finite.push_back(value);
  }
  if (finite.size() < 5) return false;
  std::sort(finite.begin(), finite.end());
  return finite.front() > 0 && finite.back() / finite.front() > 100;
}

}  // namespace hyperopt::internal
