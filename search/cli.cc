#include "search/cli.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "search/internal/cli_command.h"
#include "search/internal/cli_help.h"
#include "search/internal/cli_words.h"
#include "search/internal/ludwig_flags.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

// In the order of the help.
constexpr internal::AddCommand* kCommands[] = {
    internal::AddInit,      internal::AddRun,     internal::AddCheck,
    internal::AddTry,       internal::AddResume,  internal::AddStatus,
    internal::AddTrials,    internal::AddExplain, internal::AddShow,
    internal::AddLogs,      internal::AddBest,    internal::AddReport,
    internal::AddDashboard, internal::AddExport,  internal::AddImport,
    internal::AddFinal,     internal::AddVerify,  internal::AddSimulate,
    internal::AddAdd,       internal::AddStop,    internal::AddPause,
    internal::AddSet,       internal::AddAskTell, internal::AddExecutor,
    internal::AddKeygen,    internal::AddVersion, internal::AddLogger,
};

const CLI::App* Innermost(const CLI::App* app) {
  const auto used = app->get_subcommands();
  return used.empty() ? app : Innermost(used.front());
}

std::vector<std::string> NamesFor(const CLI::App* app, bool flag) {
  std::vector<std::string> names;
  if (flag) {
    for (const CLI::Option* option : app->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  } else {
    for (const CLI::App* command : app->get_subcommands(nullptr)) {
      names.push_back(command->get_name());
    }
  }
  return names;
}

int Usage(const CLI::App& app, const CLI::ParseError& error) {
  std::string text = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    // The words that no command took, those after the command first.
    const std::vector<std::string> words = app.remaining(true);
    if (!words.empty()) {
      const CLI::App* command = Innermost(&app);
      const bool flag = words.front().starts_with('-');
      text = internal::UnknownWord(words.front(),
                                   command == &app ? "" : command->get_name(),
                                   NamesFor(command, flag));
    }
  }
  std::fprintf(stderr, "hyperopt: %s\n", text.c_str());
  return static_cast<int>(ExitCode::kUsage);
}

int Parse(CLI::App* app, std::vector<std::string> words) {
  try {
    // CLI11 takes words from the back.
    std::vector<std::string> reversed(words.rbegin(), words.rend() - 1);
    app->parse(std::move(reversed));
    return -1;
  } catch (const CLI::Success& success) {  // --help
    return app->exit(success);
  } catch (const CLI::ParseError& error) {
    return Usage(*app, error);
  }
}

}  // namespace

int RunCli(const std::vector<std::string>& words) {
  CLI::App app(internal::kWhatItIs, "hyperopt");
  app.footer(internal::kExitCodes);
  app.formatter(std::make_shared<internal::HelpText>());
  app.set_help_all_flag("--help-all", "Help of all commands");
  app.set_version_flag("--version", HYPEROPT_VERSION);
  app.require_subcommand(0, 1);
  internal::Run run = internal::AddBareRun(&app);
  for (internal::AddCommand* add : kCommands) add({&app, words, &run});
  if (words.size() < 2) {
    std::fputs(app.help().c_str(), stderr);
    return static_cast<int>(ExitCode::kUsage);
  }
  const int code = Parse(&app, internal::TranslateLudwigFlags(words));
  if (code >= 0) return code;
  return run();
}

}  // namespace hyperopt
