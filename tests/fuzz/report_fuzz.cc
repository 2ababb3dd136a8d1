// Throws mutated bytes at what reads a trial's report: report_fuzz [ITERATIONS] [SEED].
// Each round parses a line, and now and then writes the bytes to a file and reads them
// in pieces, which must give the lines that one read gives.
#include <fmt/format.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "executors/report_reader.h"
#include "trial/rng.h"

namespace {

using namespace hyperopt;  // NOLINT: a program, not a header
namespace fs = std::filesystem;

const std::vector<std::string> kSeeds = {
    R"({"step": 3, "loss": 0.41, "acc": NaN})",
    R"({"a": [1, {"b": "c\u00e9\ud83d\ude00\n"}], "x": -1.5e-300, "y": true})",
    R"({"step": 9223372036854775807, "x": Infinity, "x": "-Infinity"})",
    "\xef\xbb\xbf{\"Δ\": 1}\r",
    "Epoch 3/10: loss=0.5 \r",
    std::string("\0\xff\xfe", 3)};

std::string MutatedText(Rng& rng) {
  std::string text;
  for (uint64_t lines = 1 + rng.Below(4); lines > 0; --lines) {
    text += kSeeds[rng.Below(kSeeds.size())];
    if (rng.Below(8) > 0) text += '\n';
  }
  for (uint64_t changes = rng.Below(8); changes > 0 && !text.empty(); --changes) {
    const size_t at = rng.Below(text.size());
    switch (rng.Below(4)) {
      case 0:
        text[at] = static_cast<char>(rng.Below(256));
        break;
      case 1:
        text.erase(at, rng.Below(8));
        break;
      case 2:
        text.insert(at, text.substr(rng.Below(text.size()), rng.Below(16)));
        break;
      default: {
        constexpr std::string_view kTelling = "{}[]\",:\\\n\r-+.eEnNiI0u";
        text.insert(at, 1, kTelling[rng.Below(kTelling.size())]);
      }
    }
  }
  return text;
}

std::vector<int64_t> ReadAll(const fs::path& file, int64_t limit, bool by_patterns) {
  const auto reader =
      by_patterns ? NewPatternReader(
                        file, {}, {{"loss", "loss=(\\S+)"}, {"step", "Epoch (\\d+)"}})
                  : NewJsonReader(file, {});
  std::vector<int64_t> offsets;
  while (const auto read = reader->Read(ReadMode::kToTheEnd, limit)) {
    for (const ReportLine& line : read->lines) offsets.push_back(line.end_offset);
  }
  return offsets;
}

}  // namespace

int main(int argc, char** argv) {
  const long iterations = argc > 1 ? std::atol(argv[1]) : 1'000'000;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  std::string name = fs::temp_directory_path() / "report fuzz.XXXXXX";
  const fs::path folder = mkdtemp(name.data());
  const fs::path file = folder / "report.jsonl";
  Rng rng(seed, TrialId(0), "report_fuzz");
  long reports = 0;
  bool agrees = true;
  for (long i = 0; i < iterations && agrees; ++i) {
    const std::string text = MutatedText(rng);
    Oddities odd;
    if (ParseReportLine(text, &odd)) ++reports;
    if (i % 100 != 0) continue;
    std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
    for (const bool by_patterns : {false, true}) {
      agrees = agrees && ReadAll(file, 1 << 20, by_patterns) ==
                             ReadAll(file, 1 + rng.Below(20), by_patterns);
    }
    if (!agrees)
      fmt::print("read in pieces differs, round {}: {} bytes\n", i, text.size());
  }
  fs::remove_all(folder);
  fmt::print("{} mutated texts, seed {}: {} were reports still, none crashed\n",
             iterations,
             seed,
             reports);
  return agrees && reports > 0 ? 0 : 1;
}
