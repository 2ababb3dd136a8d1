// One subcommand of the command line: how it is found, and what it runs.
//
// A new one is a function of type AddCommand in a cli_<group>.cc (a new file, or the
// one of its kin) and a line in the table of search/cli.cc.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace hyperopt::internal {

// Runs a parsed command; the result is the exit code.
using Run = std::function<int()>;

struct CommandLine {
  CLI::App* app;                          // what subcommands are added to
  const std::vector<std::string>& words;  // as they were typed, with the program's name
  Run* run;                               // set where a subcommand is parsed
};

// Adds a subcommand to `line.app` that sets `*line.run` when it is parsed. `line` is
// gone by then; what it points at is not.
using AddCommand = void(const CommandLine& line);

// cli_start.cc
AddCommand AddRun, AddCheck, AddTry, AddResume, AddFinal, AddExecutor;
// cli_look.cc
AddCommand AddStatus, AddTrials, AddExplain, AddBest, AddExport, AddVerify;
// cli_report.cc
AddCommand AddDashboard, AddImport, AddLogger, AddReport;
// cli_simulate.cc
AddCommand AddSimulate;
// cli_trial.cc
AddCommand AddShow, AddLogs;
// cli_steer.cc
AddCommand AddKeygen, AddVersion;
// cli_init.cc
AddCommand AddInit;
// cli_ask_tell.cc
AddCommand AddAskTell;
// cli_change.cc
AddCommand AddAdd, AddStop, AddPause, AddSet;

// The flags of `run` without the word; what it returns runs them.
Run AddBareRun(CLI::App* app);

}  // namespace hyperopt::internal
