// The command line: what is refused, and in which words.
#include "search/cli.h"

#include <doctest/doctest.h>

#include "search/internal/ludwig_flags.h"
#include "search/testing/captured.h"
#include "search/testing/config_text.h"
#include "trial/errors.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

using testing::Captured;

struct Ran {
  int code = -1;
  std::string out, err;
};
Ran RunWords(std::vector<std::string> words) {
  words.insert(words.begin(), "hyperopt");
  Ran ran;
  ran.err = Captured(stderr, [&] {
    ran.out = Captured(stdout, [&] {
      try {
        ran.code = RunCli(words);
      } catch (const Error& error) {
        ran.code = static_cast<int>(error.code());
        std::fprintf(stderr, "hyperopt: %s\n", error.what());
      }
    });
  });
  return ran;
}

std::filesystem::path SearchFile(const std::string& text) {
  const std::filesystem::path dir =
      std::filesystem::temp_directory_path() / ("cli test " + RandomHex(6));
  std::filesystem::create_directory(dir);
  WriteFileAtomically(dir / "search.yaml", text, Durability::kProcess);
  return dir / "search.yaml";
}

TEST_CASE("usage errors end with 2 and name the right word") {
  const struct {
    std::vector<std::string> words;
    const char* says;
  } cases[] = {
      {{"--confg", "x"}, "--confg: unknown flag; did you mean --config?"},
      {{"statsu"}, "statsu: unknown command; did you mean status?"},
      {{"search.yaml"}, "did you mean --config search.yaml?"},
      {{"status", "--jsn"}, "--jsn: unknown flag; did you mean --json?"},
      {{"trials", "--state", "done"}, "--state: done is not a state"},
      {{"trials", "--limit", "-3"}, "--limit"},
      {{"export", "--format", "xml"}, "xml"},
      {{"resume", "d", "--trials", "many"}, "write +50 for 50 more"},
      {{"executor"}, "--connect"},
      {{"executor", "--connect", "tcp://h:1", "--mode", "maybe"}, "stop or finish"},
      {{"explain", "d", "third"}, "third is no number of a trial"},
      {{"check"}, "no search file"},
      {{"--config", "a", "--config_str", "b"}, "choose one"},
      {{"--config", "/nowhere/search.yaml"}, "there is no such file"},
      {{"status", "/nowhere"}, "there is no sweep here"},
      {{"--config_str", "hyperopt: {", "--set", "novalue"}, "--set key=value"},
      {{"--memory", "lots"}, "a size as 8GiB"},
  };
  for (const auto& each : cases) {
    CAPTURE(each.says);
    const Ran ran = RunWords(each.words);
    CHECK(ran.code == 2);
    CAPTURE(ran.err);
    CHECK(ran.err.find(each.says) != std::string::npos);
    CHECK(ran.out.empty());
  }
}

TEST_CASE("Ludwig's flags: two letters after a dash, and those without use") {
  const auto words = internal::TranslateLudwigFlags(
      {"hyperopt", "-cs", "{}", "-rs", "7", "-c", "f", "--", "-mlp"});
  CHECK(words == std::vector<std::string>{"hyperopt",
                                          "--config_str",
                                          "{}",
                                          "--random_seed",
                                          "7",
                                          "-c",
                                          "f",
                                          "--",
                                          "-mlp"});
  for (const char* flag : {"-sshs",
                           "--skip_save_model",
                           "--skip-save-model",
                           "-mlp",
                           "--backend=local",
                           "-hlv",
                           "--wandb",
                           "--training_set"}) {
    CAPTURE(flag);
    CHECK_THROWS_WITH_AS(internal::TranslateLudwigFlags({"hyperopt", flag}),
                         doctest::Contains("has no use here: "),
                         ConfigError);
  }
}

TEST_CASE("help and version go to stdout and end with 0") {
  Ran ran = RunWords({"--help"});
  CHECK(ran.code == 0);
  for (const char* word : {"check", "resume", "--dry-run", "Exit codes", "keygen"}) {
    CHECK(ran.out.find(word) != std::string::npos);
  }
  CHECK(ran.out.find("--embedded") == std::string::npos);
  ran = RunWords({"executor", "--help"});
  CHECK(ran.out.find("--connect") != std::string::npos);
  CHECK(ran.out.find("--fresh-record") == std::string::npos);
  CHECK(RunWords({"version"}).out.starts_with("hyperopt " HYPEROPT_VERSION));
  CHECK(RunWords({"--version"}).out.starts_with(HYPEROPT_VERSION));
  CHECK(RunWords({}).code == 2);
}

TEST_CASE("help: 80 columns, and no words of the parser's own") {
  for (const char* command : {"",
                              "run",
                              "check",
                              "resume",
                              "status",
                              "trials",
                              "explain",
                              "best",
                              "export",
                              "verify",
                              "stop",
                              "executor",
                              "keygen"}) {
    CAPTURE(command);
    std::vector<std::string> words = {"--help"};
    if (command[0] != '\0') words.insert(words.begin(), command);
    const std::string text = RunWords(words).out;
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find('\n', at);
      CAPTURE(text.substr(at, end - at));
      CHECK(end - at <= 80);
      at = end + 1;
    }
    CHECK(text.find("WORDS") == std::string::npos);
    CHECK(text.find("(1x)") == std::string::npos);
    CHECK(text.find("{false}") == std::string::npos);
    CHECK(text.find(" TEXT") == std::string::npos);
  }
  CHECK(RunWords({"explain", "--help"}).out.find("explain [OPTIONS] [DIR] TRIAL\n") !=
        std::string::npos);
}

TEST_CASE("check: one is one, and numbers are short") {
  const auto file = SearchFile(R"(
command: [touch, ran, "${args}"]
hyperopt:
  metric: loss
  parameters: {lr: {space: loguniform, lower: 1e-5, upper: 1}}
  search_alg: {points_to_evaluate: [{lr: 0.123456789}]}
  executor: {num_samples: 1, gpu_resources_per_trial: 0}
)");
  const Ran ran = RunWords({"check", file.string(), "--dry-run", "--cpus", "1"});
  CAPTURE(ran.out);
  CHECK(ran.out.find(" 1 trial: the first is from points_to_evaluate") !=
        std::string::npos);
  CHECK(ran.out.find("1 CPU a trial") != std::string::npos);
  CHECK(ran.out.find("(1 CPU, ") != std::string::npos);
  CHECK(ran.out.find("\n    0  0.1235\n") != std::string::npos);
  std::filesystem::remove_all(file.parent_path());
}

TEST_CASE("check: the exact count, what fits, the rungs; nothing runs") {
  const auto file = SearchFile(R"(
command: [touch, ran, "${args}"]
hyperopt:
  metric: loss
  parameters:
    a: {space: grid_search, values: [1, 2, 3]}
    b: {space: uniform, lower: 0, upper: 1}
  executor:
    num_samples: 2
    cpu_resources_per_trial: 2
    gpu_resources_per_trial: 0
    scheduler: {type: asha, max_t: 81, grace_period: 1, reduction_factor: 3}
)");
  Ran ran = RunWords({"check", file.string(), "--cpus", "5"});
  CAPTURE(ran.out);
  CAPTURE(ran.err);
  CHECK(ran.code == 0);
  CHECK(ran.out.find("6 trials: 2 samples, each 3 grid cells") != std::string::npos);
  CHECK(ran.out.find("2 at once on this machine (5 CPUs") != std::string::npos);
  CHECK(ran.out.find("1, 3, 9, 27") != std::string::npos);
  ran = RunWords({"--config", file.string(), "--dry-run", "--cpus", "5"});
  CHECK(ran.code == 0);
  CHECK(ran.out.find("\n    5  3  0.") != std::string::npos);
  CHECK(std::distance(std::filesystem::directory_iterator(file.parent_path()), {}) ==
        1);
  ran = RunWords({"check", file.string(), "--cpus", "1"});
  CHECK(ran.code == 2);
  CHECK(ran.err.find("needs 2 CPUs") != std::string::npos);
  std::filesystem::remove_all(file.parent_path());
}

TEST_CASE("keygen: a file for its owner alone, never over another") {
  const std::filesystem::path dir =
      std::filesystem::temp_directory_path() / ("keygen test " + RandomHex(6));
  std::filesystem::create_directory(dir);
  const std::string file = dir / "sweep.key";
  CHECK(RunWords({"keygen", file}).code == 0);
  CHECK((std::filesystem::status(file).permissions() & std::filesystem::perms::mask) ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  CHECK(RunWords({"keygen", file}).code == 2);
  std::filesystem::remove_all(dir);
}

}  // namespace
}  // namespace hyperopt
