#include "executors/run_sources.h"

#include <doctest/doctest.h>

#include "executors/internal/find_files.h"
#include "executors/internal/report_fixture.h"

namespace hyperopt {
namespace {

using testing::kAll;
using testing::ReadLines;
using testing::ReportFolder;

using Names = std::vector<std::string>;

const RunKey kKey{TrialId(3), RunId(0), Attempt(2)};

ReadSource Files(ReadKind kind, const std::string& glob) {
  return {kind, {}, glob, {}};
}

// All that comes, by source.
std::map<std::string, size_t> Counts(RunSources& sources, ReadMode mode, Time now) {
  std::map<std::string, size_t> counts;
  sources.Read(mode, kAll, now, [&](const SourceRead& read) {
    counts[read.upto.source.name] += read.lines.size();
  });
  return counts;
}

TEST_SUITE("run sources") {
  TEST_CASE("files by name, part and depth") {
    const ReportFolder folder;
    for (const char* name :
         {"a.csv", "x/a.csv", "x/y/a.csv", "x/y/b.csv", ".hidden/a.csv", "x/[1].csv"}) {
      folder.Append(name, "1");
    }
    const auto find = [&](const char* pattern) {
      return internal::FindFiles(folder.path(), pattern);
    };
    CHECK(find("a.csv") == Names{"a.csv"});
    CHECK(find("*/a.csv") == Names{"x/a.csv"});
    CHECK(find("**/a.csv") == Names{"a.csv", "x/a.csv", "x/y/a.csv"});
    CHECK(find("x/**") == Names{"x/[1].csv", "x/a.csv", "x/y/a.csv", "x/y/b.csv"});
    CHECK(find("./x/y/[ab].csv") == Names{"x/y/a.csv", "x/y/b.csv"});
    CHECK(find("x/\\[1\\].csv") == Names{"x/[1].csv"});
    CHECK(find("x") == Names{});
    CHECK(find("nowhere/*") == Names{});
    CHECK(find("") == Names{});
    std::filesystem::create_directory_symlink(folder.path(), folder.path() / "x/loop");
    CHECK(find("**/b.csv") == Names{"x/y/b.csv"});
  }

  TEST_CASE("places in a glob") {
    CHECK(ExpandGlob("${trial.dir}/a-${trial.id}/*.csv", kKey, "s") == "a-3/*.csv");
    CHECK(ExpandGlob("./v${trial.attempt}/${sweep.name}", kKey, "a*[b]") ==
          "v2/a\\*\\[b\\]");
  }

  TEST_CASE("new files are found, and read from where they were left") {
    const ReportFolder folder;
    folder.Append("report.jsonl", "{\"loss\":1}\n");
    folder.Append("stdout.log", "{'loss': 2}\n");
    const std::vector<ReadSource> read = {{ReadKind::kDicts, {}, "", {}},
                                          Files(ReadKind::kCsv, "logs/**/m.csv"),
                                          Files(ReadKind::kJsonLines, "*.jsonl")};
    RunSources sources(folder.path(), kKey, "s", read);
    Time now;
    CHECK(Counts(sources, ReadMode::kWholeLines, now) ==
          std::map<std::string, size_t>{{"report", 1}, {"stdout", 1}});
    folder.Append("logs/v0/m.csv", "a\n1\n2\n");
    folder.Append("own.jsonl", "{\"b\":1}\n");
    CHECK(Counts(sources, ReadMode::kWholeLines, now).empty());  // looked just now
    now += Seconds(1);
    CHECK(Counts(sources, ReadMode::kWholeLines, now) ==
          std::map<std::string, size_t>{{"logs/v0/m.csv", 2}, {"own.jsonl", 1}});
    folder.Append("logs/v1/m.csv", "a\n3");
    CHECK(Counts(sources, ReadMode::kToTheEnd, now) ==
          std::map<std::string, size_t>{{"logs/v1/m.csv", 1}});

    // Another life, from places in all of them.
    std::vector<SourceOffset> places;
    RunSources first(folder.path(), kKey, "s", read);
    first.Read(ReadMode::kToTheEnd, kAll, now, [&](const SourceRead& got) {
      places.push_back(got.upto);
    });
    RunSources again(folder.path(), kKey, "s", read);
    again.Seek(places);
    folder.Append("logs/v0/m.csv", "4\n");
    CHECK(Counts(again, ReadMode::kToTheEnd, now) ==
          std::map<std::string, size_t>{{"logs/v0/m.csv", 1}});
  }

  TEST_CASE("too many files: the first ones, those read before, and one word") {
    const ReportFolder folder;
    for (int i = 10; i < 60; ++i) {
      folder.Append("f" + std::to_string(i) + ".csv", "a\n1\n");
    }
    const std::vector<ReadSource> read = {Files(ReadKind::kCsv, "*.csv")};
    RunSources sources(folder.path(), kKey, "s", read);
    int64_t odd = 0;
    size_t files = 0;
    sources.Read(ReadMode::kToTheEnd, kAll, Time(), [&](const SourceRead& got) {
      ++files;
      odd += got.oddities.not_json;
      if (got.oddities.any())
        CHECK(got.oddities.first.find("f42.csv") != Names::value_type::npos);
    });
    CHECK(files == RunSources::kMostFiles);
    CHECK(odd == 1);
    // One that was read before has its place, though others come before it by name.
    RunSources again(folder.path(), kKey, "s", read);
    again.Seek({SourceOffset{{"f59.csv", 0}, 0, 0, 2}});
    const auto counts = Counts(again, ReadMode::kToTheEnd, Time());
    CHECK(counts.size() == RunSources::kMostFiles);
    CHECK(counts.contains("f59.csv"));
  }

  TEST_CASE("a glob that matched nothing is named once, at the end") {
    const ReportFolder folder;
    folder.Append("a.jsonl", "{\"loss\": 1}\n");
    RunSources sources(
        folder.path(),
        kKey,
        "s",
        {Files(ReadKind::kCsv, "*.csv"), Files(ReadKind::kJsonLines, "*.jsonl")});
    Oddities odd;
    const auto take = [&](const SourceRead& got) {
      odd.not_json += got.oddities.not_json;
      if (got.oddities.any()) odd.first = got.oddities.first;
    };
    sources.Read(ReadMode::kWholeLines, kAll, Time(), take);
    CHECK_FALSE(odd.any());
    for (int i = 0; i < 2; ++i) {
      sources.Read(ReadMode::kToTheEnd, kAll, Time(), take);
      CHECK(odd.not_json == 1);
      CHECK(odd.first == "read: no file matched `*.csv` in the trial's folder");
    }
  }

  TEST_CASE("names that are changed") {
    const ReportFolder folder;
    folder.Append("a.jsonl",
                  "{\"epoch\": 2, \"val_loss\": 0.5, \"loss\": 9, \"step\": 7}\n");
    const auto reader =
        WithNames(NewJsonReader(folder.path() / "a.jsonl", {}),
                  {{"val_loss", "loss"}, {"epoch", "step"}, {"step", "batch"}});
    const auto lines = ReadLines(*reader);
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].step == 2);
    CHECK(lines[0].values ==
          std::map<std::string, double>{{"loss", 0.5}, {"batch", 7}});
  }
}

}  // namespace
}  // namespace hyperopt
