#include "samplers/internal/list.h"

#include <algorithm>

#include "trial/rng.h"

namespace hyperopt::internal {
namespace {

class ListSampler final : public Sampler {
 public:
  ListSampler(const SearchSpace& space, const SamplerOptions& options)
      : space_(space),
        seed_(options.seed),
        rows_(options.rows),
        count_(std::min(options.num_samples, std::ssize(options.rows))) {
    for (Params& row : rows_) {
      for (auto& [name, value] : row) value = Typed(space_.Find(name)->domain, value);
    }
  }

  std::optional<Params> Suggest(TrialId id, const History&) const override {
    if (id.value() < 0 || id.value() >= count_) return std::nullopt;
    Params params = rows_[static_cast<size_t>(id.value())];
    for (const Parameter& parameter : space_.parameters()) {
      if (params.contains(parameter.name)) continue;
      Rng rng(seed_, id, parameter.name);
      params[parameter.name] = Draw(parameter.domain, rng);
    }
    return params;
  }

  std::optional<int64_t> TrialCount() const override { return count_; }
  bool needs_history() const override { return false; }

 private:
  const SearchSpace space_;
  const uint64_t seed_;
  std::vector<Params> rows_;
  const int64_t count_;
};

}  // namespace

std::unique_ptr<Sampler> MakeListSampler(const SearchSpace& space,
                                         const SamplerOptions& options) {
  return std::make_unique<ListSampler>(space, options);
}

}  // namespace hyperopt::internal
