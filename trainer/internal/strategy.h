// How the ranks of a trial train one model together. The loop knows only this.
#pragma once

#include <torch/torch.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "trainer/train.h"

namespace hyperopt {

// Every call is collective: all ranks make the same calls in the same order, from one
// thread. A lost peer ends a call with an exception, never with a wrong result.
class Strategy {
 public:
  virtual ~Strategy() = default;

  virtual int rank() const = 0;
  virtual int world_size() const = 0;
  // Where the model and the batches live.
  virtual torch::Device device() const = 0;

  // Takes over the model's parameters: rank 0's values reach all ranks, and from now on
  // a backward pass leaves in each the mean of the ranks' gradients. Called once; the
  // tensors must outlive the strategy's use.
  virtual void Attach(const std::vector<torch::Tensor>& parameters) = 0;
  // Before each loss.backward().
  virtual void BeforeBackward(const torch::Tensor& loss) = 0;
  // Rank 0's values of tensors on device().
  virtual void Broadcast(std::vector<torch::Tensor> tensors) = 0;
  // Whether any rank says so.
  virtual bool AnyTrue(bool mine) = 0;
  // The ranks' rows one after the other. `rows` is a contiguous CPU tensor; only its
  // first size may differ between ranks.
  virtual torch::Tensor Gather(const torch::Tensor& rows) = 0;
};

// One process on its own: a GPU where this build and the machine have one, else the
// CPU.
std::unique_ptr<Strategy> MakeSingleStrategy();

// Joins the other ranks; nullptr where `stop` was set while they were awaited.
// `fingerprint` must be the same in all ranks (config, seed, data). Throws
// EnvironmentError that names the ranks which did not come within the spec's
// join_timeout, and where the ranks disagree on fingerprint or world size.
std::unique_ptr<Strategy> JoinRanks(const RankSpec& spec,
                                    const std::string& fingerprint,
                                    const std::atomic<bool>& stop);

// The device of a rank: its GPU where this build has CUDA and one is visible.
torch::Device DeviceOfRank(int local_rank);

}  // namespace hyperopt
