#include <doctest/doctest.h>

#include "search/testing/config_text.h"

namespace hyperopt {
namespace {

using testing::CommandFile;
using testing::Contains;
using testing::Errors;
using testing::Has;
using testing::LudwigFile;
using testing::Parse;

TEST_SUITE_BEGIN("config: read");

std::vector<ReadSource> Read(const std::string& read) {
  return Parse(CommandFile("", "read: " + read + "\n")).read;
}
std::string ReadErrors(const std::string& read) {
  return Errors(CommandFile("", "read: " + read + "\n"));
}

TEST_CASE("regular expressions are compiled before anything runs") {
  const auto read = Read("{output: {loss: 'loss=(\\S+)', step: 'epoch (\\d+)'}}");
  REQUIRE(read.size() == 1);
  CHECK(read[0] == ReadSource{ReadKind::kPatterns,
                              {{"loss", "loss=(\\S+)"}, {"step", "epoch (\\d+)"}},
                              "",
                              {}});
  CHECK(Contains(ReadErrors("{output: {loss: 'loss=('}}"),
                 "search.yaml:2:23: read.output.loss: is no regular expression"));
  CHECK(Contains(ReadErrors("{output: {loss: 3}}"), "must be a regular"));
  CHECK(Contains(ReadErrors("{output: {loss: '" + std::string(2000, '(') + "'}}"),
                 "at most 1000"));
  CHECK(Contains(ReadErrors("{output: {}}"), "names no field"));
  CHECK(Contains(ReadErrors("{output: text}"), "must be `dicts`"));
}

TEST_CASE("files, dicts, new names and lists of them") {
  CHECK(Read("{output: dicts}") ==
        std::vector<ReadSource>{{ReadKind::kDicts, {}, "", {}}});
  CHECK(Read("{csv: 'logs/**/metrics.csv', rename: {val_loss: loss}}") ==
        std::vector<ReadSource>{
            {ReadKind::kCsv, {}, "logs/**/metrics.csv", {{"val_loss", "loss"}}}});
  CHECK(Read("{tensorboard: '${trial.dir}/tb/*', jsonl: a.jsonl}") ==
        std::vector<ReadSource>{{ReadKind::kJsonLines, {}, "a.jsonl", {}},
                                {ReadKind::kTensorboard, {}, "${trial.dir}/tb/*", {}}});
  CHECK(Read("[{output: dicts}, {output: {loss: x}}, {csv: '*.csv'}]").size() == 3);
}

TEST_CASE("what is read is written back as it was understood") {
  for (const char* read : {"{output: {loss: 'a(b)', step: c}}",
                           "{output: dicts, rename: {eval_loss: loss}}",
                           "[{csv: 'a/*.csv', rename: {b: c, d: step}}, {jsonl: e}]"}) {
    CAPTURE(std::string(read));
    const SearchConfig config =
        Parse(CommandFile("", "read: " + std::string(read) + "\n"));
    CHECK(ParseConfig(ResolvedJson(config), "resolved", "/").read == config.read);
  }
}

TEST_CASE("a place outside the trial's own folder is refused, with the way out") {
  for (const char* glob : {"/tmp/*.csv", "../metrics.csv", "a/../../b", "~/x.csv"}) {
    CAPTURE(std::string(glob));
    CHECK(Contains(ReadErrors("{csv: '" + std::string(glob) + "'}"),
                   "search.yaml:2:13: read.csv: must lie in the trial's own folder"));
  }
  CHECK(Contains(ReadErrors("{csv: '${lr}/x.csv'}"), "${lr} has no meaning here"));
  CHECK(Read("{csv: 'a/${trial.id}-${trial.attempt}/${sweep.name}.csv'}").size() == 1);
}

TEST_CASE("a program that nothing leads to its trial's folder is noted") {
  const auto notes = [](const std::string& words, const std::string& rest) {
    return Parse("command: " + words + "\n" + rest +
                 "hyperopt: {metric: loss, parameters: {lr: {space: randn}}}\n")
        .notes;
  };
  const std::string read = "read: {csv: 'm.csv'}\n";
  CHECK(Has(notes("[run, \"${lr}\"]", read), "read.csv: m.csv is looked for in each"));
  CHECK(notes("[run, \"${lr}\"]", read + "workdir: trial\n").empty());
  CHECK(notes("[run, \"${lr}\", \"${trial.dir}/x\"]", read).empty());
  CHECK(notes("[run, \"${lr}\"]", read + "env: {OUT: '${trial.dir}'}\n").empty());
  CHECK(notes("[run, \"${lr}\"]", "read: {output: dicts}\n").empty());
}

TEST_CASE("what has no meaning is told") {
  CHECK(Contains(ReadErrors("{outputs: {a: b}}"), "did you mean output?"));
  CHECK(Contains(ReadErrors("{}"), "one of output, csv, jsonl, tensorboard"));
  CHECK(Contains(ReadErrors("{output: {loss: x}, rename: {a: b}}"),
                 "read.rename: has no effect"));
  CHECK(Contains(ReadErrors("{csv: x, rename: [a]}"), "read.rename: must be a map"));
  CHECK(Contains(ReadErrors("{csv: x, rename: {a: 3}}"), "read.rename.a: must be"));
  CHECK(Contains(ReadErrors("[{csv: x}, {csw: y}]"), "read.1.csw"));
  CHECK(Contains(ReadErrors("text"), "read"));
  CHECK(Contains(Errors(LudwigFile("", "read: {output: {a: b}}\n")),
                 "only with `command`"));
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt
