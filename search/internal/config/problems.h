// What is found wrong with a search file, collected so that all is told at once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "search/internal/value.h"

namespace hyperopt::internal {

class Problems {
 public:
  // `file` stands before line and column. It is source 0.
  explicit Problems(std::string file);

  // Another text that values come from: "--set key". The result is for Place::source.
  int AddSource(std::string name);
  // The same for another file, whose lines and columns are told as well.
  int AddFile(std::string name);

  // "FILE:LINE:COLUMN", or the name of a source that has none.
  std::string Where(const Place& place) const;
  // "FILE:LINE:COLUMN: PATH: TEXT". `path` is a dotted name, empty for the file itself.
  void Add(const Place& place, std::string_view path, std::string_view text);
  void Note(std::string text) { notes_.push_back(std::move(text)); }

  bool any() const { return !problems_.empty(); }
  // In the order of their places, each text once, the first hundred.
  std::vector<std::string> Lines() const;
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Problem {
    Place place;
    std::string line;
  };
  struct Source {
    std::string name;
    bool is_file;
  };
  std::vector<Source> sources_;
  std::vector<Problem> problems_;
  std::vector<std::string> notes_;
};

}  // namespace hyperopt::internal
