// An axis of a picture: numbers to places, and where its ticks are.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hyperopt::internal {

struct Tick {
  double value = 0;
  std::string text;
};

// From [low, high] to the pixels [from, to]; log where asked and low > 0. Ends that are
// equal are moved apart.
class Axis {
 public:
  Axis(double low, double high, bool log);

  void Stretch(double from, double to) { from_ = from, to_ = to; }
  double operator()(double value) const;
  // About `count` of them, at round numbers.
  std::vector<Tick> Ticks(int count) const;
  bool log() const { return log_; }

 private:
  double low_, high_;
  bool log_;
  double from_ = 0, to_ = 1;
};

// The least and the greatest finite number; {0, 1} where there is none.
std::pair<double, double> ExtentOf(std::span<const double> values);
// Positive, and so far apart that most would lie in one place.
bool WantsLog(std::span<const double> values);

}  // namespace hyperopt::internal
