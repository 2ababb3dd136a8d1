// What stays of the files of finished trials (`keep:` of the search file).
//
// A trial's files are looked at once its end is committed. What is to stay of a folder
// that goes is first in the record and committed, then the folder is renamed, then it
// is deleted: killed at any moment, nothing is lost, and the next start goes on. Never
// touched are folders of trials that are not finished, and the folder of the best one
// of those that are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "search/config.h"
#include "trial/record.h"
#include "trial/store.h"

namespace hyperopt {

// Used from the controller's thread; packs and deletes in a thread of its own, which
// knows the files alone.
class FileKeeper {
 public:
  // `trials` as the controller begins with them; what earlier lives left undone is done
  // first. `store` is only read, and must outlive this object. Returns nullptr where
  // the rules ask for nothing.
  static std::unique_ptr<FileKeeper> Make(const SearchConfig& config,
                                          const std::filesystem::path& sweep_dir,
                                          const std::vector<TrialRow>& trials,
                                          const TrialStore* store);
  // Leaves undone what is not begun.
  ~FileKeeper();
  FileKeeper(const FileKeeper&) = delete;
  FileKeeper& operator=(const FileKeeper&) = delete;

  // Before a commit: notes the ends that are in `changes`, and adds files that were
  // packed meanwhile.
  void AddTo(std::vector<RecordChange>* changes);
  // After it: what was added is in the record.
  void Committed();
  // After the last turn: the rest, with commits of its own, while `go_on` says so.
  void Finish(TrialStore* store, const std::function<bool()>& go_on);

 private:
  struct Impl;
  explicit FileKeeper(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// What a sweep of `trials` leaves on the disk, in words for a person.
std::string ExpectedFiles(const SearchConfig& config, int64_t trials);

}  // namespace hyperopt
