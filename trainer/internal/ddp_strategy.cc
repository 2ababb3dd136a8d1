// The one file that knows c10d: its constructors differ between versions of LibTorch.
// Written for 2.13.
#include <fmt/ranges.h>

#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include "trainer/internal/nccl_backend.h"
#include "trainer/internal/rendezvous.h"
#include "trainer/internal/strategy.h"
#include "trial/errors.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

using Clock = std::chrono::steady_clock;
using StorePtr = c10::intrusive_ptr<c10d::Store>;

// A peer that is gone closes its connection and is noticed at once; this bounds what a
// peer that stands still can cost.
constexpr std::chrono::minutes kCollectiveTimeout{10};

class DdpStrategy final : public Strategy {
 public:
  DdpStrategy(c10::intrusive_ptr<c10d::ProcessGroup> group, torch::Device device)
      : group_(std::move(group)), device_(device) {}

  // No rank leaves while another still talks to it or to rank 0's store. One that fails
  // does not wait: the others are not at the end, and notice its closed connection.
  ~DdpStrategy() override {
    if (std::uncaught_exceptions() > 0) return;
    try {
      reducer_.reset();
      group_->barrier()->wait();
    } catch (const std::exception&) {
      // A peer is gone already, which whoever cared has seen.
    }
  }

  int rank() const override { return group_->getRank(); }
  int world_size() const override { return group_->getSize(); }
  torch::Device device() const override { return device_; }

  void Attach(const std::vector<torch::Tensor>& parameters) override {
    Broadcast(parameters);
    const std::vector<bool> sparse(parameters.size(), false);
    auto [buckets, limits] = c10d::compute_bucket_assignment_by_size(
        parameters,
        {c10d::kDefaultFirstBucketBytes, c10d::kDefaultBucketBytesCap},
        sparse);
    // Gradients become ready from the last layer to the first.
    std::reverse(buckets.begin(), buckets.end());
    std::reverse(limits.begin(), limits.end());
    reducer_ = std::make_unique<c10d::Reducer>(
        parameters,
        std::move(buckets),
        group_,
        sparse,
        /*bucket_bytes_cap=*/c10d::kDefaultBucketBytesCap,
        /*find_unused_parameters=*/false,
        /*gradient_as_bucket_view=*/false,
        /*param_names=*/std::unordered_map<size_t, std::string>(),
        /*first_bucket_bytes_cap=*/c10d::kDefaultFirstBucketBytes,
        /*skip_all_reduce_unused_params=*/false,
        /*use_python_reducer=*/false,
        /*bucket_bytes_cap_list=*/std::vector<int64_t>());
  }

  void BeforeBackward(const torch::Tensor& loss) override {
    reducer_->prepare_for_forward();
    reducer_->prepare_for_backward({loss});
  }

  void Broadcast(std::vector<torch::Tensor> tensors) override {
    torch::NoGradGuard no_grad;
    for (torch::Tensor& tensor : tensors) {
      std::vector<torch::Tensor> one = {tensor.detach()};
      group_->broadcast(one)->wait();
    }
  }

  bool AnyTrue(bool mine) override {
    std::vector<torch::Tensor> flag = {torch::full({1}, mine ? 1 : 0, torch::kInt)};
    group_->allreduce(flag)->wait();
    return flag[0].item<int>() != 0;
  }

  torch::Tensor Gather(const torch::Tensor& rows) override {
    const auto sizes = GatherEqual(torch::full({1}, rows.size(0), torch::kLong));
    int64_t most = 0;
    for (const auto& size : sizes) most = std::max(most, size.item<int64_t>());
    auto shape = rows.sizes().vec();
    shape[0] = most;
    torch::Tensor padded = torch::zeros(shape, rows.options());
    padded.narrow(0, 0, rows.size(0)).copy_(rows);
    auto parts = GatherEqual(padded);
    for (size_t i = 0; i < parts.size(); ++i) {
      parts[i] = parts[i].narrow(0, 0, sizes[i].item<int64_t>());
    }
    return torch::cat(parts);
  }

 private:
  std::vector<torch::Tensor> GatherEqual(const torch::Tensor& mine) {
    std::vector<std::vector<torch::Tensor>> parts(1);
    for (int i = 0; i < world_size(); ++i) parts[0].push_back(torch::empty_like(mine));
    std::vector<torch::Tensor> input = {mine};
    group_->allgather(parts, input)->wait();
    return parts[0];
  }

  c10::intrusive_ptr<c10d::ProcessGroup> group_;
  torch::Device device_;
  std::unique_ptr<c10d::Reducer> reducer_;
};

StorePtr OpenStore(const RankSpec& spec) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(spec.master_port);
  options.isServer = spec.rank == 0;
  options.numWorkers = static_cast<size_t>(spec.world_size);
  options.waitWorkers = false;
  options.timeout = spec.join_timeout;
  UniqueFd listener;
  if (spec.rank == 0) {
    listener = ListenAt(spec.master_addr, spec.master_port);
    options.masterListenFd = listener.get();
  }
  try {
    // The store closes the descriptor itself.
    listener.Release();
    return c10::make_intrusive<c10d::TCPStore>(spec.master_addr, options);
  } catch (const std::exception& error) {
    const std::string text = error.what();
    throw EnvironmentError(fmt::format("rank {} can not reach the store at {}:{}: {}",
                                       spec.rank,
                                       spec.master_addr,
                                       spec.master_port,
                                       text.substr(0, text.find('\n'))));
  }
}

std::string KeyOf(int rank) { return fmt::format("joined/{}", rank); }

// Waits until every rank has written its key; false where `stop` was set first.
bool AwaitRanks(c10d::Store& store,
                const RankSpec& spec,
                Clock::time_point deadline,
                const std::atomic<bool>& stop) {
  std::vector<int> missing;
  for (int rank = 0; rank < spec.world_size; ++rank) missing.push_back(rank);
  while (!stop) {
    std::erase_if(missing, [&](int rank) { return store.check({KeyOf(rank)}); });
    if (missing.empty()) return true;
    if (Clock::now() >= deadline) {
      throw EnvironmentError(
          fmt::format("rank {} of {} did not join at {}:{} within {} s",
                      fmt::join(missing, ", "),
                      spec.world_size,
                      spec.master_addr,
                      spec.master_port,
                      spec.join_timeout.count()));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

void CheckAgreement(c10d::Store& store, const RankSpec& spec, const std::string& own) {
  for (int rank = 0; rank < spec.world_size; ++rank) {
    const auto bytes = store.get(KeyOf(rank));
    if (std::string(bytes.begin(), bytes.end()) == own) continue;
    throw EnvironmentError(
        fmt::format("ranks {} and {} were started with different configs, data, seeds "
                    "or world sizes",
                    spec.rank,
                    rank));
  }
}

c10::intrusive_ptr<c10d::Backend> MakeGlooBackend(const StorePtr& store,
                                                  const RankSpec& spec,
                                                  const std::string& own_address) {
  auto options = c10d::ProcessGroupGloo::Options::create(kCollectiveTimeout);
  options->devices.push_back(
      c10d::ProcessGroupGloo::createDeviceForHostname(own_address));
  return c10::make_intrusive<c10d::ProcessGroupGloo>(
      store, spec.rank, spec.world_size, options);
}

}  // namespace

std::unique_ptr<Strategy> JoinRanks(const RankSpec& spec,
                                    const std::string& fingerprint,
                                    const std::atomic<bool>& stop) {
  const auto deadline = Clock::now() + spec.join_timeout;
  StorePtr store;
  if (spec.rank == 0) store = OpenStore(spec);
  const auto own_address =
      AwaitPort(spec.master_addr, spec.master_port, deadline, stop);
  if (!own_address) return nullptr;
  if (spec.rank != 0) store = OpenStore(spec);

  const std::string own = fmt::format("{}/{}", spec.world_size, fingerprint);
  store->set(KeyOf(spec.rank), std::vector<uint8_t>(own.begin(), own.end()));
  if (!AwaitRanks(*store, spec, deadline, stop)) return nullptr;
  CheckAgreement(*store, spec, own);

  using Type = c10d::ProcessGroup::BackendType;
  auto group =
      c10::make_intrusive<c10d::ProcessGroup>(store, spec.rank, spec.world_size);
  const auto prefixed = [&](const char* name) -> StorePtr {
    return c10::make_intrusive<c10d::PrefixStore>(name, store);
  };
  group->setBackend(
      torch::kCPU, Type::GLOO, MakeGlooBackend(prefixed("gloo"), spec, *own_address));
  const torch::Device device = DeviceOfRank(spec.local_rank);
  if (device.is_cuda()) {
    group->setBackend(torch::kCUDA,
                      Type::NCCL,
                      MakeNcclBackend(prefixed("nccl"), spec.rank, spec.world_size));
  }
  group->setDefaultBackend(Type::GLOO);
  return std::make_unique<DdpStrategy>(std::move(group), device);
}

}  // namespace hyperopt
