// Which hyperparameters a Gaussian process is given: draws from their posterior while
// observations are few, the most likely ones beyond.
#pragma once

#include <vector>

#include "samplers/internal/gp_model.h"
#include "trial/rng.h"

namespace hyperopt::internal {

// Independent normal priors of theta; a warp is most likely none.
struct ThetaPrior {
  Vector mean, sd;
};
enum class Inputs { kPlain, kWarped };
ThetaPrior PriorOf(const Encoding& encoding, Inputs inputs = Inputs::kPlain);

// Elliptical slice sampling (Murray, Adams, MacKay 2010): `count` draws.
std::vector<Vector> SampleTheta(const GpLikelihood& likelihood,
                                const ThetaPrior& prior,
                                int count,
                                Rng& rng);
// The theta with the greatest posterior density found from `prior.mean`.
Vector MostLikelyTheta(const GpLikelihood& likelihood, const ThetaPrior& prior);

}  // namespace hyperopt::internal
