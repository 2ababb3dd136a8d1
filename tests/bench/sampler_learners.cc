#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/bench/sampler_problems.h"
#include "trial/rng.h"

namespace hyperopt {
namespace {

constexpr int kTrain = 120, kTest = 120, kFeatures = 8;
constexpr int kClasses = 3;

// Rows with a class and a number to learn. Some features say little, as ever.
struct Data {
  Eigen::MatrixXd x;  // row by feature
  std::vector<int> label;
  std::vector<double> y;
};

Data Made(int rows, int first) {
  Data data{Eigen::MatrixXd(rows, kFeatures), {}, {}};
  for (int i = 0; i < rows; ++i) {
    Rng rng(5, TrialId(first + i), "row");
    for (int j = 0; j < kFeatures; ++j) data.x(i, j) = rng.Normal();
    const double a = data.x(i, 0), b = data.x(i, 1), c = data.x(i, 2);
    const double turn = std::sin(1.5 * a) + 0.6 * b * c + 0.3 * rng.Normal();
    data.label.push_back(turn < -0.5 ? 0 : turn < 0.5 ? 1 : 2);
    data.y.push_back(turn + 0.3 * data.x(i, 3));
  }
  return data;
}
const Data& Train() {
  static const Data data = Made(kTrain, 0);
  return data;
}
const Data& Test() {
  static const Data data = Made(kTest, kTrain);
  return data;
}

// Kernel ridge classification: the share of errors, in steps of 1 / kTest.
double Kernels(const Params& params) {
  const std::string& kind = Word(params, "kernel");
  const double gamma = Number(params, "gamma"), shift = Number(params, "shift");
  const double degree = Number(params, "degree");
  const auto of = [&](const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
    Eigen::MatrixXd k = a * b.transpose();
    if (kind == "linear") return k;
    if (kind == "rbf") {
      k = (-2 * k).colwise() + a.rowwise().squaredNorm();
      k.rowwise() += b.rowwise().squaredNorm().transpose();
      return Eigen::MatrixXd((-gamma * k.array()).exp());
    }
    const Eigen::ArrayXXd inner = gamma * k.array() + shift;
    if (kind == "poly") return Eigen::MatrixXd(inner.pow(degree));
    return Eigen::MatrixXd(inner.tanh());
  };
  Eigen::MatrixXd targets = Eigen::MatrixXd::Constant(kTrain, kClasses, -1);
  for (int i = 0; i < kTrain; ++i) targets(i, Train().label[size_t(i)]) = 1;
  Eigen::MatrixXd k = of(Train().x, Train().x);
  k.diagonal().array() += 1 / Number(params, "C");
  const Eigen::MatrixXd score = of(Test().x, Train().x) * k.ldlt().solve(targets);
  int errors = 0;
  for (int i = 0; i < kTest; ++i) {
    Eigen::Index best = 0;
    score.row(i).maxCoeff(&best);
    errors += best != Test().label[size_t(i)];
  }
  return static_cast<double>(errors) / kTest;
}

// Probabilities of one row, from counts.
double Surprise(const std::vector<double>& counts, int label) {
  const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
  return -std::log((counts[size_t(label)] + 0.02) / (total + 0.02 * kClasses));
}

struct TreeOptions {
  int depth, leaf;
  double split, features, impurity;
  bool entropy;
};

double Impurity(const std::vector<double>& counts, double total, bool entropy) {
  double sum = 0;
  for (double c : counts) {
    const double p = c / total;
    sum += entropy ? (p > 0 ? -p * std::log2(p) : 0) : p * (1 - p);
  }
  return sum;
}

// The surprise of the test rows, summed, below a node.
double TreeLoss(const TreeOptions& options,
                std::vector<int> train,
                std::vector<int> test,
                int depth,
                Rng& rng) {
  const Data& data = Train();
  std::vector<double> counts(kClasses);
  for (int i : train) counts[size_t(data.label[size_t(i)])] += 1;
  const auto n = static_cast<double>(train.size());
  const double here = Impurity(counts, n, options.entropy);
  double most = -1, at = 0;
  int feature = -1;
  if (depth < options.depth && n >= options.split * kTrain) {
    std::vector<int> order(kFeatures);
    std::iota(order.begin(), order.end(), 0);
    for (size_t j = order.size(); j > 1; --j)
      std::swap(order[j - 1], order[rng.Below(j)]);
    order.resize(size_t(std::max(1.0, options.features * kFeatures)));
    for (int j : order) {
      std::ranges::sort(train, {}, [&](int i) { return data.x(i, j); });
      std::vector<double> left(kClasses), right = counts;
      for (int i = 0; i + 1 < std::ssize(train); ++i) {
        const auto label = size_t(data.label[size_t(train[size_t(i)])]);
        left[label] += 1;
        right[label] -= 1;
        const double nl = i + 1, nr = n - nl;
        if (nl < options.leaf || nr < options.leaf) continue;
        const double gain = here - nl / n * Impurity(left, nl, options.entropy) -
                            nr / n * Impurity(right, nr, options.entropy);
        if (gain * n / kTrain < options.impurity || gain <= most) continue;
        most = gain;
        feature = j;
        at = data.x(train[size_t(i)], j);
      }
    }
  }
  double loss = 0;
  if (feature < 0) {
    for (int i : test) loss += Surprise(counts, Test().label[size_t(i)]);
    return loss;
  }
  std::vector<int> parts[4];
  for (int i : train) parts[data.x(i, feature) <= at ? 0 : 1].push_back(i);
  for (int i : test) parts[Test().x(i, feature) <= at ? 2 : 3].push_back(i);
  return TreeLoss(options, parts[0], parts[2], depth + 1, rng) +
         TreeLoss(options, parts[1], parts[3], depth + 1, rng);
}

double Trees(const Params& params) {
  std::vector<int> train(kTrain), test(kTest);
  std::iota(train.begin(), train.end(), 0);
  std::iota(test.begin(), test.end(), 0);
  Rng rng(1, TrialId(0), "tree");
  return TreeLoss({.depth = int(Number(params, "depth")),
                   .leaf = int(Number(params, "leaf")),
                   .split = Number(params, "split"),
                   .features = Number(params, "features"),
                   .impurity = Number(params, "impurity"),
                   .entropy = Word(params, "criterion") == "entropy"},
                  train,
                  test,
                  0,
                  rng) /
         kTest;
}

double Neighbours(const Params& params) {
  const std::string& metric = Word(params, "metric");
  const auto k = static_cast<size_t>(Number(params, "k"));
  const auto used = static_cast<int>(Number(params, "used"));
  const double power = Number(params, "power");
  const bool near = Word(params, "weights") == "distance";
  const auto bent = [&](double x) {
    return std::copysign(std::pow(std::fabs(x), power), x);
  };
  const Eigen::MatrixXd train = Train().x.unaryExpr(bent).transpose();
  const Eigen::MatrixXd test = Test().x.unaryExpr(bent).transpose();
  double loss = 0;
  for (int i = 0; i < kTest; ++i) {
    std::vector<std::pair<double, int>> found;
    for (int t = 0; t < kTrain; ++t) {
      double sum = 0, dot = 0, a2 = 1e-9, b2 = 1e-9;
      for (int j = 0; j < used; ++j) {
        const double a = test(j, i), b = train(j, t);
        const double off = std::fabs(a - b);
        sum = metric == "chebyshev"   ? std::max(sum, off)
              : metric == "manhattan" ? sum + off
                                      : sum + off * off;
        dot += a * b;
        a2 += a * a;
        b2 += b * b;
      }
      found.emplace_back(metric == "cosine" ? 1 - dot / std::sqrt(a2 * b2) : sum, t);
    }
    std::ranges::sort(found);
    std::vector<double> counts(kClasses);
    for (size_t j = 0; j < k; ++j) {
      counts[size_t(Train().label[size_t(found[j].second)])] +=
          near ? 1 / (found[j].first + 1e-6) * (found[0].first + 1e-6) : 1;
    }
    loss += Surprise(counts, Test().label[size_t(i)]);
  }
  return loss / kTest;
}

// One hidden layer, trained by Adam; the mean squared error, 3 where it diverges.
double Network(const Params& params) {
  const auto hidden = static_cast<Eigen::Index>(Number(params, "hidden"));
  const auto batch = static_cast<Eigen::Index>(Number(params, "batch"));
  const std::string& activation = Word(params, "activation");
  const double rate = Number(params, "rate"), alpha = Number(params, "alpha");
  const double beta1 = Number(params, "beta1"), beta2 = Number(params, "beta2");
  Rng rng(2, TrialId(0), "network");
  Eigen::MatrixXd w(kFeatures + 2, hidden);  // inputs, bias, output
  for (double& v : w.reshaped()) v = 0.4 * rng.Normal();
  Eigen::MatrixXd m = 0 * w, v = 0 * w;
  const auto forward = [&](const Eigen::MatrixXd& x) {
    Eigen::MatrixXd z = x * w.topRows(kFeatures);
    z.rowwise() += w.row(kFeatures);
    if (activation == "tanh") return Eigen::MatrixXd(z.array().tanh());
    if (activation == "relu") return Eigen::MatrixXd(z.array().max(0));
    return Eigen::MatrixXd(1 / (1 + (-z.array()).exp()));
  };
  const Eigen::Map<const Eigen::VectorXd> y(Train().y.data(), kTrain);
  int step = 0;
  for (int epoch = 0; epoch < Number(params, "epochs"); ++epoch) {
    for (Eigen::Index from = 0; from < kTrain; from += batch) {
      const Eigen::Index rows = std::min<Eigen::Index>(batch, kTrain - from);
      const Eigen::MatrixXd x = Train().x.middleRows(from, rows);
      const Eigen::MatrixXd h = forward(x);
      const Eigen::VectorXd off =
          (h * w.row(kFeatures + 1).transpose() - y.segment(from, rows)) /
          static_cast<double>(rows);
      Eigen::ArrayXXd back = (off * w.row(kFeatures + 1)).array();
      if (activation == "tanh")
        back *= 1 - h.array().square();
      else if (activation == "relu")
        back *= (h.array() > 0).cast<double>();
      else
        back *= h.array() * (1 - h.array());
      Eigen::MatrixXd g = alpha * 1e-2 * w;
      g.topRows(kFeatures) += x.transpose() * back.matrix();
      g.row(kFeatures) += back.colwise().sum().matrix();
      g.row(kFeatures + 1) += off.transpose() * h;
      ++step;
      m = beta1 * m + (1 - beta1) * g;
      v.array() = beta2 * v.array() + (1 - beta2) * g.array().square();
      w.array() -= rate * (m.array() / (1 - std::pow(beta1, step))) /
                   ((v.array() / (1 - std::pow(beta2, step))).sqrt() +
                    Number(params, "epsilon"));
    }
  }
  const Eigen::VectorXd guess = forward(Test().x) * w.row(kFeatures + 1).transpose();
  const Eigen::Map<const Eigen::VectorXd> truth(Test().y.data(), kTest);
  const double loss = (guess - truth).squaredNorm() / kTest;
  return std::isfinite(loss) ? std::min(loss, 3.0) : 3.0;
}

}  // namespace

std::vector<Problem> LearnerProblems() {
  return {
      {"kernels",
       SearchSpace({{"kernel", OneOf({"rbf", "poly", "sigmoid", "linear"})},
                    {"C", Log(1e-3, 1e3)},
                    {"gamma", Log(1e-5, 10)},
                    {"shift", Linear(-1, 1)},
                    {"degree", Whole(2, 5)}}),
       Kernels,
       0.375},
      {"trees",
       SearchSpace({{"criterion", OneOf({"gini", "entropy"})},
                    {"depth", Whole(1, 15)},
                    {"split", Log(1e-3, 0.5)},
                    {"leaf", Whole(1, 40, true)},
                    {"features", Linear(0.05, 1)},
                    {"impurity", Log(1e-6, 0.2)}}),
       Trees,
       0.8786},
      {"neighbours",
       SearchSpace(
           {{"k", Whole(1, 30)},
            {"weights", OneOf({"uniform", "distance"})},
            {"metric", OneOf({"euclidean", "manhattan", "chebyshev", "cosine"})},
            {"used", Whole(1, kFeatures)},
            {"power", Linear(0.2, 3)}}),
       Neighbours,
       0.692},
      {"network",
       SearchSpace({{"hidden", Whole(4, 32, true)},
                    {"activation", OneOf({"relu", "tanh", "logistic"})},
                    {"alpha", Log(1e-6, 10)},
                    {"batch", Whole(16, 128, true)},
                    {"rate", Log(1e-4, 0.3)},
                    {"beta1", Linear(0.5, 0.99)},
                    {"beta2", Linear(0.9, 0.9999)},
                    {"epsilon", Log(1e-9, 1e-2)},
                    {"epochs", Whole(3, 12)}}),
       Network,
       0.29},
  };
}

}  // namespace hyperopt
