#include "search/commands/init.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>

#include "search/config.h"
#include "search/internal/csv.h"
#include "search/internal/init_command.h"
#include "search/internal/init_table.h"
#include "trial/errors.h"
#include "trial/fs.h"
#include "trial/text.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

// A table may be larger than memory; its beginning shows the types.
constexpr size_t kMostOfTable = size_t{8} << 20;

fs::path FolderOf(const fs::path& file) {
  return fs::absolute(file).lexically_normal().parent_path();
}

// What a person types to name it from here.
std::string Shown(const fs::path& path) { return QuoteShellWord(path.string()); }

// A word with a dot or a slash that names something here; others (a subcommand called
// `train` beside a folder train) are left alone.
std::string PathFromFile(const std::string& word, const fs::path& folder) {
  std::error_code error;
  const bool may_be_path = word.find_first_of("./") != word.npos && word[0] != '/' &&
                           word[0] != '-' && word.find("//") == word.npos;
  if (!may_be_path || !fs::exists(word, error)) return "";
  return fs::relative(fs::absolute(word), folder, error).string();
}

std::string TextForWords(const InitOptions& options) {
  internal::InitWords init;
  init.words = options.words;
  init.file = Shown(options.output);
  const fs::path folder = FolderOf(options.output);
  init.path_from_file = [folder](const std::string& word) {
    return PathFromFile(word, folder);
  };
  return internal::SearchFileForWords(init);
}

std::string BeginningOf(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in || fs::is_directory(path)) {
    throw ConfigError(path.string() + ": there is no such table");
  }
  std::string text(kMostOfTable, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  if (text.size() == kMostOfTable) text.resize(text.rfind('\n') + 1);
  return text;
}

std::string TextForTable(const InitOptions& options) {
  if (!options.words.empty()) {
    throw ConfigError(
        "--dataset is for the built-in trainer, and the words after -- are a program "
        "of yours: give the one or the other");
  }
  if (!options.target) {
    throw ConfigError("--target is missing: the column of the table to learn");
  }
  internal::Problems problems(options.dataset->string());
  const auto table = internal::ParseCsv(BeginningOf(*options.dataset), 0, problems);
  if (!table) throw ConfigErrors(problems.Lines());
  internal::InitTable init;
  const fs::path folder = FolderOf(options.output);
  init.dataset = options.dataset->is_absolute()
                     ? options.dataset->string()
                     : fs::relative(fs::absolute(*options.dataset), folder).string();
  init.target = *options.target;
  init.file = Shown(options.output);
  init.typed = fmt::format(
      "--dataset {} --target {}", Shown(*options.dataset), QuoteShellWord(init.target));
  return internal::SearchFileForTable(init, *table);
}

}  // namespace

int InitCommand(const InitOptions& options) {
  if (!options.dataset && options.target) {
    throw ConfigError("--target names a column of --dataset, which is missing");
  }
  if (fs::exists(options.output) && !options.force) {
    throw ConfigError(
        fmt::format("{} is there already: --force writes over it, -o FILE writes "
                    "another",
                    options.output.string()));
  }
  const std::string text =
      options.dataset ? TextForTable(options) : TextForWords(options);
  // What was guessed must be a search file; one that is not is never written.
  ParseConfig(text, options.output.string(), FolderOf(options.output));
  WriteFileAtomically(options.output, text, Durability::kProcess);
  std::printf(
      "%s is written; its ranges are first guesses. Look at them, then:\n"
      "  hyperopt check %s\n",
      options.output.string().c_str(),
      Shown(options.output).c_str());
  return 0;
}

}  // namespace hyperopt
