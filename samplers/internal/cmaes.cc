#include "samplers/internal/cmaes.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "trial/rng.h"

namespace hyperopt::internal {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kFirstSigma = 0.2;  // of the unit cube
constexpr double kLeastSigma = 1e-7;
constexpr int kMostRedraws = 100;
constexpr int kProposals = 8;
// An integer's deviation stays this share of its cell, so that it can still change.
constexpr double kLeastOfCell = 0.35;

// The constants of the tutorial's table 1, for `d` dimensions.
struct Constants {
  explicit Constants(double d)
      : lambda(4 + static_cast<int64_t>(std::floor(3 * std::log(d)))) {
    const int64_t mu = lambda / 2;
    const double half = (static_cast<double>(lambda) + 1) / 2;
    for (int64_t i = 0; i < mu; ++i) {
      weights.push_back(std::log(half) - std::log(static_cast<double>(i) + 1));
    }
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    double squares = 0;
    for (double& weight : weights) {
      weight /= sum;
      squares += weight * weight;
    }
    mu_eff = 1 / squares;
    c_sigma = (mu_eff + 2) / (d + mu_eff + 5);
    d_sigma = 1 + 2 * std::max(0.0, std::sqrt((mu_eff - 1) / (d + 1)) - 1) + c_sigma;
    c_c = (4 + mu_eff / d) / (d + 4 + 2 * mu_eff / d);
    c_1 = 2 / ((d + 1.3) * (d + 1.3) + mu_eff);
    c_mu =
        std::min(1 - c_1, 2 * (mu_eff - 2 + 1 / mu_eff) / ((d + 2) * (d + 2) + mu_eff));
    chi = std::sqrt(d) * (1 - 1 / (4 * d) + 1 / (21 * d * d));
    longest_step = std::sqrt(d) + 2 * d / (d + 2);
  }

  int64_t lambda;
  std::vector<double> weights;  // of the best ones
  double mu_eff = 0, c_sigma = 0, d_sigma = 0, c_c = 0, c_1 = 0, c_mu = 0;
  double chi = 0;           // the expected length of a standard normal vector
  double longest_step = 0;  // of an injected one, in standard deviations
};

// The distribution, and what it remembers of its way.
class State {
 public:
  State(const Constants& constants, VectorXd mean)
      : constants_(constants), mean_(std::move(mean)) {
    const Eigen::Index d = mean_.size();
    covariance_ = MatrixXd::Identity(d, d);
    path_sigma_ = path_ = VectorXd::Zero(d);
    Decompose();
  }

  // The rows of a generation, the best first.
  void Update(const std::vector<VectorXd>& best_first) {
    const Constants& c = constants_;
    ++generations_;
    std::vector<VectorXd> steps;
    VectorXd step = VectorXd::Zero(mean_.size());
    for (size_t i = 0; i < c.weights.size(); ++i) {
      steps.push_back(Shortened((best_first[i] - mean_) / sigma_));
      step += c.weights[i] * steps.back();
    }
    mean_ = (mean_ + sigma_ * step).cwiseMax(0.0).cwiseMin(1.0);
    path_sigma_ = (1 - c.c_sigma) * path_sigma_ +
                  std::sqrt(c.c_sigma * (2 - c.c_sigma) * c.mu_eff) * Whitened(step);
    const double length = path_sigma_.norm();
    const double d = static_cast<double>(mean_.size());
    const double start = 1 - std::pow(1 - c.c_sigma, 2.0 * generations_);
    const bool short_path = length / std::sqrt(start) < (1.4 + 2 / (d + 1)) * c.chi;
    path_ = (1 - c.c_c) * path_;
    if (short_path) path_ += std::sqrt(c.c_c * (2 - c.c_c) * c.mu_eff) * step;
    const double missed = short_path ? 0 : c.c_1 * c.c_c * (2 - c.c_c);
    covariance_ *= 1 - c.c_1 - c.c_mu + missed;
    covariance_ += c.c_1 * path_ * path_.transpose();
    for (size_t i = 0; i < steps.size(); ++i) {
      covariance_ += c.c_mu * c.weights[i] * steps[i] * steps[i].transpose();
    }
    sigma_ *= std::exp(std::min(1.0, c.c_sigma / c.d_sigma * (length / c.chi - 1)));
    sigma_ = std::min(sigma_, 1.0);
    Decompose();
  }

  VectorXd At(const VectorXd& normal) const {
    return mean_ + sigma_ * (axes_ * deviations_.cwiseProduct(normal));
  }
  double DeviationOf(Eigen::Index axis) const {
    return sigma_ * std::sqrt(covariance_(axis, axis));
  }
  bool is_spent() const { return sigma_ * deviations_.maxCoeff() < kLeastSigma; }

 private:
  VectorXd Whitened(const VectorXd& step) const {
    return axes_ * (axes_.transpose() * step).cwiseQuotient(deviations_);
  }
  VectorXd Shortened(const VectorXd& step) const {
    const double length = Whitened(step).norm();
    if (length <= constants_.longest_step) return step;
    return step * (constants_.longest_step / length);
  }
  void Decompose() {
    covariance_ = (0.5 * (covariance_ + covariance_.transpose())).eval();
    const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(covariance_);
    axes_ = solver.eigenvectors();
    deviations_ = solver.eigenvalues().cwiseMax(1e-20).cwiseSqrt();
  }

  const Constants& constants_;
  VectorXd mean_;
  double sigma_ = kFirstSigma;
  MatrixXd covariance_, axes_;
  VectorXd deviations_;  // along the axes, without sigma
  VectorXd path_sigma_, path_;
  int64_t generations_ = 0;
};

class CmaesProposer final : public Proposer {
 public:
  CmaesProposer(const Encoding& encoding, uint64_t seed)
      : encoding_(encoding),
        seed_(seed),
        constants_(std::max<double>(static_cast<double>(encoding.size()), 1)) {}

  std::vector<Row> Propose(TrialId id, const Observations& seen) const override {
    Follow(seen);
    Rng rng(seed_, id, "cmaes");
    std::vector<Row> rows;
    for (int i = 0; i < kProposals; ++i) rows.push_back(Drawn(rng));
    return rows;
  }

 private:
  // Takes what ended since the last call; anew where that was another history.
  void Follow(const Observations& seen) const {
    if (generation_ != seen.generation()) state_.reset();
    generation_ = seen.generation();
    const auto& ended = seen.ended();
    const auto startup = static_cast<size_t>(StartupTrials(encoding_));
    if (!state_ || first_ < startup) Begin(ended, startup);
    const auto lambda = static_cast<size_t>(constants_.lambda);
    for (; taken_ + lambda <= ended.size(); taken_ += lambda) {
      const std::vector<size_t> order = BestFirst(ended, taken_, taken_ + lambda);
      std::vector<VectorXd> rows;
      for (const size_t i : order) rows.push_back(VectorOf(ended[i].row));
      state_->Update(rows);
      if (state_->is_spent()) BeginElsewhere();
    }
  }

  // In the middle of the best third of what came first: once all of these have come,
  // for good.
  void Begin(const std::vector<Observation>& ended, size_t startup) const {
    first_ = std::min(ended.size(), startup);
    const std::vector<size_t> order = BestFirst(ended, 0, first_);
    const size_t best = std::max<size_t>(first_ / 3, 1);
    VectorXd mean = VectorXd::Zero(static_cast<Eigen::Index>(encoding_.size()));
    for (size_t i = 0; i < best; ++i) mean += VectorOf(ended[order[i]].row);
    taken_ = first_;
    begun_ = 0;
    state_.emplace(constants_, mean / static_cast<double>(best));
  }

  void BeginElsewhere() const {
    ++begun_;
    Rng rng(seed_, TrialId(0), "cmaes begins " + std::to_string(begun_));
    VectorXd mean(static_cast<Eigen::Index>(encoding_.size()));
    for (double& each : mean) each = rng.Uniform();
    state_.emplace(constants_, std::move(mean));
  }

  // Values, then pruned ones, then failures; among equals the older first.
  static std::vector<size_t> BestFirst(const std::vector<Observation>& ended,
                                       size_t begin,
                                       size_t end) {
    std::vector<size_t> order(end - begin);
    std::iota(order.begin(), order.end(), begin);
    std::ranges::stable_sort(order, [&](size_t a, size_t b) {
      if (ended[a].outcome != ended[b].outcome) {
        return ended[a].outcome < ended[b].outcome;
      }
      return ended[a].value < ended[b].value;
    });
    return order;
  }

  static VectorXd VectorOf(const Row& row) {
    return VectorXd::Map(row.data(), static_cast<Eigen::Index>(row.size()));
  }

  // Inside the cube: drawn anew where it is not, at last put on its edge.
  Row Drawn(Rng& rng) const {
    VectorXd point;
    for (int i = 0; i < kMostRedraws; ++i) {
      VectorXd normal(static_cast<Eigen::Index>(encoding_.size()));
      for (double& each : normal) each = rng.Normal();
      point = state_->At(normal);
      for (Eigen::Index axis = 0; axis < point.size(); ++axis) {
        point[axis] += Wider(axis, rng);
      }
      if (point.minCoeff() >= 0 && point.maxCoeff() < 1) break;
    }
    const std::vector<double> cube(point.data(), point.data() + point.size());
    return encoding_.FromCube(cube);
  }

  double Wider(Eigen::Index axis, Rng& rng) const {
    const Axis& each = encoding_.axes()[static_cast<size_t>(axis)];
    if (each.kind != AxisKind::kOrdered) return 0;
    const double least = kLeastOfCell / static_cast<double>(each.levels);
    const double has = state_->DeviationOf(axis);
    return has < least ? std::sqrt(least * least - has * has) * rng.Normal() : 0;
  }

  const Encoding& encoding_;
  const uint64_t seed_;
  const Constants constants_;
  // Memoised; what it holds is a function of the history.
  mutable std::optional<State> state_;
  mutable size_t first_ = 0;        // ended trials that it began with
  mutable size_t taken_ = 0;        // ended trials in state_
  mutable int64_t begun_ = 0;       // times it began anew
  mutable int64_t generation_ = 0;  // of the observations
};

}  // namespace

std::unique_ptr<Proposer> MakeCmaesProposer(const Encoding& encoding, uint64_t seed) {
  return std::make_unique<CmaesProposer>(encoding, seed);
}

}  // namespace hyperopt::internal
