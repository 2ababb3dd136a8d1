// Throws mutated bytes at what reads a trial's report: report_fuzz [ROUNDS | SECONDSs]
// [SEED]. Each round parses a line, and now and then writes the bytes to a file and
// reads them in pieces, which must give the lines that one read gives.
#include <fmt/format.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "executors/internal/crc32c.h"
#include "executors/report_reader.h"
#include "tests/fuzz/rounds.h"
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
    " 40%|██  | 2/5{'loss': np.float64(0.5), 'epoch': '1.0', 'x': [1, {'y': None}]}",
    "step,loss,\"a, b\"",
    "3,0.5,\"1e-3\"",
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

constexpr int kReaders = 5;

std::unique_ptr<ReportReader> NewReader(int kind, const fs::path& file) {
  switch (kind) {
    case 0:
      return NewJsonReader(file, {});
    case 1:
      return NewPatternReader(
          file, {}, {{"loss", "loss=(\\S+)"}, {"step", "Epoch (\\d+)"}});
    case 2:
      return NewDictReader(file, {});
    case 3:
      return NewCsvReader(file, {});
    default:
      return NewTensorboardReader(file, {});
  }
}

std::vector<int64_t> ReadAll(const fs::path& file, int64_t limit, int kind) {
  const auto reader = NewReader(kind, file);
  std::vector<int64_t> offsets;
  while (const auto read = reader->Read(ReadMode::kToTheEnd, limit)) {
    for (const ReportLine& line : read->lines) offsets.push_back(line.end_offset);
  }
  return offsets;
}

// An event file: two scalars, whole in their frames so that mutations get far inside.
std::string EventFile(Rng& rng) {
  std::string file;
  for (int i = 0; i < 3; ++i) {
    std::string event("\x10\x07\x2a\x0d\x0a\x0b\x0a\x04loss\x15\0\0\0\x3f", 17);
    for (uint64_t changes = rng.Below(4); changes > 0; --changes) {
      event[rng.Below(event.size())] = static_cast<char>(rng.Below(256));
    }
    std::string length(8, '\0');
    length[0] = static_cast<char>(event.size());
    const auto put = [&file](uint32_t crc) {
      for (int shift = 0; shift < 32; shift += 8) {
        file += static_cast<char>(crc >> shift & 0xff);
      }
    };
    file += length;
    put(internal::MaskedCrc32c(length));
    file += event;
    put(internal::MaskedCrc32c(event));
  }
  if (rng.Below(2) == 0) file[rng.Below(file.size())] ^= 1;
  return file;
}

}  // namespace

int main(int argc, char** argv) {
  fuzz::Rounds rounds(argc, argv, 1'000'000);
  std::string name = fs::temp_directory_path() / "report fuzz.XXXXXX";
  const fs::path folder = mkdtemp(name.data());
  const fs::path file = folder / "report.jsonl";
  Rng rng(rounds.seed(), TrialId(0), "report_fuzz");
  long reports = 0;
  bool agrees = true;
  while (agrees && rounds.Next()) {
    const std::string text = MutatedText(rng);
    Oddities odd;
    if (ParseReportLine(text, &odd)) ++reports;
    ParseDicts(text);
    if (rounds.done() % 100 != 0) continue;
    for (int kind = 0; kind < kReaders; ++kind) {
      std::ofstream(file, std::ios::binary | std::ios::trunc)
          << (kind == kReaders - 1 ? EventFile(rng) : text);
      agrees = agrees &&
               ReadAll(file, 1 << 20, kind) == ReadAll(file, 1 + rng.Below(20), kind);
    }
    if (!agrees) {
      fmt::print(
          "read in pieces differs, round {}: {} bytes\n", rounds.done(), text.size());
    }
  }
  fs::remove_all(folder);
  fmt::print("{} mutated texts, seed {}: {} were reports still, none crashed\n",
             rounds.done(),
             rounds.seed(),
             reports);
  return agrees && reports > 0 ? 0 : 1;
}
