#include "search/more_samples.h"

#include <fmt/format.h>

#include <algorithm>

#include "trial/errors.h"

namespace hyperopt {
namespace {

constexpr int64_t kMostSamples = int64_t{1} << 31;  // as of num_samples in the file

}  // namespace

int64_t SamplesAfter(const SamplerOptions& options, int64_t more) {
  const int64_t samples = options.num_samples;
  if (samples > kMostSamples || more > kMostSamples - samples) {
    throw ConfigError(
        fmt::format("{} more than {} are too many: a sweep has {} trials at most",
                    more,
                    samples,
                    kMostSamples));
  }
  if (options.kind != SamplerKind::kList) return samples + more;
  const int64_t rows = std::ssize(options.rows);
  if (samples >= rows) {
    throw ConfigError(
        fmt::format("--trials {}: the search is a list, and all {} rows of it are "
                    "planned. Ways out: hyperopt add with --params or --csv, or more "
                    "rows in the search file and a start with --amend",
                    more,
                    rows));
  }
  return std::min(samples + more, rows);
}

}  // namespace hyperopt
