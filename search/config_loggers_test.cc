// `loggers` in a search file.
#include <doctest/doctest.h>

#include "search/config.h"
#include "search/testing/config_text.h"

namespace hyperopt {
namespace {

using testing::CommandFile;
using testing::Contains;
using testing::Errors;
using testing::Parse;

SearchConfig With(const std::string& loggers) {
  return Parse(CommandFile("", "loggers: " + loggers + "\n"));
}

std::string ErrorsWith(const std::string& loggers) {
  return Errors(CommandFile("", "loggers: " + loggers + "\n"));
}

TEST_CASE("loggers are names or maps") {
  const auto loggers = With(
                           "[tensorboard, {type: mlflow, uri: 'http://h:5000/x', "
                           "experiment: mine}, {type: tensorboard, dir: runs}]")
                           .loggers;
  REQUIRE(loggers.size() == 3);
  CHECK(loggers[0] == LoggerEntry{});
  CHECK(loggers[1].kind == LoggerKind::kMlflow);
  CHECK(loggers[1].uri == "http://h:5000/x");
  CHECK(loggers[1].experiment == "mine");
  CHECK(loggers[2].dir.is_absolute());
  CHECK(loggers[2].dir.filename() == "runs");
  CHECK(With("mlflow").loggers.size() == 1);
  CHECK(With("{type: mlflow}").loggers.size() == 1);
  CHECK(With("null").loggers.empty());
  CHECK(With("[]").loggers.empty());
}

TEST_CASE("loggers: what is wrong is told with its place") {
  CHECK(Contains(ErrorsWith("[tensorbord]"), "did you mean tensorboard?"));
  CHECK(Contains(ErrorsWith("[tensorboard, mlfow]"),
                 "search.yaml:2:24: loggers.1.type: must be one of"));
  CHECK(Contains(ErrorsWith("[{type: ml-flow}]"), "did you mean mlflow?"));
  CHECK(Contains(ErrorsWith("[wandb]"), "tracker: wandb"));
  CHECK(Contains(ErrorsWith("[{uri: 'http://x'}]"), "type: is missing"));
  CHECK(Contains(ErrorsWith("3"), "loggers: must be tensorboard, mlflow, or a map"));
  CHECK(Contains(ErrorsWith("[[mlflow]]"), "loggers.0: must be"));
  CHECK(Contains(ErrorsWith("[mlflow, mlflow]"), "loggers.1: stands there twice"));
  CHECK(Contains(ErrorsWith("[{type: mlflow, url: 'http://x'}]"), "did you mean uri?"));
  CHECK(Contains(ErrorsWith("[{type: tensorboard, uri: 'http://x'}]"), "unknown key"));
  CHECK(
      Contains(Errors(CommandFile("", "logers: [mlflow]\n")), "did you mean loggers"));
  CHECK(Contains(Errors(CommandFile("  loggers: [mlflow]\n")),
                 "belongs under the top level"));
  for (const char* uri : {"x:5000",
                          "file:///tmp/x",
                          "http://",
                          "http:///x",
                          "http://me:secret@host",
                          "http://h?x",
                          "http://h:1 x"}) {
    CAPTURE(std::string(uri));
    CHECK(Contains(ErrorsWith("[{type: mlflow, uri: '" + std::string(uri) + "'}]"),
                   "loggers.0.uri: "));
  }
}

TEST_CASE("loggers are kept in the record, and may be edited") {
  const SearchConfig config = With(
      "[{type: mlflow, uri: 'https://h', experiment: e}, {type: tensorboard, dir: "
      "/a/b}, tensorboard]");
  CHECK(Parse(ResolvedJson(config)).loggers == config.loggers);
  CHECK(ComparedSettings(config).contains("loggers"));
  CHECK(WhatAChangeMeans("loggers") == OnChange::kApplies);
}

}  // namespace
}  // namespace hyperopt
