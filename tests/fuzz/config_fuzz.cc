// Throws mutated search files at their reader: config_fuzz [ROUNDS | SECONDSs] [SEED].
// Whatever comes, it is read or refused by ConfigErrors; and what is read is written as
// JSON that reads as the same search. Run it under the sanitizers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "search/config.h"
#include "tests/fuzz/rounds.h"
#include "trial/rng.h"

namespace {

using namespace hyperopt;  // NOLINT: a program, not a header

constexpr size_t kLongestFile = 64 << 10;

// Texts that mean something to the reader, or to YAML.
constexpr std::array kTokens = {": ",
                                "\n",
                                "  ",
                                "- ",
                                "[",
                                "]",
                                "{",
                                "}",
                                "\"",
                                "'",
                                "&a ",
                                "*a",
                                "<<: *a",
                                "!!str ",
                                "!!float ",
                                "? ",
                                "# ",
                                "---\n",
                                "|\n",
                                ">\n",
                                "${args}",
                                "${lr}",
                                "$${",
                                "${trial.id}",
                                "null",
                                "true",
                                ".nan",
                                "-.inf",
                                "1e-5",
                                "1e999",
                                "-1",
                                "0",
                                "1.0",
                                "0x7f",
                                "9223372036854775807",
                                "9223372036854775808",
                                "command: ",
                                "hyperopt: ",
                                "parameters: ",
                                "executor: ",
                                "search_alg: ",
                                "scheduler: ",
                                "space: ",
                                "choice",
                                "grid_search",
                                "quniform",
                                "randint",
                                "qlograndint",
                                "lower: ",
                                "upper: ",
                                "q: ",
                                "categories: ",
                                "values: ",
                                "points_to_evaluate: ",
                                "num_samples: ",
                                "ranks: ",
                                "env: ",
                                "read: ",
                                "arg: ",
                                "\xef\xbb\xbf",
                                "\x04",
                                "\xff",
                                "\t",
                                "\r\n",
                                "type: ",
                                "backend: ",
                                "trainer: ",
                                ".",
                                "\\x7f"};

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  for (const char* folder : {"/configs", "/search/testdata/ludwig"}) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(
             std::string(HYPEROPT_SOURCE_DIR) + folder)) {
      if (entry.path().extension() == ".yaml") files.push_back(entry.path());
    }
    std::ranges::sort(files);
    for (const auto& file : files) {
      std::ifstream stream(file);
      std::ostringstream text;
      text << stream.rdbuf();
      seeds.push_back(text.str());
    }
  }
  return seeds;
}

size_t LineStart(const std::string& text, size_t at) {
  const size_t end = at == 0 ? text.npos : text.rfind('\n', at - 1);
  return end == text.npos ? 0 : end + 1;
}

// One small change: a byte set, bytes cut out or doubled, a token put in, a piece of
// another seed, a line moved.
void Mutate(Rng& rng, const std::vector<std::string>& seeds, std::string& text) {
  const size_t at = rng.Below(text.size() + 1);
  const size_t length = std::min<size_t>(rng.Below(40), text.size() - at);
  switch (rng.Below(7)) {
    case 0:
      if (at < text.size()) text[at] = static_cast<char>(rng.Below(256));
      return;
    case 1:
      text.erase(at, length);
      return;
    case 2:
      text.insert(at, text.substr(at, length));
      return;
    case 3:
    case 4:
      text.insert(at, kTokens[rng.Below(kTokens.size())]);
      return;
    case 5: {
      const std::string& other = seeds[rng.Below(seeds.size())];
      text.insert(at, other.substr(rng.Below(other.size() + 1), rng.Below(200)));
      return;
    }
    default: {
      const size_t start = LineStart(text, at);
      const size_t end = std::min(text.find('\n', start), text.size() - 1);
      if (text.empty()) return;
      const std::string line = text.substr(start, end + 1 - start);
      text.erase(start, line.size());
      text.insert(LineStart(text, rng.Below(text.size() + 1)), line);
    }
  }
}

// What is wrong with the reader; "" where nothing is. Counts in `read` what it took.
std::string ProblemWithReading(const std::string& text, int64_t& read) {
  SearchConfig config;
  try {
    config = ParseConfig(text, "search.yaml", "/data");
  } catch (const ConfigErrors& errors) {
    return errors.lines().empty() ? "an error without a line" : "";
  } catch (const std::exception& error) {
    return fmt::format("it threw {}", error.what());
  }
  ++read;
  try {
    const SearchConfig again =
        ParseConfig(ResolvedJson(config), "search.yaml", "/data");
    if (ComparedSettings(again) == ComparedSettings(config)) return "";
    return "the resolved text is another search:\n" + ResolvedJson(config);
  } catch (const std::exception& error) {
    return fmt::format(
        "the resolved text is refused: {}\n{}", error.what(), ResolvedJson(config));
  }
}

}  // namespace

int main(int argc, char** argv) {
  fuzz::Rounds rounds(argc, argv, 20'000);
  const std::vector<std::string> seeds = Seeds();
  int64_t read = 0;
  while (rounds.Next()) {
    Rng rng(rounds.seed(), TrialId(rounds.done()), "config_fuzz");
    std::string text = seeds[rng.Below(seeds.size())];
    const uint64_t changes = rng.Below(6);
    for (uint64_t change = 0; change < changes; ++change) Mutate(rng, seeds, text);
    if (text.size() > kLongestFile) text.resize(kLongestFile);
    const std::string problem = ProblemWithReading(text, read);
    if (!problem.empty()) {
      fmt::print(stderr,
                 "round {} of seed {}: {}\n---\n{}\n",
                 rounds.done(),
                 rounds.seed(),
                 problem,
                 text);
      return 1;
    }
  }
  fmt::print("{} files, {} of them read\n", rounds.done(), read);
  return 0;
}
