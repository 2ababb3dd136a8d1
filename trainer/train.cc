#include "trainer/train.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "trainer/internal/loop.h"
#include "trainer/internal/strategy.h"
#include "trial/errors.h"
#include "trial/rng.h"

namespace hyperopt {
namespace {

std::string BytesOf(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

// What all ranks must agree on.
std::string Fingerprint(const TrainJob& job) {
  return fmt::format("{:x}/{:x}/{:x}/{}/{}",
                     HashText(ResolvedConfig(job.config).dump()),
                     HashText(BytesOf(job.data.inputs)),
                     HashText(BytesOf(job.data.targets)),
                     job.seed,
                     job.budget.value_or(-1));
}

std::string FirstLine(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace

TrainEnd Train(const TrainJob& job) {
  try {
    const auto strategy = job.rank.distributed
                              ? JoinRanks(job.rank, Fingerprint(job), job.stop)
                              : MakeSingleStrategy();
    if (!strategy) return TrainEnd::kStopRequested;
    Loop loop(job, *strategy);
    return loop.Run();
  } catch (const c10::Error& error) {
    // A lost peer, a full device memory: the environment's, unless proved otherwise.
    throw EnvironmentError(fmt::format(
        "rank {}: {}", job.rank.rank, FirstLine(error.what_without_backtrace())));
  }
}

}  // namespace hyperopt
