#include "executors/setup_environment.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "trial/errors.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;

class Folder {
 public:
  Folder() {
    std::string name = fs::temp_directory_path() / "ho setup.XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }
  SetupResult Run(const std::string& lines,
                  const Strings& env = {"PATH=/usr/bin:/bin", "A=1", "HOME=/"}) const {
    return RunSetup(lines, path_, path_, env);
  }

 private:
  fs::path path_;
};

bool Has(const SetupResult& result, const std::string& variable) {
  return std::find(result.environment.begin(), result.environment.end(), variable) !=
         result.environment.end();
}

TEST_SUITE_BEGIN("setup");

TEST_CASE("trials start from the environment that the lines leave") {
  const Folder folder;
  std::ofstream(folder.path() / "activate") << "export VIRTUAL_ENV=/venv\n"
                                               "PATH=/venv/bin:$PATH\n"
                                               "deactivate() { :; }\n";
  const SetupResult result = folder.Run(
      "source activate\n"
      "# a comment with ${learning_rate}\n"
      "export B='two\nlines' NOT_EXPORTED_BEFORE=\"$A\"\n"
      "export -f deactivate\nlocal_only=1\nunset A");
  CHECK(result.error == "");
  CHECK(Has(result, "VIRTUAL_ENV=/venv"));
  CHECK(Has(result, "PATH=/venv/bin:/usr/bin:/bin"));
  CHECK(Has(result, "B=two\nlines"));
  CHECK(Has(result, "NOT_EXPORTED_BEFORE=1"));
  for (const std::string& variable : result.environment) {
    for (const char* not_there : {"A=", "BASH_FUNC", "local_only", "_=", "hyperopt_"}) {
      CHECK_FALSE(variable.starts_with(not_there));
    }
  }
  CHECK(ChangedVariables({"PATH=/usr/bin:/bin", "A=1", "HOME=/"}, result.environment) ==
        Strings{"A", "B", "NOT_EXPORTED_BEFORE", "PATH", "VIRTUAL_ENV"});
}

TEST_CASE("the line that fails is named, with what it said") {
  const Folder folder;
  SUBCASE("a command") {
    const std::string error =
        folder.Run("export X=1\n\nls /nowhere/at/all\ntrue").error;
    CHECK(error.starts_with("setup: line 3: ls /nowhere/at/all: exit code "));
    CHECK(error.find("/nowhere/at/all'") != error.npos);
  }
  SUBCASE("the first line") {
    CHECK(folder.Run("false").error == "setup: line 1: false: exit code 1");
  }
  SUBCASE("a program that is not there") {
    const std::string error = folder.Run("true\nno-such-program 1").error;
    CHECK(error.starts_with("setup: line 2: no-such-program 1: exit code 127\n"));
  }
  SUBCASE("a file that is not there") {
    const std::string error = folder.Run("source venv/bin/activate").error;
    CHECK(error.starts_with("setup: line 1: source venv/bin/activate: exit code 1\n"));
  }
  SUBCASE("a syntax error") {
    const std::string error = folder.Run("true\necho \"open").error;
    CHECK(error.starts_with("setup: exit code 2\n"));
    CHECK(error.find("setup.sh") != error.npos);
  }
  SUBCASE("a signal") { CHECK(folder.Run("kill -9 $$").error == "setup: signal 9"); }
  SUBCASE("an exit") {
    CHECK(folder.Run("exit 7").error == "setup: exit code 7");
    CHECK(folder.Run("exit 0").error.starts_with("setup: it called `exit`"));
  }
}

TEST_CASE("a condition that does not hold is no failure") {
  const Folder folder;
  const SetupResult result =
      folder.Run("if [ -e nothing ]; then exit 3; fi\nfalse || export OK=1");
  CHECK(result.error == "");
  CHECK(Has(result, "OK=1"));
}

TEST_CASE("`module` is found where the machine has it, though nobody logged in") {
  const Folder folder;
  fs::create_directories(folder.path() / "modules/init");
  std::ofstream(folder.path() / "modules/init/bash")
      << "module() { export LOADED=\"$*\"; }\n";
  const SetupResult result =
      folder.Run("module load cuda/12",
                 {"PATH=/usr/bin:/bin",
                  "HOME=/",
                  "MODULESHOME=" + (folder.path() / "modules").native()});
  CHECK(result.error == "");
  CHECK(Has(result, "LOADED=load cuda/12"));
}

TEST_CASE("`conda activate` works where conda is only a program") {
  const Folder folder;
  const fs::path conda = folder.path() / "conda";
  std::ofstream(conda) << "#!/bin/sh\necho 'conda() { export CONDA_ENV=$2; }'\n";
  chmod(conda.c_str(), 0755);
  const SetupResult result =
      folder.Run("conda activate torch",
                 {"PATH=/usr/bin:/bin", "HOME=/", "CONDA_EXE=" + conda.native()});
  CHECK(result.error == "");
  CHECK(Has(result, "CONDA_ENV=torch"));
}

TEST_CASE("a folder that is not there is told") {
  const Folder folder;
  CHECK_THROWS_WITH_AS(
      RunSetup("true", folder.path() / "absent", folder.path(), {"PATH=/usr/bin:/bin"}),
      doctest::Contains("can not be entered"),
      EnvironmentError);
}

TEST_CASE("one that runs is waited for, and killed with its owner") {
  const Folder folder;
  const fs::path gate = folder.path() / "gate";
  REQUIRE(mkfifo(gate.c_str(), 0600) == 0);
  {
    SetupRun run("read x < gate", folder.path(), folder.path(), {"PATH=/usr/bin:/bin"});
    CHECK_FALSE(run.Wait(0));
  }
  SetupRun run("read x < gate\nexport X=$x",
               folder.path(),
               folder.path(),
               {"PATH=/usr/bin:/bin"});
  std::ofstream(gate) << "word\n";
  std::optional<SetupResult> result = run.Wait(60);
  REQUIRE(result);
  CHECK(Has(*result, "X=word"));
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt
