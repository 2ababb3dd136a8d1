#include "search/commands/ask_tell_command.h"

#include <cstdio>
#include <iostream>
#include <string>

#include "search/ask_tell.h"
#include "search/config.h"
#include "search/record_start.h"
#include "search/sweep_folder.h"
#include "search/warm_start.h"
#include "trial/clock.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

// Nothing is started here, so a file need not say what to start.
SearchConfig LoadForAsking(const AskTellOptions& options) {
  std::vector<Override> overrides = OverridesOf(options.config);
  try {
    return LoadConfig(options.config.file.value(), overrides);
  } catch (const ConfigErrors&) {
    overrides.push_back({"command", "[ask-tell]"});
    try {
      return LoadConfig(options.config.file.value(), overrides);
    } catch (const ConfigErrors&) {
    }
    throw;
  }
}

}  // namespace

int AskTellCommand(const AskTellOptions& options) {
  SearchConfig config = LoadForAsking(options);
  std::optional<SweepFolder> folder;
  OpenedRecord record;
  if (options.output) {
    folder = SweepFolder::Take(*options.output);
    record = OpenRecord(&*folder, &config, OldRecord::kResume);
  } else {
    record.notes = ReadWarmStart(&config);
  }
  for (const std::string& note : record.notes) {
    std::fprintf(stderr, "hyperopt: %s\n", note.c_str());
  }
  if (!config.loggers.empty()) {
    std::fprintf(stderr,
                 "hyperopt: `loggers` are not started here; hyperopt export logs what "
                 "--output has recorded\n");
  }
  AskTell session(config, record.store.get(), std::move(record.snapshot));
  std::string line;
  while (std::getline(std::cin, line)) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string answer = session.Answer(line, ReadClocks());
    std::fwrite((answer + "\n").data(), 1, answer.size() + 1, stdout);
    if (std::fflush(stdout) != 0) break;  // nobody listens any more
  }
  session.Close(ReadClocks());
  return 0;
}

}  // namespace hyperopt
