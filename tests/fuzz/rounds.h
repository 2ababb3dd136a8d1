// How long a fuzzer goes on: FUZZER [ROUNDS | SECONDSs] [SEED], as `config_fuzz 60s 7`.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace hyperopt::fuzz {

// Round i of a seed is the same whichever way the end is named.
class Rounds {
 public:
  Rounds(int argc, char** argv, int64_t rounds) : most_(rounds) {
    if (argc > 1) most_ = std::atoll(argv[1]);
    if (argc > 1 && std::string(argv[1]).ends_with('s')) {
      until_ = Clock::now() + std::chrono::seconds(most_);
      most_ = INT64_MAX;
    }
    if (argc > 2) seed_ = std::strtoull(argv[2], nullptr, 10);
  }

  // Goes to the next round; false where it was the last one.
  bool Next() {
    constexpr int64_t kLookEvery = 16;
    if (done_ == most_) return false;
    if (done_ % kLookEvery == 0 && Clock::now() >= until_) return false;
    ++done_;
    return true;
  }
  int64_t done() const { return done_; }
  uint64_t seed() const { return seed_; }

 private:
  using Clock = std::chrono::steady_clock;

  int64_t most_;
  int64_t done_ = 0;
  uint64_t seed_ = 1;
  Clock::time_point until_ = Clock::time_point::max();
};

}  // namespace hyperopt::fuzz
