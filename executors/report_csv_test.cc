#include <doctest/doctest.h>

#include <cmath>

#include "executors/internal/report_fixture.h"
#include "trial/rng.h"

namespace hyperopt {
namespace {

using testing::Fixture;
using testing::kAll;
using testing::ReadLines;
using testing::ReportFolder;
using testing::ValuesOf;

using Numbers = std::vector<double>;

TEST_SUITE("csv") {
  TEST_CASE("rows are reports of their numbers") {
    const ReportFolder folder;
    const auto file = folder.Append("m.csv",
                                    "step,loss,\"a \"\"b\"\", c\",note\r\n"
                                    "1,0.5,2,x\r\n"
                                    "2,,nan,\"y, z\"\n"
                                    "3,-inf,True,\n");
    const auto reader = NewCsvReader(file, SourceId{"m.csv", 0});
    const auto lines = ReadLines(*reader);
    REQUIRE(lines.size() == 3);
    CHECK(lines[0].step == 1);
    CHECK(lines[0].values ==
          std::map<std::string, double>{{"loss", 0.5}, {"a \"b\", c", 2}});
    CHECK(std::isnan(lines[1].values.at("a \"b\", c")));
    CHECK_FALSE(lines[1].values.contains("loss"));
    CHECK(lines[2].values.at("loss") == -INFINITY);
    CHECK(lines[2].values.at("a \"b\", c") == 1);
  }

  TEST_CASE("other separators, a BOM, and half a row that waits") {
    const ReportFolder folder;
    for (const char between : {';', '\t'}) {
      const std::string c(1, between);
      const std::string name = between == ';' ? "s.csv" : "t.csv";
      const auto file = folder.Append(name,
                                      "\xef\xbb\xbf"
                                      "epoch" +
                                          c + "loss\n0" + c + "1.5\n1" + c);
      const auto reader = NewCsvReader(file, {});
      CHECK(ValuesOf(ReadLines(*reader), "epoch") == Numbers{0});
      folder.Append(name, "2.5");
      CHECK(ReadLines(*reader).empty());
      CHECK(ValuesOf(ReadLines(*reader, ReadMode::kToTheEnd), "loss") == Numbers{2.5});
    }
  }

  TEST_CASE("odd lines are counted and never fatal") {
    const ReportFolder folder;
    const auto file = folder.Append(
        "m.csv",
        "a,b\n\n1,2,3\nx,4\n\xff\xfe,1\n,\n" + std::string(3 << 20, '7') + "\n5,6\n");
    const auto reader = NewCsvReader(file, {});
    const auto read = reader->Read(ReadMode::kWholeLines, kAll);
    REQUIRE(read);
    CHECK(ValuesOf(read->lines, "b") == Numbers{4, 6});
    CHECK(read->oddities.not_json == 1);  // a cell too many
    CHECK(read->oddities.binary == 1);
    CHECK(read->oddities.no_number == 1);  // empty cells
    CHECK(read->oddities.too_long == 1);
    CHECK(read->oddities.first == "1,2,3");
  }

  TEST_CASE("a binary file is no table, whatever its later lines look like") {
    const ReportFolder folder;
    for (const std::string start : {"\xff\xfe",
                                    "PK\x03\x04",
                                    "\x7f"
                                    "ELF"}) {
      const auto name = "m" + std::to_string(start[0]) + ".csv";
      const auto file = folder.Append(name, start + "\na,b\n1,2\n3,4\n");
      const auto reader = NewCsvReader(file, SourceId{"m.csv", 0});
      const auto read = reader->Read(ReadMode::kWholeLines, kAll);
      REQUIRE(read);
      CHECK(read->lines.empty());
      CHECK(read->oddities.binary == 1);
      CHECK(read->oddities.first ==
            "read: m.csv is no table: its first line is not UTF-8 text");
    }
  }

  TEST_CASE("numbers without titles are no reports") {
    const ReportFolder folder;
    const auto reader = NewCsvReader(folder.Append("m.csv", "1,2\n3,4\n"), {});
    const auto read = reader->Read(ReadMode::kWholeLines, kAll);
    REQUIRE(read);
    CHECK(read->lines.empty());
    CHECK(read->oddities.not_json == 2);
  }

  TEST_CASE("titles that come again, and new ones") {
    const ReportFolder folder;
    const auto file = folder.Append("m.csv", "a,b\n1,2\na,b\n3,4\na,c\n5,6\n");
    const auto lines = ReadLines(*NewCsvReader(file, {}));
    CHECK(ValuesOf(lines, "a") == Numbers{1, 3, 5});
    CHECK(ValuesOf(lines, "c") == Numbers{6});
  }

  TEST_CASE("a column that is added rewrites the file: no row is reported twice") {
    const ReportFolder folder;
    const auto file = folder.Append("m.csv", "epoch,loss\n0,5\n1,4\n");
    const auto reader = NewCsvReader(file, {});
    CHECK(ValuesOf(ReadLines(*reader), "loss") == Numbers{5, 4});
    folder.Replace("m.csv", "epoch,late,loss\n0,,5\n1,,4\n2,7,3\n");
    const auto lines = ReadLines(*reader);
    CHECK(ValuesOf(lines, "loss") == Numbers{3});
    CHECK(ValuesOf(lines, "late") == Numbers{7});
    CHECK(reader->position().source.generation == 1);
    folder.Append("m.csv", "3,8,2\n");
    CHECK(ValuesOf(ReadLines(*reader), "loss") == Numbers{2});
  }

  TEST_CASE("a rewrite that nobody saw: no row is taken from its middle") {
    const ReportFolder folder;
    const auto file = folder.Append("m.csv", "epoch,loss\n0,5\n1,4\n");
    const auto first = NewCsvReader(file, {});
    ReadLines(*first);
    folder.Replace("m.csv", "epoch,late,loss\n0,,5\n1,,4\n2,7,3\n");
    const auto reader = NewCsvReader(file, {});
    reader->Seek(first->position());
    const auto lines = ReadLines(*reader);
    CHECK(reader->position().source.generation == 1);
    for (const ReportLine& line : lines) {
      CHECK(line.values.at("loss") == 5 - line.values.at("epoch"));
    }
    CHECK(ValuesOf(lines, "late") == Numbers{7});
  }

  TEST_CASE("a rewrite that is seen in pieces") {
    const ReportFolder folder;
    const auto file = folder.Append("m.csv", "epoch,loss\n0,5\n1,4\n2,3\n");
    const auto reader = NewCsvReader(file, {});
    ReadLines(*reader);
    folder.Replace("m.csv", "");
    CHECK(ReadLines(*reader).empty());
    folder.Append("m.csv", "epoch,loss,x\n0,5,\n");
    CHECK(ReadLines(*reader).empty());
    folder.Replace("m.csv", "");  // and once more, before it was whole
    CHECK(ReadLines(*reader).empty());
    folder.Append("m.csv", "epoch,loss,x,y\n0,5,,\n1,4,,\n2,3,,\n3,2,,\n");
    CHECK(ValuesOf(ReadLines(*reader), "loss") == Numbers{2});
  }

  TEST_CASE(
      "a history that is written whole each time, and another run's in its place") {
    const ReportFolder folder;
    std::string text = "epoch,loss\n";
    const auto file = folder.Replace("m.csv", text);
    const auto reader = NewCsvReader(file, {});
    Numbers seen;
    for (int epoch = 0; epoch < 20; ++epoch) {
      text += std::to_string(epoch) + "," + std::to_string(100 - epoch) + "\n";
      folder.Replace("m.csv.new", text);
      std::filesystem::rename(folder.path() / "m.csv.new", file);
      for (double loss : ValuesOf(ReadLines(*reader), "loss")) seen.push_back(loss);
    }
    CHECK(seen.size() == 20);
    folder.Replace("m.csv", "epoch,loss\n0,1\n1,99\n");
    CHECK(ValuesOf(ReadLines(*reader), "loss") == Numbers{1, 99});
  }

  TEST_CASE("a restart anywhere goes on with the same rows and keys") {
    const ReportFolder folder;
    const auto file = folder.Append("m.csv", Fixture("lightning_metrics.csv"));
    const auto all = ReadLines(*NewCsvReader(file, {}));
    REQUIRE(all.size() == 10);
    Rng rng(7, TrialId(0), "cuts");
    for (int round = 0; round < 50; ++round) {
      auto reader = NewCsvReader(file, {});
      std::vector<ReportLine> got;
      for (;;) {
        const auto limit = static_cast<int64_t>(rng.Next() % 60 + 1);
        auto read = reader->Read(ReadMode::kToTheEnd, limit);
        if (!read) break;
        for (const ReportLine& line : read->lines) got.push_back(line);
        const SourceOffset at = reader->position();
        reader = NewCsvReader(file, {});
        reader->Seek(at);
      }
      REQUIRE(got.size() == all.size());
      for (size_t i = 0; i < got.size(); ++i) {
        CHECK(got[i].end_offset == all[i].end_offset);
        CHECK(got[i].values == all[i].values);
      }
    }
  }

  TEST_CASE("Lightning's sparse rows carry epoch and step each") {
    const ReportFolder folder;
    const auto lines = ReadLines(
        *NewCsvReader(folder.Append("m.csv", Fixture("lightning_metrics.csv")), {}));
    std::vector<std::pair<double, int64_t>> when;
    for (const ReportLine& line : lines) {
      if (!line.values.contains("val_loss")) continue;
      when.emplace_back(line.values.at("epoch"), line.step.value());
    }
    CHECK(when == std::vector<std::pair<double, int64_t>>{{0, 7}, {1, 15}, {2, 23}});
    CHECK(ValuesOf(lines, "late_metric") == Numbers{1.5});
  }

  TEST_CASE("Keras' log, with other names") {
    const ReportFolder folder;
    const auto reader =
        WithNames(NewCsvReader(folder.Append("k.csv", Fixture("keras_log.csv")), {}),
                  {{"val_loss", "loss"}, {"epoch", "step"}});
    const auto lines = ReadLines(*reader);
    REQUIRE(lines.size() == 3);
    CHECK(lines[2].step == 2);
    CHECK(lines[2].values.at("loss") == doctest::Approx(6.4602227));
    CHECK_FALSE(lines[2].values.contains("val_loss"));
    CHECK(lines[2].values.contains("val_mae"));
  }
}

}  // namespace
}  // namespace hyperopt
