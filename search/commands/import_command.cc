#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "search/commands/import.h"
#include "search/format.h"
#include "trial/errors.h"
#include "trial/fs.h"
#include "trial/text.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

bool IsSqlite(const fs::path& file) {
  constexpr std::string_view kMagic = "SQLite format 3";
  std::string head(kMagic.size(), '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  return head == kMagic;
}

ImportedSweep Read(const ImportOptions& options) {
  if (IsSqlite(options.file)) return ImportOptuna(options.file, options.study);
  if (!options.study.empty()) {
    throw ConfigError("--study is for a storage of Optuna, which this file is not");
  }
  const std::optional<std::string> text = ReadFile(options.file);
  if (!text) throw ConfigError(options.file.string() + ": there is no such file");
  try {
    return ImportLudwig(ParseJson(*text));
  } catch (const ConfigError& error) {
    throw ConfigError(options.file.string() +
                      ": neither a storage of Optuna (SQLite) nor Ludwig's "
                      "hyperopt_statistics.json: " +
                      error.what());
  }
}

// A name that a folder may have.
std::string NameOf(const ImportedSweep& sweep, const ImportOptions& options) {
  std::string name = sweep.name;
  if (name.empty()) name = fs::absolute(options.file).parent_path().filename().string();
  for (char& c : name) {
    if (c == '/' || static_cast<unsigned char>(c) < 0x20) c = '_';
  }
  return name.empty() || name == "." || name == ".." ? "imported" : name;
}

}  // namespace

int ImportCommand(const ImportOptions& options) {
  ImportedSweep sweep = Read(options);
  const fs::path output = options.output.value_or("results/" + NameOf(sweep, options));
  const fs::path dir = fs::absolute(output).lexically_normal();
  const std::string name = dir.filename().empty()
                               ? dir.parent_path().filename().string()
                               : dir.filename().string();
  const std::string config = ImportedConfig(&sweep, name);
  WriteImported(sweep, config, options.file, dir);
  for (const std::string& note : sweep.notes) {
    std::printf("note: %s\n", Printable(note).c_str());
  }
  std::printf("%zu trials of %s in %s; look at them with:\n  hyperopt report %s\n",
              sweep.trials.size(),
              sweep.from.c_str(),
              dir.c_str(),
              QuoteShellWord(dir.string()).c_str());
  return 0;
}

}  // namespace hyperopt
