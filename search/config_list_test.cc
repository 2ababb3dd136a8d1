// search_alg {type: list}: a table of settings, one trial a row.
#include <doctest/doctest.h>

#include <algorithm>

#include "search/testing/config_text.h"
#include "search/testing/input_folder.h"

namespace hyperopt {
namespace {

using testing::Contains;
using testing::Has;

class Table {
 public:
  explicit Table(const std::string& csv) { folder_.Write("runs.csv", csv); }
  SearchConfig Parse(const std::string& hyperopt_more) {
    return ParseConfig(
        "command: [run, \"${args}\"]\nhyperopt:\n  metric: loss\n"
        "  search_alg: {type: list, file: runs.csv}\n" +
            hyperopt_more,
        "search.yaml",
        folder_.path());
  }
  std::string Errors(const std::string& hyperopt_more = "") {
    try {
      Parse(hyperopt_more);
    } catch (const ConfigErrors& errors) {
      return errors.what();
    }
    return "";
  }

 private:
  testing::InputFolder folder_;
};

TEST_SUITE_BEGIN("config list");

TEST_CASE("a table beside rows, and one that is not text") {
  try {
    testing::Parse(
        "command: [run, \"${args}\"]\nhyperopt:\n  metric: loss\n"
        "  parameters: {lr: {space: float, lower: 0, upper: 3}}\n"
        "  search_alg: {type: list, rows: [{lr: 1}], file: o.csv}\n");
    FAIL("both were taken");
  } catch (const ConfigErrors& errors) {
    CHECK(Contains(errors.what(), "hyperopt.search_alg.file"));
    CHECK(Contains(errors.what(), "stands beside `rows`"));
  }
  const std::string text = Table("l\xffr,b\n1,2\n").Errors();
  CHECK(Contains(text, "UTF-8"));
  CHECK_FALSE(Contains(text, "\xff"));
}

TEST_CASE("a gap where no space is declared is said once, and nothing follows") {
  const std::string text = Table("lr,b,c\n1,,\n,2,\n3,,\n").Errors();
  for (const char* name : {"lr", "b", "c"}) {
    CHECK(Contains(text, std::string(name) + " has no value here"));
  }
  CHECK_FALSE(Contains(text, "is missing"));
  CHECK(std::ranges::count(text, '\n') <= 4);
}

TEST_CASE("types are inferred where nothing is declared") {
  Table table(
      "lr,layers,optimizer,bias,mixed,one\r\n"
      "1e-3, 2,adam,true,1,5\r\n"
      "\r\n"
      "0.1,4,\"s,g\"\"d\",false,x,5\r\n");
  const SearchConfig config = table.Parse("");
  CHECK(config.sampler.kind == SamplerKind::kList);
  CHECK(config.executor.num_samples == 2);
  CHECK(config.sampler.num_samples == 2);
  const Params first = {{"lr", 1e-3},
                        {"layers", int64_t{2}},
                        {"optimizer", "adam"},
                        {"bias", true},
                        {"mixed", "1"},
                        {"one", int64_t{5}}};
  const Params second = {{"lr", 0.1},
                         {"layers", int64_t{4}},
                         {"optimizer", "s,g\"d"},
                         {"bias", false},
                         {"mixed", "x"},
                         {"one", int64_t{5}}};
  CHECK(config.sampler.rows == std::vector<Params>{first, second});
  CHECK(config.space.Find("lr")->domain ==
        Domain(FloatDomain{.lower = 1e-3, .upper = 0.1}));
  CHECK(config.space.Find("layers")->domain ==
        Domain(IntDomain{.lower = 2, .upper = 4}));
  CHECK(config.notes.empty());
}

TEST_CASE("a declared space decides what a cell means") {
  Table table("lr;n;shape;depth\n1;1;[8, 16];3\n0.5;2;[8];\n");
  const SearchConfig config = table.Parse(
      "  parameters:\n"
      "    lr: {space: uniform, lower: 0, upper: 1}\n"
      "    n: {space: choice, categories: [\"1\", \"2\"]}\n"
      "    shape: {space: choice, categories: [[8, 16], [8]]}\n"
      "    depth: {space: int, lower: 1, upper: 9}\n"
      "    width: {space: int, lower: 1, upper: 9}\n");
  CHECK(config.sampler.rows[0] == Params{{"lr", 1.0},
                                         {"n", "1"},
                                         {"shape", Structured{"[8,16]"}},
                                         {"depth", int64_t{3}}});
  CHECK_FALSE(config.sampler.rows[1].contains("depth"));
  CHECK(Has(config.notes, "1 of 2 rows have no value for depth: it is drawn from"));
  CHECK(Has(config.notes, "2 of 2 rows have no value for width"));
}

TEST_CASE("{} and {arg: ...} take the type of the column") {
  Table table("lr\n0.1\n0.2\n");
  const SearchConfig config = table.Parse("  parameters: {lr: {arg: rate}}\n");
  CHECK(config.space.Find("lr")->domain ==
        Domain(FloatDomain{.lower = 0.1, .upper = 0.2}));
  CHECK(config.arg_names.at("lr") == "rate");
  CHECK(table.Parse("  parameters: {lr: {}}\n").sampler.rows.size() == 2);
}

TEST_CASE("num_samples takes the first rows") {
  Table table("lr\n0.1\n0.2\n");
  CHECK(table.Parse("  executor: {num_samples: 1}\n").sampler.num_samples == 1);
  const SearchConfig config = table.Parse("  executor: {num_samples: 9}\n");
  CHECK(config.sampler.num_samples == 2);
  CHECK(Has(config.notes, "num_samples is 9, and the list has 2 rows"));
}

TEST_CASE("the record's file holds the rows, and reads as the same search") {
  Table table("lr,name\n0.1,\"1\"\n0.2,true\n");
  const SearchConfig config = table.Parse("");
  const SearchConfig again = testing::Parse(ResolvedJson(config));
  CHECK(again.sampler.rows == config.sampler.rows);
  CHECK(again.space.Find("name")->domain == config.space.Find("name")->domain);
  CHECK(ComparedSettings(again) == ComparedSettings(config));
  CHECK(config.inputs.size() == 1);
  CHECK(again.inputs.empty());
}

TEST_CASE("what is wrong is told at its cell") {
  const std::string declared =
      "  parameters: {lr: {space: uniform, lower: 0, upper: 1}}\n";
  CHECK(Contains(Table("lr\n0.1\n2\n").Errors(declared), "runs.csv:3:1: lr: 2 is not"));
  CHECK(Contains(Table("lr,x\n0.1,1\n").Errors(declared),
                 "runs.csv:1:4: the column x is no parameter; declare it under"));
  CHECK(Contains(Table("rl\n0.1\n").Errors(declared), "did you mean lr?"));
  CHECK(Contains(Table("a,b\n1,2\n3\n").Errors(), "runs.csv:3:1: the row has 1 cells"));
  CHECK(Contains(Table("a,a\n1,2\n").Errors(), "another column is called a"));
  CHECK(Contains(Table("a,\n1,2\n").Errors(), "a column has no title"));
  CHECK(Contains(Table("a,b\n1,\n").Errors(), "runs.csv:2:3: b has no value here"));
  CHECK(Contains(Table("").Errors(), "the table is empty"));
  CHECK(Contains(Table("a\n").Errors(), "no rows"));
  CHECK(Contains(Table("a\n\"x\n").Errors(), "this quote does not end"));
  CHECK(
      Contains(testing::Errors(
                   "command: [run]\nhyperopt: {metric: loss, search_alg: {type: list, "
                   "file: none.csv}}\n"),
               "search_alg.file: there is no file /data/sweeps/none.csv"));
  CHECK(Contains(testing::Errors(testing::CommandFile("  search_alg: {type: list}\n")),
                 "search_alg.file: is missing"));
  CHECK(Contains(Table("lr\n0.1\n").Errors(declared + "  executor: {x: 1}\n"),
                 "executor.x: unknown key"));
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt
