#include "executors/report_reader.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "executors/attempt_folder.h"
#include "trial/errors.h"
#include "trial/rng.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

class TempFile {
 public:
  TempFile() {
    std::string name = fs::temp_directory_path() / "ho reader.XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~TempFile() { fs::remove_all(folder_); }
  fs::path path() const { return folder_ / "report.jsonl"; }
  void Append(std::string_view text) const {
    std::ofstream(path(), std::ios::app | std::ios::binary) << text;
  }
  void Replace(std::string_view text) const {
    std::ofstream(path(), std::ios::trunc | std::ios::binary) << text;
  }

 private:
  fs::path folder_;
};

constexpr int64_t kAll = 1 << 30;

std::vector<double> Losses(const std::optional<SourceRead>& read) {
  std::vector<double> losses;
  if (!read) return losses;
  for (const ReportLine& line : read->lines) losses.push_back(line.values.at("loss"));
  return losses;
}

TEST_SUITE("report reader") {
  TEST_CASE("whole lines as they come; a half one waits") {
    const TempFile file;
    const auto reader = NewJsonReader(file.path(), {});
    CHECK_FALSE(reader->Read(ReadMode::kWholeLines, kAll));  // no file yet
    file.Append("");
    CHECK_FALSE(reader->Read(ReadMode::kWholeLines, kAll));
    file.Append("{\"loss\":1}\n{\"loss\":2}\r\n{\"lo");
    auto read = reader->Read(ReadMode::kWholeLines, kAll);
    CHECK(Losses(read) == std::vector<double>{1, 2});
    CHECK(read->from == 0);
    CHECK(read->upto.offset == 23);
    CHECK(read->lines[0].end_offset == 11);
    CHECK(read->lines[1].end_offset == 23);
    CHECK(read->upto.inode != 0);
    CHECK_FALSE(read->more);
    CHECK_FALSE(reader->Read(ReadMode::kWholeLines, kAll));
    file.Append("ss\":3}");
    CHECK_FALSE(reader->Read(ReadMode::kWholeLines, kAll));
    file.Append("\n\n");
    read = reader->Read(ReadMode::kWholeLines, kAll);
    CHECK(Losses(read) == std::vector<double>{3});
    CHECK(read->from == 23);
    CHECK(read->upto.offset == 35);
  }

  TEST_CASE("at the end the last line counts without its newline") {
    const TempFile file;
    const auto reader = NewJsonReader(file.path(), {});
    file.Append("{\"loss\":1}\n{\"loss\":2}");
    CHECK(Losses(reader->Read(ReadMode::kWholeLines, kAll)) == std::vector<double>{1});
    const auto read = reader->Read(ReadMode::kToTheEnd, kAll);
    CHECK(Losses(read) == std::vector<double>{2});
    CHECK(read->upto.offset == 21);
    CHECK_FALSE(reader->Read(ReadMode::kToTheEnd, kAll));
  }

  TEST_CASE("a torn last line is counted, not fatal") {
    const TempFile file;
    file.Append("{\"loss\":1}\n{\"loss\":");
    const auto read = NewJsonReader(file.path(), {})->Read(ReadMode::kToTheEnd, kAll);
    CHECK(Losses(read) == std::vector<double>{1});
    CHECK(read->oddities.not_json == 1);
    CHECK(read->oddities.first == "{\"loss\":");
  }

  TEST_CASE("a huge line is stepped over and counted once") {
    const TempFile file;
    const auto reader = NewJsonReader(file.path(), {});
    file.Append("{\"loss\":1}\n");
    file.Append("begin" + std::string(3 << 20, 'x'));
    auto read = reader->Read(ReadMode::kWholeLines, kAll);
    CHECK(Losses(read) == std::vector<double>{1});
    CHECK(read->upto.offset == 11);
    CHECK_FALSE(reader->Read(ReadMode::kWholeLines, kAll));
    file.Append(std::string(1 << 20, 'y') + "\n{\"loss\":2}\n");
    read = reader->Read(ReadMode::kWholeLines, kAll);
    CHECK(Losses(read) == std::vector<double>{2});
    CHECK(read->oddities.too_long == 1);
    CHECK(read->oddities.not_json == 0);
    CHECK(read->oddities.first.starts_with("beginxxx"));
    CHECK(read->oddities.first.size() == 200);
    CHECK(read->upto.offset == static_cast<int64_t>(fs::file_size(file.path())));
  }

  TEST_CASE("a line of exactly the limit is a line") {
    const TempFile file;
    const std::string head = "{\"loss\":1,\"pad\":\"";
    const std::string pad((1 << 20) - head.size() - 2, 'p');
    file.Append(head + pad + "\"}\n" + head + pad + "p\"}\n");
    const auto read = NewJsonReader(file.path(), {})->Read(ReadMode::kWholeLines, kAll);
    CHECK(read->lines.size() == 1);
    CHECK(read->oddities.too_long == 1);
  }

  TEST_CASE("the limit is kept, and more says that there is more") {
    const TempFile file;
    for (int i = 0; i < 100; ++i) file.Append(fmt::format("{{\"loss\":{}}}\n", i));
    const auto reader = NewJsonReader(file.path(), {});
    std::vector<double> all;
    int64_t at = 0;
    for (int rounds = 0;; ++rounds) {
      const auto read = reader->Read(ReadMode::kToTheEnd, 100);
      if (!read) break;
      CHECK(read->from == at);
      at = read->upto.offset;
      for (const double loss : Losses(read)) all.push_back(loss);
      CHECK(read->more == (all.size() < 100));
      REQUIRE(rounds < 100);
    }
    REQUIRE(all.size() == 100);
    for (int i = 0; i < 100; ++i) CHECK(all[i] == i);
  }

  TEST_CASE("a file cut short or replaced goes on under the next generation") {
    const TempFile file;
    const auto reader = NewJsonReader(file.path(), {});
    file.Append("{\"loss\":1}\n{\"loss\":2}\n");
    CHECK(Losses(reader->Read(ReadMode::kWholeLines, kAll)).size() == 2);
    file.Replace("{\"loss\":3}\n");
    auto read = reader->Read(ReadMode::kWholeLines, kAll);
    CHECK(Losses(read) == std::vector<double>{3});
    CHECK(read->upto.source.generation == 1);
    CHECK(read->from == 0);
    CHECK(read->upto.offset == 11);

    // Replaced by another file of the same size.
    fs::rename(file.path(), file.path().string() + ".old");
    CHECK_FALSE(reader->Read(ReadMode::kWholeLines, kAll));
    file.Append("{\"loss\":4}\n");
    read = reader->Read(ReadMode::kWholeLines, kAll);
    CHECK(Losses(read) == std::vector<double>{4});
    CHECK(read->upto.source.generation == 2);

    // Cut to nothing and nothing new yet: the new place is told.
    file.Replace("");
    read = reader->Read(ReadMode::kWholeLines, kAll);
    REQUIRE(read);
    CHECK(read->lines.empty());
    CHECK(read->upto.source.generation == 3);
    CHECK(read->upto.offset == 0);
    CHECK_FALSE(reader->Read(ReadMode::kWholeLines, kAll));
  }

  TEST_CASE("a file written anew past the old place between two looks") {
    const TempFile file;
    const auto reader = NewJsonReader(file.path(), {});
    file.Append("{\"loss\":1}\n");
    CHECK(Losses(reader->Read(ReadMode::kWholeLines, kAll)) == std::vector<double>{1});
    file.Replace("{\"epoch\":1,\"loss\":5}\n{\"epoch\":2,\"loss\":6}\n");
    const auto read = reader->Read(ReadMode::kWholeLines, kAll);
    CHECK(Losses(read) == std::vector<double>{5, 6});
    CHECK(read->upto.source.generation == 1);
    CHECK(read->from == 0);
  }

  TEST_CASE("a committed place of a file that is gone leads to the next generation") {
    const TempFile file;
    file.Append("{\"loss\":1}\n{\"loss\":2}\n");
    const auto reader = NewJsonReader(file.path(), {});
    SourceOffset committed{{"report", 4}, 1, 1, 11};
    reader->Seek(committed);
    const auto read = reader->Read(ReadMode::kWholeLines, kAll);
    CHECK(Losses(read) == std::vector<double>{1, 2});
    CHECK(read->upto.source.generation == 5);
  }

  TEST_CASE("a folder, a device or a pipe in its place is no file") {
    const TempFile file;
    fs::create_directory(file.path());
    const auto reader = NewJsonReader(file.path(), {});
    CHECK_FALSE(reader->Read(ReadMode::kWholeLines, kAll));
    fs::remove(file.path());
    REQUIRE(mkfifo(file.path().c_str(), 0600) == 0);
    CHECK_FALSE(reader->Read(ReadMode::kToTheEnd, kAll));
    CHECK_FALSE(NewJsonReader("/dev/zero", {})->Read(ReadMode::kToTheEnd, kAll));
  }

  TEST_CASE("binary rubbish is counted") {
    const TempFile file;
    file.Append(std::string("\0\0\0\n{\"loss\":1}\n\xff\xfe\n", 18));
    const auto read = NewJsonReader(file.path(), {})->Read(ReadMode::kToTheEnd, kAll);
    CHECK(Losses(read) == std::vector<double>{1});
    CHECK(read->oddities.binary == 2);
  }

  // Any cut of the writes, any limit, any restart at a committed place, with lines of
  // every kind: the lines and their keys are the same as of one read of it all.
  TEST_CASE("the same lines whatever the cuts and restarts") {
    for (uint64_t seed = 0; seed < 60; ++seed) {
      Rng rng(seed, TrialId(0), "cuts");
      std::string text;
      for (int i = 0; i < 60; ++i) {
        switch (rng.Below(8)) {
          case 0:
            text += "no report\n";
            break;
          case 1:
            text += "\n";
            break;
          case 2:
            if (seed % 10 == 0)
              text += std::string((1 << 20) + rng.Below(1 << 20), 'l');
            text += "\n";
            break;
          default:
            text += fmt::format("{{\"step\":{},\"loss\":{}}}\n", i, i * 0.5);
        }
      }
      if (rng.Below(2) == 0) text += "{\"loss\":-1}";
      const TempFile whole;
      whole.Append(text);
      const auto expected =
          NewJsonReader(whole.path(), {})->Read(ReadMode::kToTheEnd, kAll);
      REQUIRE(expected);

      const TempFile file;
      auto reader = NewJsonReader(file.path(), {});
      std::map<int64_t, double> got;
      SourceOffset committed;
      size_t written = 0;
      bool at_end = false;
      while (!at_end) {
        const size_t cut = std::min<size_t>(text.size() - written,
                                            rng.Below(seed % 10 == 0 ? 600'000 : 200));
        file.Append(text.substr(written, cut));
        written += cut;
        const auto mode = written == text.size() && rng.Below(2) == 0
                              ? ReadMode::kToTheEnd
                              : ReadMode::kWholeLines;
        const auto read = reader->Read(mode, 1 + rng.Below(300'000));
        at_end = mode == ReadMode::kToTheEnd && (!read || !read->more);
        if (read) {
          for (const ReportLine& line : read->lines) {
            got.insert({line.end_offset, line.values.at("loss")});
          }
          CHECK(read->upto.source.generation == 0);
          if (rng.Below(2) == 0) committed = read->upto;
        }
        if (rng.Below(4) == 0) {
          reader = NewJsonReader(file.path(), {});
          reader->Seek(committed);
          at_end = false;
        }
      }
      REQUIRE(got.size() == expected->lines.size());
      for (const ReportLine& line : expected->lines) {
        CHECK(got.at(line.end_offset) == line.values.at("loss"));
      }
    }
  }
}

TEST_SUITE("pattern reader") {
  const std::vector<std::pair<std::string, std::string>> kPatterns = {
      {"loss", R"(\bloss[ =:]+(\S+))"}, {"epoch", R"(Epoch (\d+))"}};

  TEST_CASE("epoch on one line, loss on the next") {
    const TempFile file;
    file.Append(
        "starting\nEpoch 1/3\n... loss: 0.5\nnothing\nEpoch 2/3\nval loss=nan\n"
        "Epoch 3/3\nloss 1e-3 done\n");
    const auto read = NewPatternReader(file.path(), {"stdout"}, kPatterns)
                          ->Read(ReadMode::kToTheEnd, kAll);
    REQUIRE(read);
    std::vector<std::pair<double, double>> curve;
    for (const ReportLine& line : read->lines) {
      if (line.values.contains("loss")) {
        curve.emplace_back(line.values.at("epoch"), line.values.at("loss"));
      }
    }
    REQUIRE(curve.size() == 3);  // each loss once
    CHECK(curve[0] == std::pair(1.0, 0.5));
    CHECK(curve[1].first == 2);
    CHECK(std::isnan(curve[1].second));
    CHECK(curve[2] == std::pair(3.0, 1e-3));
    CHECK(read->upto.source.name == "stdout");
    CHECK_FALSE(read->oddities.any());
  }

  TEST_CASE("all on one line, split at carriage returns too") {
    const TempFile file;
    file.Append("\rEpoch 1 loss=3\rEpoch 1 loss=2\rEpoch 2 loss=1\n");
    const auto read =
        NewPatternReader(file.path(), {}, kPatterns)->Read(ReadMode::kWholeLines, kAll);
    CHECK(Losses(read) == std::vector<double>{3, 2, 1});
    CHECK(read->lines[2].values.at("epoch") == 2);
  }

  TEST_CASE("step alone reports nothing and holds") {
    const TempFile file;
    file.Append("it 5\nloss 0.5\nloss 0.4\nit 6\n");
    const auto read =
        NewPatternReader(
            file.path(), {}, {{"step", "it (\\d+)"}, {"loss", "loss (\\S+)"}})
            ->Read(ReadMode::kWholeLines, kAll);
    CHECK(Losses(read) == std::vector<double>{0.5, 0.4});
    CHECK(read->lines[0].step == 5);
    CHECK(read->lines[1].step == 5);
  }

  TEST_CASE("a capture that is no number is no match and is told; 0.5, is one") {
    const TempFile file;
    file.Append("loss: n/a\nloss: 0.5,\nacc 7\n");
    const auto read =
        NewPatternReader(file.path(), {}, {{"loss", "loss: (\\S+)"}, {"acc", "\\d$"}})
            ->Read(ReadMode::kWholeLines, kAll);
    REQUIRE(read);
    REQUIRE(read->lines.size() == 2);
    CHECK(read->lines[0].values == std::map<std::string, double>{{"loss", 0.5}});
    CHECK(read->lines[1].values.at("acc") == 7);
    CHECK(read->oddities.no_number == 1);
    CHECK(read->oddities.first.find("`n/a`") != std::string::npos);
  }

  TEST_CASE("the head is recalled after a restart") {
    const TempFile file;
    file.Append("Epoch 1\nloss 5\nEpoch 2\nloss 4\n");
    auto reader = NewPatternReader(file.path(), {}, kPatterns);
    auto read = reader->Read(ReadMode::kWholeLines, 24);
    REQUIRE(read);
    const SourceOffset committed = read->upto;
    CHECK(committed.offset == 23);
    reader = NewPatternReader(file.path(), {}, kPatterns);
    reader->Seek(committed);
    read = reader->Read(ReadMode::kToTheEnd, kAll);
    REQUIRE(read);
    REQUIRE(read->lines.size() == 1);
    CHECK(read->lines[0].values ==
          std::map<std::string, double>{{"epoch", 2}, {"loss", 4}});
  }

  TEST_CASE("long lines and greedy patterns neither crash nor hang") {
    const TempFile file;
    file.Append(std::string(900'000, 'a') + "\nloss 0.5\n" + std::string(3 << 20, 'a') +
                "\n");
    const auto read =
        NewPatternReader(file.path(), {}, {{"x", "(a+)+b"}, {"loss", "loss (.*)$"}})
            ->Read(ReadMode::kToTheEnd, kAll);
    CHECK(Losses(read) == std::vector<double>{0.5});
  }

  TEST_CASE("what is no regex is refused by name") {
    CHECK_THROWS_WITH_AS(NewPatternReader("x", {}, {{"loss", "("}}),
                         doctest::Contains("read.output.loss"),
                         ConfigError);
  }
}

}  // namespace
}  // namespace hyperopt
