#include "samplers/internal/list.h"

#include <algorithm>

#include "samplers/internal/fill.h"

namespace hyperopt::internal {
namespace {

class ListSampler final : public Sampler {
 public:
  ListSampler(const SearchSpace& space, const SamplerOptions& options)
      : space_(space),
        seed_(options.seed),
        rows_(options.rows),
        count_(std::min(options.num_samples, std::ssize(options.rows))) {}

  std::optional<Params> Suggest(TrialId id, const History&) const override {
    if (id.value() < 0 || id.value() >= count_) return std::nullopt;
    return Fill(space_, rows_[static_cast<size_t>(id.value())], seed_, id);
  }

  std::optional<int64_t> TrialCount() const override { return count_; }
  bool needs_history() const override { return false; }

 private:
  const SearchSpace space_;
  const uint64_t seed_;
  const std::vector<Params> rows_;
  const int64_t count_;
};

}  // namespace

std::unique_ptr<Sampler> MakeListSampler(const SearchSpace& space,
                                         const SamplerOptions& options) {
  return std::make_unique<ListSampler>(space, options);
}

}  // namespace hyperopt::internal
