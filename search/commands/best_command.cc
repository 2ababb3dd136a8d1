#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "search/commands/best.h"
#include "search/commands/sweep_dir.h"
#include "search/format.h"
#include "trial/errors.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

void Print(const RecordedSweep& sweep, const BestTrial& best) {
  std::printf("%s\n",
              Printable(fmt::format("{} {} (trial {}, {}, step {})",
                                    sweep.record.sweep.metric,
                                    NumberText(best.value),
                                    best.trial.value(),
                                    ToString(best.state),
                                    best.step))
                  .c_str());
  for (const auto& [name, value] : best.params) {
    std::printf("  %s\n", Printable(name + " = " + ToWord(value)).c_str());
  }
  std::printf("config      %s\n", best.config_file.c_str());
  if (best.checkpoint.empty()) {
    std::printf("checkpoint  none\n");
  } else {
    std::printf("checkpoint  %s%s\n",
                best.checkpoint.c_str(),
                best.checkpoint_step == best.step ? "" : " (of another step)");
  }
  std::printf("also in     %s\n", (sweep.dir / "best.json").c_str());
}

}  // namespace

int BestCommand(const BestOptions& options) {
  const RecordedSweep sweep = ReadSweep(SweepDirOf(options.dir));
  const std::optional<BestTrial> best = FindBestTrial(sweep);
  if (!best) {
    std::fprintf(stderr,
                 "hyperopt: no trial has a finite %s yet\n",
                 sweep.record.sweep.metric.c_str());
    return static_cast<int>(ExitCode::kNoTrialCompleted);
  }
  const std::string text = DumpJson(BestToJson(sweep, *best), 2) + "\n";
  WriteFileAtomically(sweep.dir / "best.json", text, Durability::kProcess);
  if (options.json) {
    std::fputs(text.c_str(), stdout);
  } else {
    Print(sweep, *best);
  }
  return 0;
}

}  // namespace hyperopt
