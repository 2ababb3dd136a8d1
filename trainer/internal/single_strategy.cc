#include "trainer/internal/strategy.h"

namespace hyperopt {
namespace {

class SingleStrategy final : public Strategy {
 public:
  int rank() const override { return 0; }
  int world_size() const override { return 1; }
  torch::Device device() const override { return device_; }
  void Attach(const std::vector<torch::Tensor>&) override {}
  void BeforeBackward(const torch::Tensor&) override {}
  void Broadcast(std::vector<torch::Tensor>) override {}
  bool AnyTrue(bool mine) override { return mine; }
  torch::Tensor Gather(const torch::Tensor& rows) override { return rows; }

 private:
  torch::Device device_ = DeviceOfRank(0);
};

}  // namespace

std::unique_ptr<Strategy> MakeSingleStrategy() {
  return std::make_unique<SingleStrategy>();
}

torch::Device DeviceOfRank(int local_rank) {
  if (!torch::cuda::is_available()) return torch::kCPU;
  const auto count = static_cast<int>(torch::cuda::device_count());
  // A rank that was given its own device sees only that one.
  return {torch::kCUDA, static_cast<c10::DeviceIndex>(local_rank % count)};
}

}  // namespace hyperopt
