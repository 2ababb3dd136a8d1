// A Gaussian process over rows with given hyperparameters. Notation (n observations, d
// axes; equations are numbered for the tests and for gp_model.cc):
//
//   (1) r^2  = sum over number axes of ((x_j - x'_j) / l_j)^2
//   (2) k    = s2 (1 + sqrt5 r + 5/3 r^2) exp(-sqrt5 r)
//              prod over categorical axes of exp(-[x_j != x'_j] / l_j)
//   (3) K    = k + c + noise I,  with c = kMeanVariance for an unknown constant mean
//   (4) log p(y) = -1/2 y' K^-1 y - sum log L_ii - n/2 log 2 pi,  K = L L'
//   (5) mean(x) = (k_x + c)' K^-1 y,   variance(x) = s2 + c - |L^-1 (k_x + c)|^2
//
// theta = (log l_1 .. log l_d, log s2, log noise), and where the inputs are warped
// first (input_warp.h) log a and log b of each number axis in turn.
#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "samplers/internal/encoded.h"
#include "samplers/internal/input_warp.h"

namespace hyperopt::internal {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

constexpr double kMeanVariance = 0.25;
constexpr double kLeastNoise = 1e-6;

// log p(y | theta) of fixed rows, for many theta.
class GpLikelihood {
 public:
  // REQUIRES: as many y as rows, at least one.
  GpLikelihood(const Encoding& encoding,
               std::span<const Row> rows,
               std::span<const double> y);

  // -infinity where K can not be factored. `gradient`, where given, is by theta.
  double At(const Vector& theta, Vector* gradient = nullptr) const;

 private:
  // By pair i > j and axis: (x_i - x_j)^2, or whether they differ.
  Matrix SquaresOf(const Matrix& rows) const;
  // `by_square` is what log p changes by with each pair's r^2.
  void AddWarpGradient(const InputWarp& warp,
                       const Vector& inverse,
                       const Eigen::ArrayXd& by_square,
                       Vector* gradient) const;

  const Encoding& encoding_;
  size_t axes_;
  std::vector<bool> categorical_;
  Vector y_;
  Matrix rows_;     // row by axis
  Matrix squares_;  // of rows_ as they are
};

// What theta says of the inputs.
InputWarp WarpOf(const Encoding& encoding, const Vector& theta);

class GpModel {
 public:
  // REQUIRES: as many y as rows, at least one; GpLikelihood::At(theta) is finite.
  GpModel(const Encoding& encoding,
          std::span<const Row> rows,
          std::span<const double> y,
          const Vector& theta);

  // Latent, without noise: one entry a row; variances are positive.
  void Predict(std::span<const Row> rows, Vector* mean, Vector* variance) const;
  // Only the means, which take no factor.
  Vector Means(std::span<const Row> rows) const;
  // At one row, with the gradients by its coordinates (0 on categorical axes).
  void Predict(const Row& row,
               double* mean,
               double* variance,
               Vector* mean_gradient,
               Vector* variance_gradient) const;
  // At the model's own rows, those believed at the end.
  Vector OwnMeans() const;
  // The standard deviation of an observation about the latent value.
  double noise_sd() const;
  // The least of them.
  double LeastMean() const;
  // A kriging believer: as if `row` had been observed with the mean there.
  void Believe(const Row& row);

 private:
  void Factor();
  // (k_x + c) of each row, a column each.
  Matrix Cross(std::span<const Row> rows) const;
  double Kernel(const double* a, const double* b, double* slope) const;

  size_t axes_;
  std::vector<bool> categorical_;
  InputWarp warp_;
  Vector inverse_;  // 1 / l^2, or 1 / l on categorical axes
  double scale_, noise_;
  Matrix rows_;  // axis by row, warped
  Vector y_;
  Matrix factor_;  // L, lower
  Vector alpha_;   // K^-1 y
};

}  // namespace hyperopt::internal
