#include "search/progress.h"

#include <string>

#include "search/format.h"
#include "search/internal/live_block.h"
#include "search/internal/patient_output.h"
#include "search/internal/progress_events.h"
#include "search/internal/progress_words.h"
#include "search/status.h"

namespace hyperopt {
namespace {

constexpr size_t kEventsKept = 64 << 20;
constexpr size_t kLinesKept = 256 << 10;
constexpr double kRedrawEveryS = 0.2;
// The longer a sweep runs, the rarer a line in a pipe.
constexpr double kFirstSummaryS = 2;
constexpr double kMostSummaryS = 60;
constexpr double kPatienceAtEndS = 5;

using internal::TooLong;

std::string Fitted(const std::string& line, size_t width, TooLong too_long) {
  constexpr size_t kIndent = 4;
  switch (too_long) {
    case TooLong::kWrap:
      return Wrapped(line, width, kIndent);
    case TooLong::kCut:
      return Shortened(line, width);
    default:
      return line;
  }
}

}  // namespace

ProgressMode ChooseMode(bool json, bool quiet, bool stdout_is_tty) {
  if (json) return ProgressMode::kJson;
  if (quiet) return ProgressMode::kQuiet;
  return stdout_is_tty ? ProgressMode::kTerminal : ProgressMode::kPlain;
}

struct Progress::Impl {
  Impl(ProgressMode the_mode, std::FILE* out, const SearchConfig& config)
      : mode(the_mode),
        fd(fileno(out)),
        output(fd, mode == ProgressMode::kJson ? kEventsKept : kLinesKept),
        words(config,
              [this](const std::string& line, TooLong too_long) {
                Line(line, too_long);
              }),
        events(config) {}

  void Line(const std::string& line, TooLong too_long = TooLong::kWrap) {
    if (mode == ProgressMode::kTerminal) {
      const internal::TerminalSize size = internal::SizeOfTerminal(fd);
      output.Write(block.Above(Fitted(line, size.columns - 1, too_long), size));
      redraw = true;
    } else if (mode == ProgressMode::kPlain) {
      output.Write(line + "\n");
    }
  }

  void Events(const std::string& lines) {
    if (lines.empty()) return;
    if (dropped > 0 && output.idle()) {
      output.Write(internal::NoteEvent("dropped", std::to_string(dropped)));
      dropped = 0;
    }
    if (!output.Write(lines)) ++dropped;
  }

  // In place, and only where the terminal takes it: an old block is worth nothing.
  void Redraw(const Controller& controller, Now now) {
    if (now.steady < next_draw && !redraw) return;
    if (!output.idle()) return;
    redraw = false;
    next_draw = now.steady + Seconds(kRedrawEveryS);
    const internal::TerminalSize size = internal::SizeOfTerminal(fd);
    const std::vector<std::string> lines =
        StatusBlock(words.Status(controller, now), size.columns - 1);
    output.Write(block.Draw(lines, size));
  }

  void Summarize(const Controller& controller, Now now) {
    if (summary_every == 0) {
      summary_every = kFirstSummaryS;
      next_draw = now.steady + Seconds(summary_every);
    }
    if (now.steady < next_draw) return;
    summary_every = std::min(summary_every * 1.3, kMostSummaryS);
    next_draw = now.steady + Seconds(summary_every);
    Line(StatusLine(words.Status(controller, now)));
  }

  ProgressMode mode;
  int fd;
  internal::PatientOutput output;
  internal::ProgressWords words;
  internal::ProgressEvents events;
  internal::LiveBlock block;
  bool redraw = true;
  Time next_draw;
  double summary_every = 0;
  int64_t dropped = 0;  // turns whose events were dropped
};

Progress::Progress(ProgressMode mode, std::FILE* out, const SearchConfig& config)
    : impl_(std::make_unique<Impl>(mode, out, config)) {}

Progress::~Progress() = default;

void Progress::Say(std::string_view line) {
  if (impl_->mode == ProgressMode::kJson) {
    impl_->Events(internal::NoteEvent("note", line));
  } else {
    impl_->Line(Printable(line));
  }
}

void Progress::Warn(std::string_view line) {
  Say(line);
  if (impl_->mode != ProgressMode::kTerminal && impl_->mode != ProgressMode::kPlain) {
    std::fprintf(stderr, "hyperopt: %s\n", Printable(line).c_str());
  }
}

void Progress::OnInterrupt(int count) {
  if (count > 2) return;
  Say(count == 1
          ? "interrupted: nothing new starts, running trials are stopped and put "
            "back; once more kills them"
          : "killing what runs");
  impl_->words.StopIsSaid();
}

void Progress::OnTurn(std::span<const RecordChange> changes,
                      const Controller& controller,
                      Now now) {
  Impl& self = *impl_;
  if (!self.output.idle()) self.output.Flush();
  if (self.mode == ProgressMode::kQuiet || self.mode == ProgressMode::kSilent) return;
  if (self.mode == ProgressMode::kJson) {
    self.Events(self.events.OnTurn(changes, controller, now));
    return;
  }
  self.words.OnTurn(changes, controller, now);
  if (self.mode == ProgressMode::kTerminal) {
    self.Redraw(controller, now);
  } else {
    self.Summarize(controller, now);
  }
}

void Progress::End(const SweepEnd& end,
                   const Controller& controller,
                   const std::filesystem::path& dir,
                   Now now) {
  Impl& self = *impl_;
  const bool bad = end.code != ExitCode::kDone && end.code != ExitCode::kInterrupted;
  switch (self.mode) {
    case ProgressMode::kJson:
      self.Events(self.events.End(
          end, self.words.Status(controller, now), controller, dir, now));
      break;
    case ProgressMode::kQuiet:
      self.output.Write(self.words.EndLine(end, controller, dir, now) + "\n");
      break;
    case ProgressMode::kSilent:
      break;
    case ProgressMode::kTerminal:
    case ProgressMode::kPlain:
      self.words.End(end, controller, dir, now);
      break;
  }
  const bool shown =
      self.mode == ProgressMode::kTerminal || self.mode == ProgressMode::kPlain;
  const bool left_to_caller =
      self.mode == ProgressMode::kSilent && end.code == ExitCode::kNoTrialCompleted;
  if (bad && !shown && !left_to_caller && !end.why.empty()) {
    std::fprintf(stderr, "hyperopt: %s\n", Printable(end.why).c_str());
  }
  self.output.Finish(kPatienceAtEndS);
}

}  // namespace hyperopt
