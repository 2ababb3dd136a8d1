// Where along an axis things change: a learning rate searched on a plain scale matters
// in its first hundredth. Each number axis is bent by Kumaraswamy's distribution
// function, whose two parameters are hyperparameters of the model (Snoek, Swersky,
// Zemel, Adams 2014):
//
//   w(x) = 1 - (1 - x^a)^b      from [0, 1] onto [0, 1], a = b = 1 leaves all as it is
//
// x is kept kWarpMargin away from both ends, where slopes may be infinite.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "samplers/internal/encoded.h"

namespace hyperopt::internal {

constexpr double kWarpMargin = 1e-6;

struct AxisWarp {
  double a = 1, b = 1;

  bool bends() const { return a != 1 || b != 1; }
  double At(double x) const;
  // Its inverse.
  double Back(double u) const;
  double Slope(double x) const;   // by x; > 0
  double ByLogA(double x) const;  // d w / d log a
  double ByLogB(double x) const;
};

// One an axis; those of categorical axes bend nothing.
class InputWarp {
 public:
  // Bends nothing.
  explicit InputWarp(size_t axes) : axes_(axes) {}
  // `logs` are (log a, log b) of each number axis in turn.
  InputWarp(const Encoding& encoding, const Eigen::Ref<const Eigen::VectorXd>& logs);

  const AxisWarp& axis(size_t j) const { return axes_[j]; }
  Row At(const Row& row) const;
  // The row at a place of the warped cube.
  Row Back(const Row& warped) const;
  bool bends() const;

 private:
  std::vector<AxisWarp> axes_;
};

// How many logs a warp of these axes has.
Eigen::Index WarpLogs(const Encoding& encoding);

}  // namespace hyperopt::internal
