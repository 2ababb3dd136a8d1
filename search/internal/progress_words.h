// What a person is told while a sweep runs, line by line: rate-bounded, so that a
// thousand trials a second stay readable.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "search/config.h"
#include "search/controller.h"
#include "search/status.h"

namespace hyperopt::internal {

// What becomes of a line that is longer than the terminal is wide. In a pipe it stays.
enum class TooLong {
  kWrap,   // goes on in the next line, indented
  kCut,    // its end is left out: it will be said again
  kWhole,  // stays for the terminal to break: a path or a command, to be copied
};

class ProgressWords {
 public:
  using Emit = std::function<void(const std::string&, TooLong)>;
  // `config` must outlive it.
  ProgressWords(const SearchConfig& config, Emit emit)
      : config_(config), emit_(std::move(emit)) {}

  // The lines that matter of one turn: the best that improved (now and then), the first
  // failures with their reasons, executors that come and go.
  void OnTurn(std::span<const RecordChange> changes,
              const Controller& controller,
              Now now);

  // A first signal to stop was told of: its "stop asked" need not be.
  void StopIsSaid() { stop_said_ = true; }

  // The whole sweep, as of now.
  SweepStatus Status(const Controller& controller, Now now) const;

  // The last lines, for an end at `dir` (which holds best.json by then).
  void End(const SweepEnd& end,
           const Controller& controller,
           const std::filesystem::path& dir,
           Now now);
  // The same on one line.
  std::string EndLine(const SweepEnd& end,
                      const Controller& controller,
                      const std::filesystem::path& dir,
                      Now now) const;

 private:
  void Begin(const Controller& controller, Now now);
  void OnEvent(const EventRow& event, const Controller& controller);
  void OnFailure(const TrialRow& row, const Controller& controller);
  void SayAlike();
  void NoteBest(const Controller& controller, Now now);
  void Say(std::string_view line, TooLong too_long = TooLong::kWrap) const;

  const SearchConfig& config_;
  Emit emit_;
  std::optional<Time> began_;
  int64_t finished_before_ = 0;
  std::optional<BestSoFar> said_best_;
  Time next_best_;
  int64_t failures_said_ = 0;
  std::string failure_said_;  // the kind that was said last
  int64_t alike_ = 0;         // failures of that kind since, not yet told of
  int64_t odd_said_ = 0;
  bool stop_said_ = false;
  bool no_copy_said_ = false;
  std::string words_said_;  // of a failure: its last line
};

// The best trial's parameters. A controller keeps those of unfinished trials only; of
// one that finished in an earlier session best.json tells. Empty where neither does;
// `dir` may be empty.
Params ParamsAtEnd(const Controller& controller,
                   TrialId best,
                   const std::filesystem::path& dir);

}  // namespace hyperopt::internal
