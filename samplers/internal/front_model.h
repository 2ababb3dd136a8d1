// Gaussian processes of several objectives, one each, and what a row is expected to
// add to the volume that their front dominates.
#pragma once

#include <span>
#include <vector>

#include "samplers/internal/gp_model.h"
#include "samplers/internal/hypervolume.h"

namespace hyperopt::internal {

// The point below which volume counts: in each objective worse than the worst of the
// front by a tenth of its range, and by 0.1 at least (objectives are warped to variance
// 1), so that a front of one point has room beside it. REQUIRES: not empty.
Point ReferenceOf(std::span<const Point> front);

// Trials with a warped value of each objective, to be minimised.
struct FrontData {
  std::vector<Row> rows;
  std::vector<std::vector<double>> y;  // by objective
};

class FrontModel {
 public:
  // A theta an objective. What trials that run will find is believed to be the mean.
  // The front is that of the models' means at the rows, so that a lucky one among noisy
  // values is not taken for what can be had.
  FrontModel(const Encoding& encoding,
             const FrontData& data,
             std::span<const Row> pending,
             std::span<const Vector> thetas);

  // log of the expected gain of each.
  std::vector<double> Many(std::span<const Row> rows) const;
  // Of one, with the gradient by its coordinates (0 on categorical axes).
  double One(const Row& row, Vector& gradient) const;

 private:
  std::vector<GpModel> models_;
  OpenRegion region_;
};

}  // namespace hyperopt::internal
