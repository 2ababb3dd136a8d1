#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "trainer/batches.h"
#include "trainer/csv.h"
#include "trainer/dataset.h"
#include "trainer/split.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

std::string ErrorOf(std::string_view csv) {
  try {
    ParseCsv(csv, "t.csv");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

std::string DatasetError(const ModelConfig& config, std::string_view csv) {
  try {
    BuildDataset(config, ParseCsv(csv, "t.csv"));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

// x and the target y, all rows in the training split unless `s` says otherwise.
ModelConfig OneFeature(FeatureType type) {
  ModelConfig config;
  config.inputs.push_back({"x", "x", type, {}, {}});
  OutputFeature output;
  output.name = output.column = "y";
  output.preprocessing.missing = MissingValues::kDropRow;
  config.outputs.push_back(output);
  config.split.type = "fixed";
  config.split.column = "s";
  return config;
}

TEST_CASE("csv: quotes, line ends, byte order mark, empty lines") {
  const Table table = ParseCsv(
      "\xEF\xBB\xBF"
      "a,\"b c\",d\r\n1,\"x,\"\"y\"\"\nz\",\r\n\n2,,3",
      "t.csv");
  CHECK(table.names == std::vector<std::string>{"a", "b c", "d"});
  REQUIRE(table.rows() == 2);
  CHECK(table.columns[1][0] == "x,\"y\"\nz");
  CHECK(table.columns[2][0].empty());
  CHECK(table.columns[0][1] == "2");
  CHECK(table.columns[2][1] == "3");
  CHECK(table.Find("d") == 2);
  CHECK(!table.Find("e"));
}

TEST_CASE("csv: an empty line is a missing value where there is one column") {
  CHECK(ParseCsv("a\n1\n\n2\n", "t.csv").columns[0] ==
        std::vector<std::string>{"1", "", "2"});
}

TEST_CASE("csv: what is wrong is told with its line") {
  CHECK(ErrorOf("a,b\n1,2\n3\n") == "t.csv:3: 1 fields where the header has 2");
  CHECK(ErrorOf("a,b\n\"1\n1\",2\n3,4,5\n") ==
        "t.csv:4: 3 fields where the header has 2");
  CHECK(ErrorOf("a,b\n1,2\n\"3,4\n") == "t.csv:3: a quoted field that does not end");
  CHECK(ErrorOf("a,b\n1,2\"\n") ==
        "t.csv:2: a quote inside a field that is not quoted");
  CHECK(ErrorOf("a,b\n\"1\"x,2\n") == "t.csv:2: text after a closing quote");
  CHECK(ErrorOf("a,a\n1,2\n") == "t.csv:1: two columns are called a");
  CHECK(ErrorOf("a,\n1,2\n") == "t.csv:1: column 2 has no name");
  CHECK(ErrorOf("a,b\n") == "t.csv:1: no rows");
  CHECK(ErrorOf("") != "");
  CHECK(ErrorOf(std::string("a,b\n1,\0x\n", 9)).starts_with("t.csv:2: a NUL byte"));
}

TEST_CASE("split: random by seed, disjoint, complete, in Ludwig's shares") {
  std::vector<int64_t> rows(1000);
  std::iota(rows.begin(), rows.end(), 0);
  SplitConfig config;
  const SplitRows split = SplitDataset(config, rows, {});
  CHECK(split.train.size() == 700);
  CHECK(split.validation.size() == 100);
  CHECK(split.test.size() == 200);
  std::set<int64_t> all(split.train.begin(), split.train.end());
  all.insert(split.validation.begin(), split.validation.end());
  all.insert(split.test.begin(), split.test.end());
  CHECK(all.size() == 1000);
  CHECK(SplitDataset(config, rows, {}).test == split.test);
  config.random_seed = 43;
  CHECK(SplitDataset(config, rows, {}).test != split.test);
}

TEST_CASE("split: stratified keeps the shares within each value") {
  std::vector<int64_t> rows(200);
  std::iota(rows.begin(), rows.end(), 0);
  std::vector<std::string> column(200, "common");
  std::fill(column.begin(), column.begin() + 20, "rare");
  SplitConfig config;
  config.type = "stratify";
  const SplitRows split = SplitDataset(config, rows, column);
  const auto rare = [](const std::vector<int64_t>& part) {
    return std::count_if(
        part.begin(), part.end(), [](int64_t row) { return row < 20; });
  };
  CHECK(rare(split.train) == 14);
  CHECK(rare(split.validation) == 2);
  CHECK(rare(split.test) == 4);
}

TEST_CASE("split: fixed reads the column, leaves empty rows out, refuses other words") {
  SplitConfig config;
  config.type = "fixed";
  const SplitRows split =
      SplitDataset(config, {0, 1, 2, 3, 4}, {"0", "validation", "2", "", "train"});
  CHECK(split.train == std::vector<int64_t>{0, 4});
  CHECK(split.validation == std::vector<int64_t>{1});
  CHECK(split.test == std::vector<int64_t>{2});
  CHECK_THROWS_AS(SplitDataset(config, {0}, {"3"}), ConfigError);
  CHECK_THROWS_AS(SplitDataset(config, {0}, {"2"}), ConfigError);
}

TEST_CASE("batches: shards are disjoint and complete, also where they do not divide") {
  std::vector<int64_t> order(23);
  std::iota(order.begin(), order.end(), 100);
  const BatchPlan whole(order, 6, 0, 1);
  const BatchPlan first(order, 2, 0, 3);
  const BatchPlan second(order, 2, 1, 3);
  const BatchPlan third(order, 2, 2, 3);
  REQUIRE(whole.steps() == 4);
  REQUIRE(first.steps() == 4);
  for (int64_t step = 0; step < 4; ++step) {
    std::vector<int64_t> rows;
    for (const BatchPlan* plan : {&first, &second, &third}) {
      for (int64_t row : plan->Rows(step)) rows.push_back(row);
    }
    std::sort(rows.begin(), rows.end());
    CHECK(rows == whole.Rows(step));
    CHECK(static_cast<int64_t>(rows.size()) == first.GlobalRows(step));
  }
  CHECK(BatchPlan(std::span(order).first(1), 2, 1, 2).Rows(0).empty());
}

TEST_CASE("batches: the rule of auto") {
  CHECK(AutoBatchSize(10'000, 1) == 128);
  CHECK(AutoBatchSize(300, 1) == 32);
  CHECK(AutoBatchSize(300, 2) == 16);
  CHECK(AutoBatchSize(3, 1) == 1);
}

TEST_CASE("dataset: zscore and minmax learn from the training rows alone") {
  ModelConfig config = OneFeature(FeatureType::kNumber);
  const char* csv = "x,y,s\n1,1,0\n3,2,0\n100,3,1\n";
  config.inputs[0].preprocessing.normalization = "zscore";
  Dataset data = BuildDataset(config, ParseCsv(csv, "t.csv"));
  CHECK(data.input_info[0].shift == 2);
  CHECK(data.input_info[0].scale == 1);
  CHECK(data.inputs == std::vector<float>{-1, 1, 98});
  config.inputs[0].preprocessing.normalization = "minmax";
  data = BuildDataset(config, ParseCsv(csv, "t.csv"));
  CHECK(data.inputs[0] == 0);
  CHECK(data.inputs[1] == 1);
  CHECK(data.inputs[2] == doctest::Approx(49.5));
}

TEST_CASE("dataset: a constant number column stays finite") {
  ModelConfig config = OneFeature(FeatureType::kNumber);
  config.inputs[0].preprocessing.normalization = "zscore";
  const Dataset data =
      BuildDataset(config, ParseCsv("x,y,s\n0.1,1,0\n0.1,2,0\n0.1,3,0\n", "t.csv"));
  for (float value : data.inputs) CHECK(std::abs(value) < 1e-6);
}

TEST_CASE("dataset: missing numbers by each strategy") {
  ModelConfig config = OneFeature(FeatureType::kNumber);
  const Table table =
      ParseCsv("x,y,s\n1,1,0\n1,2,0\n7,3,0\nNA,4,0\n,5,1\n9,,0\n", "t.csv");
  PreprocessingConfig& preprocessing = config.inputs[0].preprocessing;
  CHECK(BuildDataset(config, table).inputs == std::vector<float>{1, 1, 7, 0, 0});
  preprocessing.fill_value = "-2.5";
  CHECK(BuildDataset(config, table).inputs == std::vector<float>{1, 1, 7, -2.5, -2.5});
  preprocessing.missing = MissingValues::kFillMean;
  CHECK(BuildDataset(config, table).inputs == std::vector<float>{1, 1, 7, 3, 3});
  preprocessing.missing = MissingValues::kFillMode;
  CHECK(BuildDataset(config, table).inputs == std::vector<float>{1, 1, 7, 1, 1});
  preprocessing.missing = MissingValues::kDropRow;
  const Dataset dropped = BuildDataset(config, table);
  CHECK(dropped.rows == 3);
  CHECK(dropped.inputs == std::vector<float>{1, 1, 7});
}

TEST_CASE("dataset: a category's unknown values are class 0") {
  ModelConfig config = OneFeature(FeatureType::kCategory);
  const Table table = ParseCsv("x,y,s\nb,1,0\na,1,0\nB,1,0\nb,1,0\nz,2,1\n,3,1\n", "t");
  Dataset data = BuildDataset(config, table);
  CHECK(data.input_info[0].vocabulary ==
        std::vector<std::string>{"<UNK>", "b", "B", "a"});
  CHECK(data.inputs == std::vector<float>{1, 3, 2, 1, 0, 0});
  config.inputs[0].preprocessing.lowercase = true;
  config.inputs[0].preprocessing.most_common = 1;
  data = BuildDataset(config, table);
  CHECK(data.inputs == std::vector<float>{1, 0, 1, 1, 0, 0});
}

TEST_CASE("dataset: a category output has its own classes only, two at least") {
  ModelConfig config = OneFeature(FeatureType::kNumber);
  config.outputs[0].type = FeatureType::kCategory;
  const Dataset data =
      BuildDataset(config, ParseCsv("x,y,s\n1,no,0\n1,yes,0\n1,yes,1\n1,odd,2\n", "t"));
  CHECK(data.target_info[0].vocabulary == std::vector<std::string>{"yes", "no", "odd"});
  CHECK(data.targets == std::vector<float>{1, 0, 0, 2});
  CHECK(DatasetError(config, "x,y,s\n1,no,0\n1,no,0\n").find("only the class no") !=
        std::string::npos);
}

TEST_CASE("dataset: booleans in the usual words, or by the true label") {
  ModelConfig config = OneFeature(FeatureType::kBinary);
  const auto values = [&](std::string_view csv) {
    return BuildDataset(config, ParseCsv(csv, "t.csv")).inputs;
  };
  CHECK(values("x,y,s\nTrue,1,0\n0,1,0\nyes,1,0\n,1,0\n") ==
        std::vector<float>{1, 0, 1, 0});
  CHECK(
      DatasetError(config, "x,y,s\n1,1,0\nmaligne,1,0\n").find("fallback_true_label") !=
      std::string::npos);
  config.inputs[0].preprocessing.fallback_true_label = "sick";
  CHECK(values("x,y,s\nsick,1,0\nwell,1,0\n") == std::vector<float>{1, 0});
}

TEST_CASE("dataset: errors name the feature, the column and the row") {
  ModelConfig config = OneFeature(FeatureType::kNumber);
  CHECK(DatasetError(config, "x,y,s\n1,1,0\ntwo,1,0\n") ==
        "input_features.0: column x, row 2: two is not a number");
  // Dropped rows count: the row is that of the table.
  CHECK(DatasetError(config, "x,y,s\n1,,0\ntwo,1,0\n") ==
        "input_features.0: column x, row 2: two is not a number");
  config.inputs[0].column = "weight";
  config.outputs[0].column = "target";
  CHECK(DatasetError(config, "weigth,y,s\n1,1,0\n") ==
        "input_features.0.column: the data has no column weight; did you mean weigth?\n"
        "output_features.0.column: the data has no column target");
}

}  // namespace
}  // namespace hyperopt
