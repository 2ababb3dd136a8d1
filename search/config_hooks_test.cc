// `hooks` in a search file.
#include <doctest/doctest.h>

#include "search/config.h"
#include "search/testing/config_text.h"

namespace hyperopt {
namespace {

using testing::CommandFile;
using testing::Contains;
using testing::Errors;
using testing::Parse;
using Words = std::vector<std::string>;

SearchConfig With(const std::string& hooks) {
  return Parse(CommandFile("", "hooks: " + hooks + "\n"));
}

std::string ErrorsWith(const std::string& hooks) {
  return Errors(CommandFile("", "hooks: " + hooks + "\n"));
}

TEST_CASE("hooks are lists of words, or texts that are split into words") {
  const Hooks hooks =
      With(
          "{on_best: [sh, \"${config.dir}/a.sh\", 3], on_end: \"mail -s 'the end' x\"}")
          .hooks;
  CHECK(hooks.on_best == Words{"sh", "${config.dir}/a.sh", "3"});
  CHECK(hooks.on_end == Words{"mail", "-s", "the end", "x"});
  CHECK(hooks.on_stuck.empty());
  CHECK_FALSE(Parse(CommandFile()).hooks.any());
  CHECK_FALSE(With("null").hooks.any());
}

TEST_CASE("hooks: what is wrong is told with its place") {
  CHECK(Contains(ErrorsWith("{on_bets: [x]}"), "did you mean on_best?"));
  CHECK(
      Contains(ErrorsWith("{on_best: []}"), "hooks.on_best: must be a list of words"));
  CHECK(Contains(ErrorsWith("{on_best: 3}"), "hooks.on_best: must be a list of words"));
  CHECK(Contains(ErrorsWith("{on_best: [x, [y]]}"), "search.yaml:2:22"));
  CHECK(Contains(ErrorsWith("{on_end: \"a | b\"}"), "hooks.on_end"));
  CHECK(Contains(ErrorsWith("[x]"), "hooks: must be a map"));
  for (const char* word : {"${trial.id}", "${lr}", "${args}", "${params}"}) {
    CAPTURE(word);
    CHECK_FALSE(ErrorsWith("{on_best: [x, \"" + std::string(word) + "\"]}").empty());
  }
}

TEST_CASE("hooks are kept in the record, and may be edited") {
  const SearchConfig config = With("{on_best: [x, y], on_stuck: [z]}");
  CHECK(Parse(ResolvedJson(config)).hooks == config.hooks);
  CHECK(ComparedSettings(config).contains("hooks"));
  CHECK(WhatAChangeMeans("hooks") == OnChange::kApplies);
}

}  // namespace
}  // namespace hyperopt
