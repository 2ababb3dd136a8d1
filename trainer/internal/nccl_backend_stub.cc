#include "trainer/internal/nccl_backend.h"
#include "trial/errors.h"

namespace hyperopt {

c10::intrusive_ptr<c10d::Backend> MakeNcclBackend(
    const c10::intrusive_ptr<c10d::Store>&, int, int) {
  throw EnvironmentError(
      "a GPU is visible, but this hyperopt-train was built without CUDA; build with "
      "-DHYPEROPT_CUDA=ON or hide the GPUs (use_gpu: false)");
}

}  // namespace hyperopt
