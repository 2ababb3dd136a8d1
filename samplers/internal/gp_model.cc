#include "samplers/internal/gp_model.h"

#include <Eigen/Cholesky>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>

namespace hyperopt::internal {
namespace {

constexpr auto kLower = Eigen::Lower;
const double kRootFive = std::sqrt(5.0);
const double kLogTwoPi = std::log(2 * std::numbers::pi);

std::vector<bool> Categorical(const Encoding& encoding) {
  std::vector<bool> result;
  for (const Axis& axis : encoding.axes()) {
    result.push_back(axis.kind == AxisKind::kCategorical);
  }
  return result;
}

// 1 / l^2 of number axes, 1 / l of categorical ones: what `squares` are multiplied by.
Vector InverseLengths(const std::vector<bool>& categorical, const Vector& theta) {
  Vector inverse(static_cast<Eigen::Index>(categorical.size()));
  for (Eigen::Index j = 0; j < inverse.size(); ++j) {
    const bool category = categorical[static_cast<size_t>(j)];
    inverse[j] = std::exp(category ? -theta[j] : -2 * theta[j]);
  }
  return inverse;
}

// Axis by row.
Matrix AsMatrix(std::span<const Row> rows, size_t axes) {
  Matrix matrix(static_cast<Eigen::Index>(axes), std::ssize(rows));
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t j = 0; j < axes; ++j) {
      matrix(static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(i)) = rows[i][j];
    }
  }
  return matrix;
}

// Row by axis.
Matrix Bent(const Matrix& rows, const InputWarp& warp) {
  Matrix bent = rows;
  for (Eigen::Index a = 0; a < rows.cols(); ++a) {
    const AxisWarp& axis = warp.axis(static_cast<size_t>(a));
    if (!axis.bends()) continue;
    bent.col(a) = rows.col(a).unaryExpr([&](double x) { return axis.At(x); });
  }
  return bent;
}

}  // namespace

GpLikelihood::GpLikelihood(const Encoding& encoding,
                           std::span<const Row> rows,
                           std::span<const double> y)
    : encoding_(encoding),
      axes_(encoding.size()),
      categorical_(Categorical(encoding)),
      y_(Eigen::Map<const Vector>(y.data(), std::ssize(y))),
      rows_(AsMatrix(rows, axes_).transpose()),
      squares_(SquaresOf(rows_)) {}

Matrix GpLikelihood::SquaresOf(const Matrix& rows) const {
  const Eigen::Index n = rows.rows();
  Matrix squares(n * (n - 1) / 2, rows.cols());
  for (Eigen::Index a = 0; a < rows.cols(); ++a) {
    const bool category = categorical_[static_cast<size_t>(a)];
    Eigen::Index pair = 0;
    for (Eigen::Index j = 0; j < n; ++j) {
      for (Eigen::Index i = j + 1; i < n; ++i, ++pair) {
        const double off = rows(i, a) - rows(j, a);
        squares(pair, a) = category ? (off != 0 ? 1.0 : 0.0) : off * off;
      }
    }
  }
  return squares;
}

InputWarp WarpOf(const Encoding& encoding, const Vector& theta) {
  const auto plain = static_cast<Eigen::Index>(encoding.size()) + 2;
  if (theta.size() == plain) return InputWarp(encoding.size());
  return InputWarp(encoding, theta.tail(theta.size() - plain));
}

// With Q the symmetric matrix of `by_square` and D its row sums, the sum over pairs of
// 2 Q_ij (w_i - w_j) (w_i' - w_j') is 2 w'.(D w - Q w).
void GpLikelihood::AddWarpGradient(const InputWarp& warp,
                                   const Vector& inverse,
                                   const Eigen::ArrayXd& by_square,
                                   Vector* gradient) const {
  const Eigen::Index n = y_.size();
  Matrix laplacian(n, n);
  for (Eigen::Index j = 0, pair = 0; j < n; ++j) {
    laplacian(j, j) = 0;
    for (Eigen::Index i = j + 1; i < n; ++i, ++pair) {
      laplacian(i, j) = laplacian(j, i) = -by_square[pair];
    }
  }
  laplacian.diagonal() = -laplacian.rowwise().sum();
  auto next = static_cast<Eigen::Index>(axes_) + 2;
  for (size_t a = 0; a < axes_; ++a) {
    if (categorical_[a]) continue;
    const AxisWarp& axis = warp.axis(a);
    const auto column = rows_.col(static_cast<Eigen::Index>(a));
    const Vector w = column.unaryExpr([&](double x) { return axis.At(x); });
    const Vector pull = 2 * inverse[static_cast<Eigen::Index>(a)] * (laplacian * w);
    (*gradient)[next++] =
        pull.dot(column.unaryExpr([&](double x) { return axis.ByLogA(x); }));
    (*gradient)[next++] =
        pull.dot(column.unaryExpr([&](double x) { return axis.ByLogB(x); }));
  }
}

double GpLikelihood::At(const Vector& theta, Vector* gradient) const {
  const auto d = static_cast<Eigen::Index>(axes_);
  const Eigen::Index n = y_.size();
  const Vector inverse = InverseLengths(categorical_, theta);
  const double scale = std::exp(theta[d]);
  const double noise = std::exp(theta[d + 1]);
  Vector numbers = inverse, categories = inverse;
  for (Eigen::Index j = 0; j < d; ++j) {
    (categorical_[static_cast<size_t>(j)] ? numbers : categories)[j] = 0;
  }
  const InputWarp warp = WarpOf(encoding_, theta);
  Matrix bent;
  if (warp.bends()) bent = SquaresOf(Bent(rows_, warp));
  const Matrix& squares = warp.bends() ? bent : squares_;
  const Eigen::ArrayXd square = (squares * numbers).array();
  const Eigen::ArrayXd root = kRootFive * square.sqrt();
  const Eigen::ArrayXd decay = scale * (-root - (squares * categories).array()).exp();
  const Eigen::ArrayXd kernel = (1 + root + (5.0 / 3) * square) * decay;

  Matrix covariance(n, n);
  for (Eigen::Index j = 0, pair = 0; j < n; ++j) {
    covariance(j, j) = scale + kMeanVariance + noise + kLeastNoise;
    for (Eigen::Index i = j + 1; i < n; ++i, ++pair) {
      covariance(i, j) = kernel[pair] + kMeanVariance;
    }
  }
  const Eigen::LLT<Eigen::Ref<Matrix>, kLower> llt(covariance);
  if (llt.info() != Eigen::Success) return -std::numeric_limits<double>::infinity();
  const Vector alpha = llt.solve(y_);
  const double log_p = -0.5 * y_.dot(alpha) -
                       covariance.diagonal().array().log().sum() -
                       0.5 * static_cast<double>(n) * kLogTwoPi;
  if (!std::isfinite(log_p)) return -std::numeric_limits<double>::infinity();
  if (gradient == nullptr) return log_p;

  // d log p = 1/2 tr((alpha alpha' - K^-1) dK); a pair stands for two entries.
  Matrix weight = -llt.solve(Matrix::Identity(n, n));
  weight.noalias() += alpha * alpha.transpose();
  Eigen::ArrayXd by_pair(kernel.size());
  for (Eigen::Index j = 0, pair = 0; j < n; ++j) {
    for (Eigen::Index i = j + 1; i < n; ++i, ++pair) by_pair[pair] = weight(i, j);
  }
  const Eigen::ArrayXd by_length = by_pair * decay * (1 + root) * (5.0 / 3);
  const Vector by_square = squares.transpose() * by_length.matrix();
  const Vector by_category = squares.transpose() * (by_pair * kernel).matrix();
  gradient->resize(theta.size());
  for (Eigen::Index j = 0; j < d; ++j) {
    const bool category = categorical_[static_cast<size_t>(j)];
    (*gradient)[j] = inverse[j] * (category ? by_category[j] : by_square[j]);
  }
  const double trace = weight.trace();
  (*gradient)[d] = (by_pair * kernel).sum() + 0.5 * scale * trace;
  (*gradient)[d + 1] = 0.5 * noise * trace;
  if (theta.size() > d + 2) {
    AddWarpGradient(warp, inverse, -0.5 * by_length, gradient);
  }
  return log_p;
}

GpModel::GpModel(const Encoding& encoding,
                 std::span<const Row> rows,
                 std::span<const double> y,
                 const Vector& theta)
    : axes_(encoding.size()),
      categorical_(Categorical(encoding)),
      warp_(WarpOf(encoding, theta)),
      inverse_(InverseLengths(categorical_, theta)),
      scale_(std::exp(theta[static_cast<Eigen::Index>(axes_)])),
      noise_(std::exp(theta[static_cast<Eigen::Index>(axes_) + 1])),
      rows_(AsMatrix(rows, axes_)),
      y_(Eigen::Map<const Vector>(y.data(), std::ssize(y))) {
  if (warp_.bends()) rows_ = Bent(rows_.transpose(), warp_).transpose();
  Factor();
}

// Without s2; `slope` is d kernel / d r^2.
double GpModel::Kernel(const double* a, const double* b, double* slope) const {
  double square = 0, category = 0;
  for (size_t j = 0; j < axes_; ++j) {
    const double off = a[j] - b[j];
    if (categorical_[j]) {
      category += off != 0 ? inverse_[static_cast<Eigen::Index>(j)] : 0;
    } else {
      square += off * off * inverse_[static_cast<Eigen::Index>(j)];
    }
  }
  const double root = kRootFive * std::sqrt(square);
  const double decay = std::exp(-root - category);
  if (slope != nullptr) *slope = -(5.0 / 6) * (1 + root) * decay;
  return (1 + root + (5.0 / 3) * square) * decay;
}

void GpModel::Factor() {
  const Eigen::Index n = y_.size();
  factor_.resize(n, n);
  for (Eigen::Index j = 0; j < n; ++j) {
    factor_(j, j) = scale_ + kMeanVariance + noise_ + kLeastNoise;
    for (Eigen::Index i = j + 1; i < n; ++i) {
      factor_(i, j) =
          scale_ * Kernel(rows_.col(i).data(), rows_.col(j).data(), nullptr) +
          kMeanVariance;
    }
  }
  Matrix copy = factor_;
  for (double jitter = 1e-8;; jitter *= 10) {
    const Eigen::LLT<Eigen::Ref<Matrix>, kLower> llt(factor_);
    if (llt.info() == Eigen::Success) break;
    assert(jitter < 1e3);
    copy.diagonal().array() += jitter * (scale_ + kMeanVariance);
    factor_ = copy;
  }
  alpha_ = y_;
  factor_.triangularView<kLower>().solveInPlace(alpha_);
  factor_.transpose().triangularView<Eigen::Upper>().solveInPlace(alpha_);
}

Matrix GpModel::Cross(std::span<const Row> rows) const {
  Matrix cross(y_.size(), std::ssize(rows));
  for (Eigen::Index c = 0; c < cross.cols(); ++c) {
    const Row row = warp_.At(rows[static_cast<size_t>(c)]);
    for (Eigen::Index i = 0; i < cross.rows(); ++i) {
      cross(i, c) =
          scale_ * Kernel(rows_.col(i).data(), row.data(), nullptr) + kMeanVariance;
    }
  }
  return cross;
}

Vector GpModel::Means(std::span<const Row> rows) const {
  return Cross(rows).transpose() * alpha_;
}

void GpModel::Predict(std::span<const Row> rows, Vector* mean, Vector* variance) const {
  Matrix cross = Cross(rows);
  *mean = cross.transpose() * alpha_;
  factor_.triangularView<kLower>().solveInPlace(cross);
  const double least = 1e-10 * scale_;
  *variance =
      (scale_ + kMeanVariance - cross.colwise().squaredNorm().transpose().array())
          .max(least)
          .matrix();
}

void GpModel::Predict(const Row& row,
                      double* mean,
                      double* variance,
                      Vector* mean_gradient,
                      Vector* variance_gradient) const {
  const Eigen::Index n = y_.size();
  const Row warped = warp_.At(row);
  Vector cross(n), slope(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    cross[i] =
        scale_ * Kernel(rows_.col(i).data(), warped.data(), &slope[i]) + kMeanVariance;
  }
  *mean = cross.dot(alpha_);
  Vector solved = cross;
  factor_.triangularView<kLower>().solveInPlace(solved);
  *variance = std::max(scale_ + kMeanVariance - solved.squaredNorm(), 1e-10 * scale_);
  factor_.transpose().triangularView<Eigen::Upper>().solveInPlace(solved);
  mean_gradient->setZero(static_cast<Eigen::Index>(axes_));
  variance_gradient->setZero(static_cast<Eigen::Index>(axes_));
  for (Eigen::Index j = 0; j < mean_gradient->size(); ++j) {
    if (categorical_[static_cast<size_t>(j)]) continue;
    const auto axis = static_cast<size_t>(j);
    const Eigen::ArrayXd by_cross =
        (warped[axis] - rows_.row(j).transpose().array()) * slope.array() *
        (2 * scale_ * inverse_[j] * warp_.axis(axis).Slope(row[axis]));
    (*mean_gradient)[j] = (by_cross * alpha_.array()).sum();
    (*variance_gradient)[j] = -2 * (by_cross * solved.array()).sum();
  }
}

Vector GpModel::OwnMeans() const {
  // (K - noise I) K^-1 y = y - noise K^-1 y.
  return y_ - (noise_ + kLeastNoise) * alpha_;
}

double GpModel::noise_sd() const { return std::sqrt(noise_ + kLeastNoise); }

double GpModel::LeastMean() const { return OwnMeans().minCoeff(); }

void GpModel::Believe(const Row& row) {
  const std::vector<Row> rows = {row};
  Vector mean, variance;
  Predict(rows, &mean, &variance);
  const Eigen::Index n = y_.size();
  rows_.conservativeResize(Eigen::NoChange, n + 1);
  const Row warped = warp_.At(row);
  rows_.col(n) = Eigen::Map<const Vector>(warped.data(), rows_.rows());
  y_.conservativeResize(n + 1);
  y_[n] = mean[0];
  Factor();
}

}  // namespace hyperopt::internal
