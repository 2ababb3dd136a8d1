#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "search/commands/ask_controller.h"
#include "search/commands/look.h"
#include "search/commands/sweep_dir.h"
#include "search/commands/sweep_facts.h"
#include "search/commands/text_width.h"
#include "search/format.h"
#include "search/origin.h"
#include "search/status.h"
#include "search/sweep_folder.h"
#include "trial/text.h"

namespace hyperopt {
namespace {

// Of a sweep that a controller runs, and does not answer (another host, busy, just
// starting) or that none runs: what its record says.
SweepStatus FromRecord(const SweepFacts& facts, bool alive) {
  SweepStatus status = StatusOf(Summarize(facts), facts.config);
  // A controller that was killed has left its word behind.
  if (!alive && facts.sweep.state == SweepState::kRunning) status.state = "killed";
  return status;
}

void Print(const SweepStatus& status, const std::string& head) {
  std::printf("%s\n", Wrapped(Printable(head), TextWidth(), 2).c_str());
  for (const std::string& line : StatusBlock(status, TextWidth())) {
    std::printf("%s\n", line.c_str());
  }
}

// Git may take its time: what is known is shown before it is asked. "" where it is over
// or nothing changed.
std::string CodeChange(const SweepFacts& facts, const SweepStatus& status) {
  std::fflush(stdout);
  const bool over = status.state == "finished" || status.state == "failed";
  return over ? "" : CodeChangeSince(facts.sweep.origin);
}

}  // namespace

int StatusCommand(const StatusOptions& options) {
  const std::filesystem::path dir = SweepDirOf(options.dir);
  const std::optional<LockHolder> holder = FindController(dir);
  const auto answer = AskController(dir, {{"op", "status"}});
  const SweepFacts facts(dir);
  const SweepStatus status =
      answer ? StatusFromJson(*answer) : FromRecord(facts, holder.has_value());
  if (options.json) {
    OrderedJson json = StatusToJson(status);
    json["dir"] = dir.string();
    json["pid"] = holder ? OrderedJson(holder->pid) : OrderedJson();
    const std::string change = CodeChange(facts, status);
    json["code_changed"] = change.empty() ? OrderedJson() : OrderedJson(change);
    std::printf("%s\n", DumpJson(json).c_str());
    return 0;
  }
  std::string head =
      fmt::format("{} in {}: {}", status.name, dir.string(), status.state);
  if (holder) {
    head += fmt::format(
        ", pid {} on {} since {}", holder->pid, holder->host, holder->started);
  }
  Print(status, head);
  if (!holder && (status.state == "interrupted" || status.state == "killed")) {
    std::printf("no controller runs; go on with:\n  hyperopt resume %s\n",
                QuoteShellWord(dir.string()).c_str());
  }
  const std::string change = CodeChange(facts, status);
  if (!change.empty()) {
    const std::string line = fmt::format(
        "code     not what the sweep began with: {} (workdir: snapshot keeps a copy)",
        change);
    std::printf("%s\n", Wrapped(Printable(line), TextWidth(), 9).c_str());
  }
  return 0;
}

}  // namespace hyperopt
