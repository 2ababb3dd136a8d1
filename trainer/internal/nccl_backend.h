// The collectives of GPUs. nccl_backend.cc where the build has CUDA, else
// nccl_backend_stub.cc.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace hyperopt {

// Throws EnvironmentError in a build without CUDA.
c10::intrusive_ptr<c10d::Backend> MakeNcclBackend(
    const c10::intrusive_ptr<c10d::Store>& store, int rank, int world_size);

}  // namespace hyperopt
