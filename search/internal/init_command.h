// A search file to start from, for a program: from words that run it once.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace hyperopt::internal {

struct InitWords {
  std::vector<std::string> words;  // as a shell handed them over
  std::string file;                // the search file, as a person names it
  // For a relative word that names something that is there: its path from the folder
  // of the search file. "" for any other word.
  std::function<std::string(const std::string&)> path_from_file;
};

// The commented text of the file. Throws ConfigError where the words hold nothing that
// could be searched.
std::string SearchFileForWords(const InitWords& init);

}  // namespace hyperopt::internal
