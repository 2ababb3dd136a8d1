#include "search/internal/schedulers.h"

namespace hyperopt::internal {
namespace {

class Fifo final : public Scheduler {
 public:
  void Restore(std::span<const RungRow> /*rungs*/) override {}

  void Observe(TrialId /*trial*/,
               int64_t /*time*/,
               const Objective& /*value*/) override {}

  Verdict OnMeasurement(TrialId /*trial*/,
                        int64_t /*time*/,
                        const Objective& /*value*/) override {
    return {};
  }

  std::vector<RungRow> OnFailed(TrialId /*trial*/) override { return {}; }

  std::optional<int64_t> max_time() const override { return std::nullopt; }
};

}  // namespace

std::unique_ptr<Scheduler> MakeFifo() { return std::make_unique<Fifo>(); }

}  // namespace hyperopt::internal
