// What a running sweep says: a live block on a terminal, plain lines in a pipe, one
// JSON object an event, or nothing but the end.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "search/config.h"
#include "search/controller.h"
#include "trial/clock.h"
#include "trial/record.h"

namespace hyperopt {

enum class ProgressMode {
  kTerminal,  // a status block, redrawn in place; what matters scrolls above it
  kPlain,     // lines, few enough to be read
  kJson,      // one object an event
  kQuiet,     // the last line, and errors on stderr
  kSilent,    // errors on stderr: who started it tells the rest
};

// `stdout_is_tty`: a terminal that understands cursor movements (not TERM=dumb).
ProgressMode ChooseMode(bool json, bool quiet, bool stdout_is_tty);

// Never blocks: a reader that stands still (a pager, Ctrl-S) delays words, not trials.
// In kJson all events wait for it, up to 64 MiB; an event "dropped" says how many went.
// Used from one thread. Writes to `out`'s descriptor, past its buffer.
class Progress {
 public:
  // Both must outlive it.
  Progress(ProgressMode mode, std::FILE* out, const SearchConfig& config);
  ~Progress();

  // A note, before and during the sweep; JSON: {"event": "note", "text": ...}.
  void Say(std::string_view line);
  // As Say, but also heard in kQuiet and beside kJson's objects, on stderr.
  void Warn(std::string_view line);

  // The user's signals to stop, the first, the second, ...: each is told of once.
  void OnInterrupt(int count);

  // After each commit, with what was committed. Costs little where nothing is shown: it
  // is called over 1,000 times a second.
  void OnTurn(std::span<const RecordChange> changes,
              const Controller& controller,
              Now now);

  // The last words. Waits for a slow reader, at most a few seconds.
  void End(const SweepEnd& end,
           const Controller& controller,
           const std::filesystem::path& dir,
           Now now);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hyperopt
