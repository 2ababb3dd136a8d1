#include <doctest/doctest.h>

#include <cmath>

#include "executors/internal/report_fixture.h"

namespace hyperopt {
namespace {

using testing::Fixture;
using testing::kAll;
using testing::ReadLines;
using testing::ReportFolder;
using testing::ValuesOf;

using Values = std::map<std::string, double>;

Values Only(std::string_view line) {
  const auto dicts = ParseDicts(line);
  REQUIRE(dicts.size() == 1);
  return dicts[0].second.values;
}

TEST_SUITE("dicts in output") {
  TEST_CASE("Python's and JSON's, wherever they begin") {
    CHECK(Only("{'loss': 0.5, 'epoch': 1.0}") == Values{{"loss", 0.5}, {"epoch", 1}});
    CHECK(Only("INFO:train:{\"loss\": 5e-1, \"ok\": true} done") ==
          Values{{"loss", 0.5}, {"ok", 1}});
    CHECK(Only(" 40%|██  | 2/5 [00:00<?, ?it/s]{'loss': 1}") == Values{{"loss", 1}});
    CHECK(Only("{'a': True, 'b': False, 'c': None, 'loss': -inf}") ==
          Values{{"a", 1}, {"b", 0}, {"loss", -INFINITY}});
    CHECK(std::isnan(Only("{'loss': nan}").at("loss")));
    CHECK(Only("{'loss': 1,}") == Values{{"loss", 1}});
    CHECK(Only("{0: 3, 'it\\'s': 4}") == Values{{"0", 3}, {"it\\'s", 4}});
  }

  TEST_CASE("numbers that stand in texts and calls") {
    CHECK(Only("{'loss': '0.6931', 'lr': '5e-05', 'name': 'a1'}") ==
          Values{{"loss", 0.6931}, {"lr", 5e-05}});
    CHECK(Only("{'a': np.float64(0.25), 'b': tensor(0.5, device='cuda:0'), "
               "'c': array(3., dtype=float32), 'd': Decimal('1.5'), 'e': f(x)}") ==
          Values{{"a", 0.25}, {"b", 0.5}, {"c", 3}, {"d", 1.5}});
  }

  TEST_CASE("what is no number is stepped over") {
    CHECK(Only("{'x': [1, {'loss': 2}], 'y': (3, ')'), 'z': <object at 0x7f>, "
               "'w': {'v': 1}, 'loss': 4}") == Values{{"loss", 4}});
    // Dicts of dicts are looked into.
    const auto inner = ParseDicts("{'eval': {'loss': 0.5}, 'train': {'loss': 0.25}}");
    REQUIRE(inner.size() == 2);
    CHECK(inner[0].second.values == Values{{"loss", 0.5}});
  }

  TEST_CASE("step is a whole number") {
    CHECK(ParseDicts("{'step': 3, 'loss': 1}")[0].second.step == 3);
    CHECK(ParseDicts("{'step': '3', 'loss': 1}")[0].second.step == 3);
    CHECK(Only("{'step': 2.5}") == Values{{"step", 2.5}});
  }

  TEST_CASE("lines without one, half ones and hostile ones are nothing") {
    for (const char* line : {"",
                             "loss: 0.5",
                             "{}",
                             "{1, 2}",
                             "{'a': 'b'}",
                             "{'loss': 0.5",
                             "{'loss': ",
                             "{'loss': (1}",
                             "{'loss: 1}",
                             "{'loss': 1 'b': 2}",
                             "{\xff\xfe: 1}"}) {
      CAPTURE(std::string(line));
      CHECK(ParseDicts(line).empty());
    }
    CHECK(ParseDicts(std::string(200000, '{')).empty());
    CHECK(ParseDicts("{'a': " + std::string(200000, '[')).empty());
  }

  TEST_CASE("several in a line have keys of their own, and the last is the line's") {
    const ReportFolder folder;
    const auto file = folder.Append("out", "x\n{'loss': 1} {'loss': 2}\r{'loss': 3}\n");
    const auto reader = NewDictReader(file, SourceId{"stdout", 0});
    const auto lines = ReadLines(*reader);
    REQUIRE(lines.size() == 3);
    CHECK(lines[0].end_offset == 14);
    CHECK(lines[1].end_offset == 26);
    CHECK(lines[2].end_offset == 38);
    CHECK(reader->position().offset == 38);
  }

  TEST_CASE("the HF Trainer's own output") {
    const ReportFolder folder;
    const auto out =
        NewDictReader(folder.Append("out", Fixture("hf_trainer_stdout.txt")), {});
    const auto lines = ReadLines(*out, ReadMode::kToTheEnd);
    CHECK(ValuesOf(lines, "eval_loss") == std::vector<double>{5.032, 4.73, 4.624});
    CHECK(ValuesOf(lines, "loss").size() == 6);
    CHECK(ValuesOf(lines, "epoch") ==
          std::vector<double>{0.5, 1, 1, 1.5, 2, 2, 2.5, 3, 3, 3});
    // Its bars are no reports.
    const auto bars =
        NewDictReader(folder.Append("err", Fixture("hf_trainer_stderr.txt")), {});
    CHECK(ReadLines(*bars, ReadMode::kToTheEnd).empty());
  }

  TEST_CASE("tqdm: dicts beside a bar, and what the bar itself says") {
    const ReportFolder folder;
    const auto out =
        NewDictReader(folder.Append("out", Fixture("tqdm_stdout.txt")), {});
    CHECK(ValuesOf(ReadLines(*out), "epoch") == std::vector<double>{2, 4});
    const auto bar = folder.Append("err", Fixture("tqdm_stderr.txt"));
    const auto patterns =
        NewPatternReader(bar, {}, {{"step", "(\\d+)/5 "}, {"loss", "loss=([0-9.]+)"}});
    auto losses = ValuesOf(ReadLines(*patterns, ReadMode::kToTheEnd), "loss");
    REQUIRE(!losses.empty());
    CHECK(losses.front() == 1);
    CHECK(losses.back() == 0.2);
  }

  TEST_CASE("XGBoost's and Keras' output, by patterns") {
    const ReportFolder folder;
    const auto xgboost =
        NewPatternReader(folder.Append("xgb", Fixture("xgboost_stdout.txt")),
                         {},
                         {{"step", "^\\[(\\d+)\\]"}, {"loss", "eval-logloss:(\\S+)"}});
    const auto lines = ReadLines(*xgboost);
    CHECK(ValuesOf(lines, "loss").size() == 8);
    CHECK(lines[0].step == 0);
    CHECK(lines[0].values.at("loss") == 0.59757);
    const auto keras =
        NewPatternReader(folder.Append("keras", Fixture("keras_stdout.txt")),
                         {},
                         {{"step", "^Epoch (\\d+)/"}, {"loss", "val_loss: (\\S+)"}});
    const auto epochs = ReadLines(*keras, ReadMode::kToTheEnd);
    REQUIRE(epochs.size() == 3);
    CHECK(epochs[2].step == 3);
    CHECK(epochs[2].values.at("loss") == doctest::Approx(6.4602));
  }

  TEST_CASE("what an expression matched: a number, what ends one, and no number") {
    const ReportFolder folder;
    const auto file = folder.Append("out",
                                    "val_loss=0.3, acc=1\nval_loss=(7\nval_loss=41%)\n"
                                    "val_loss=nan,\nval_loss=.\nval_loss=1/2\n");
    const auto reader = NewPatternReader(file, {}, {{"loss", "val_loss=(\\S+)"}});
    const auto read = reader->Read(ReadMode::kToTheEnd, kAll);
    REQUIRE(read);
    REQUIRE(read->lines.size() == 3);
    CHECK(read->lines[0].values.at("loss") == 0.3);
    CHECK(read->lines[1].values.at("loss") == 41);
    CHECK(std::isnan(read->lines[2].values.at("loss")));
    CHECK(read->oddities.no_number == 3);
    CHECK(read->oddities.first ==
          "read: the expression of loss matched `(7`, which is no number");
  }
}

}  // namespace
}  // namespace hyperopt
