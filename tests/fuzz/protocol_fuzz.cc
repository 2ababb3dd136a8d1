// Throws mutated bytes at the message decoders: protocol_fuzz [ROUNDS | SECONDSs]
// [SEED]. Whatever comes, they answer a message or nullopt. Run it under the
// sanitizers, which make a crash of every stray access.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "executors/codec.h"
#include "tests/fuzz/rounds.h"
#include "trial/rng.h"

namespace {

using namespace hyperopt;  // NOLINT: a program, not a header

std::vector<std::string> Seeds() {
  Launch launch;
  launch.params = {{"lr", 0.1}, {"n", int64_t{3}}, {"s", Structured{"[1]"}}};
  launch.devices = {{"0"}, {"1"}};
  Welcome welcome;
  welcome.sweep.command = {"sh", "-c", "true"};
  welcome.sweep.arg_names = {{"lr", std::nullopt}};
  welcome.expected = {{RunKey{}, {SourceOffset{}}}};
  Answer answer;
  answer.acks = {{RunKey{}, {SourceOffset{}}, 1, 2}};
  answer.ended = {RunKey{}};
  Hello hello;
  hello.resources.devices = {{"0"}};
  hello.holdings = {{RunKey{}, HoldState::kRunning, "why"}};
  Measured measured;
  measured.lines = {{10, 1, {{"loss", 0.5}}, 0.1}, {20, 2, {}, 0.2}};
  Exited exited;
  exited.offsets = {SourceOffset{}};
  exited.checkpoints = {1, 2, 300};
  Heartbeat heartbeat;
  heartbeat.holdings = hello.holdings;
  std::vector<std::string> seeds = {"", "\x92", std::string(100, '\xdd')};
  for (const ToExecutor& m : {ToExecutor(welcome),
                              ToExecutor(answer),
                              ToExecutor(launch),
                              ToExecutor(Stop{}),
                              ToExecutor(Shutdown{}),
                              ToExecutor(Refused{"no"})}) {
    seeds.push_back(Encode(m));
  }
  for (const FromExecutor& m : {FromExecutor(hello),
                                FromExecutor(heartbeat),
                                FromExecutor(measured),
                                FromExecutor(exited)}) {
    seeds.push_back(Encode(m));
  }
  return seeds;
}

// One small change: a byte set, a bit flipped, bytes cut out, doubled or inserted.
void Mutate(Rng& rng, const std::vector<std::string>& seeds, std::string& bytes) {
  const size_t at = rng.Below(bytes.size() + 1);
  switch (rng.Below(6)) {
    case 0:
      if (at < bytes.size()) bytes[at] = static_cast<char>(rng.Below(256));
      break;
    case 1:
      if (at < bytes.size())
        bytes[at] = static_cast<char>(bytes[at] ^ 1 << rng.Below(8));
      break;
    case 2:
      bytes.erase(at, rng.Below(8));
      break;
    case 3:
      bytes.insert(at, bytes.substr(at, rng.Below(16)));
      break;
    case 4:
      // Tags of long strings, lists and maps, where the sizes hide.
      bytes.insert(at, 1, static_cast<char>(0xc0 + rng.Below(0x20)));
      break;
    default: {
      const std::string& other = seeds[rng.Below(seeds.size())];
      bytes = bytes.substr(0, at) + other.substr(rng.Below(other.size() + 1));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  fuzz::Rounds rounds(argc, argv, 1'000'000);
  const std::vector<std::string> seeds = Seeds();
  Rng rng(rounds.seed(), TrialId(0), "protocol_fuzz");
  long messages = 0;
  while (rounds.Next()) {
    std::string bytes = seeds[rng.Below(seeds.size())];
    const uint64_t changes = 1 + rng.Below(6);
    for (uint64_t k = 0; k < changes; ++k) Mutate(rng, seeds, bytes);
    if (const auto m = DecodeToExecutor(bytes)) messages += !Encode(*m).empty();
    if (const auto m = DecodeFromExecutor(bytes)) messages += !Encode(*m).empty();
  }
  fmt::print("{} mutated frames, seed {}: {} were messages still, none crashed\n",
             rounds.done(),
             rounds.seed(),
             messages);
  return messages > 0 ? 0 : 1;
}
