// `keep` and `workdir: snapshot` in a search file.
#include <doctest/doctest.h>

#include "search/config.h"
#include "search/testing/config_text.h"

namespace hyperopt {
namespace {

using testing::CommandFile;
using testing::Contains;
using testing::Errors;
using testing::Parse;

KeepRules With(const std::string& keep) {
  return Parse(CommandFile("", "keep: " + keep + "\n")).keep;
}

std::string ErrorsWith(const std::string& keep) {
  return Errors(CommandFile("", "keep: " + keep + "\n"));
}

TEST_CASE("keep: all but old checkpoints where nothing is said") {
  for (const KeepRules& keep : {Parse(CommandFile()).keep, With("null"), With("{}")}) {
    CHECK(keep.best_checkpoints == 1);
    CHECK(keep.last_checkpoints == 1);
    CHECK(keep.logs == KeepLogs::kAll);
    CHECK(keep.folders == KeepFolders::kAll);
  }
}

TEST_CASE("keep: what is said") {
  const KeepRules keep =
      With("{checkpoints: {best: 0, last: 3}, logs: failed, folders: best}");
  CHECK(keep.best_checkpoints == 0);
  CHECK(keep.last_checkpoints == 3);
  CHECK(keep.logs == KeepLogs::kFailed);
  CHECK(keep.folders == KeepFolders::kBest);
  CHECK(With("{logs: none, folders: failed}").logs == KeepLogs::kNone);
}

TEST_CASE("keep: what is wrong is told with its place") {
  CHECK(Contains(ErrorsWith("{log: all}"), "did you mean logs?"));
  CHECK(Contains(ErrorsWith("{logs: some}"), "keep.logs"));
  CHECK(Contains(ErrorsWith("{folders: none}"), "keep.folders"));
  CHECK(Contains(ErrorsWith("{checkpoints: {last: 0}}"), "keep.checkpoints.last"));
  CHECK(Contains(ErrorsWith("{checkpoints: {bets: 1}}"), "did you mean best?"));
  CHECK(Contains(ErrorsWith("all"), "keep: must be a map"));
}

TEST_CASE("keep is in the record, and may be edited") {
  const SearchConfig config =
      Parse(CommandFile("", "keep: {checkpoints: {best: 2}, logs: none}\n"));
  CHECK(Parse(ResolvedJson(config)).keep == config.keep);
  CHECK(ComparedSettings(config).contains("keep"));
  CHECK(WhatAChangeMeans("keep") == OnChange::kApplies);
}

TEST_CASE("workdir: snapshot is a word, no folder") {
  const SearchConfig config = Parse(CommandFile("", "workdir: snapshot\n"));
  CHECK(config.workdir == "snapshot");
  CHECK(Parse(ResolvedJson(config)).workdir == "snapshot");
}

}  // namespace
}  // namespace hyperopt
