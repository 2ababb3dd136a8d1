#include <doctest/doctest.h>

#include <cmath>

#include "executors/internal/crc32c.h"
#include "executors/internal/report_fixture.h"
#include "executors/internal/tensorboard_event.h"

namespace hyperopt {
namespace {

using testing::Fixture;
using testing::kAll;
using testing::ReadLines;
using testing::ReportFolder;
using testing::ValuesOf;

using Numbers = std::vector<double>;

TEST_SUITE("tensorboard") {
  TEST_CASE("the checksum's test vector (RFC 3720, B.4)") {
    CHECK(internal::Crc32c(std::string(32, '\0')) == 0x8a9136aa);
    CHECK(internal::Crc32c(std::string(32, '\xff')) == 0x62a8ab43);
    CHECK(internal::Crc32c("123456789") == 0xe3069283);
  }

  TEST_CASE("what torch's SummaryWriter wrote") {
    const ReportFolder folder;
    const auto reader =
        NewTensorboardReader(folder.Append("e", Fixture("torch.tfevents")), {});
    const auto read = reader->Read(ReadMode::kWholeLines, kAll);
    REQUIRE(read);
    CHECK_FALSE(read->oddities.any());
    const Numbers losses = ValuesOf(read->lines, "loss/val");
    REQUIRE(losses.size() == 6);
    CHECK(losses[0] == 1);
    CHECK(losses[4] == doctest::Approx(0.2));
    CHECK(std::isnan(losses[5]));
    CHECK(ValuesOf(read->lines, "epoch") == Numbers{1, 2, 3, 4, 5});
    CHECK(ValuesOf(read->lines, "new") == Numbers{0.25});   // a float tensor
    CHECK(ValuesOf(read->lines, "dbl") == Numbers{0.125});  // a double one
    CHECK(read->lines.front().step == 1);
    CHECK(read->upto.offset == std::ssize(Fixture("torch.tfevents")));
    CHECK_FALSE(reader->Read(ReadMode::kToTheEnd, kAll));
  }

  TEST_CASE("what Lightning's logger wrote") {
    const ReportFolder folder;
    const auto lines = ReadLines(
        *NewTensorboardReader(folder.Append("e", Fixture("lightning.tfevents")), {}));
    CHECK(ValuesOf(lines, "val_loss").size() == 3);
    std::vector<int64_t> steps;
    for (const ReportLine& line : lines) {
      if (line.values.contains("val_loss")) steps.push_back(line.step.value());
    }
    CHECK(steps == std::vector<int64_t>{7, 15, 23});
  }

  TEST_CASE("whatever part of it is there: whole events, each once") {
    const ReportFolder folder;
    const std::string whole = Fixture("lightning.tfevents");
    const auto file = folder.Replace("e", "");
    auto reader = NewTensorboardReader(file, {});
    std::vector<ReportLine> got;
    for (size_t size = 1; size <= whole.size(); ++size) {
      folder.Append("e", whole.substr(size - 1, 1));
      const auto mode = size % 2 == 0 ? ReadMode::kWholeLines : ReadMode::kToTheEnd;
      for (const ReportLine& line : ReadLines(*reader, mode)) got.push_back(line);
      if (size % 100 != 0) continue;
      const SourceOffset at = reader->position();
      reader = NewTensorboardReader(file, {});
      reader->Seek(at);
    }
    const auto all = ReadLines(*NewTensorboardReader(file, {}));
    REQUIRE(got.size() == all.size());
    for (size_t i = 0; i < got.size(); ++i) {
      CHECK(got[i].end_offset == all[i].end_offset);
      CHECK(got[i].values == all[i].values);
    }
  }

  TEST_CASE("a limit stops between events, and more is said") {
    const ReportFolder folder;
    const auto reader =
        NewTensorboardReader(folder.Append("e", Fixture("lightning.tfevents")), {});
    size_t reads = 0, lines = 0;
    while (const auto read = reader->Read(ReadMode::kToTheEnd, 100)) {
      ++reads;
      lines += read->lines.size();
      if (!read->more) break;
    }
    CHECK(reads > 5);
    CHECK(lines == ReadLines(*NewTensorboardReader(folder.path() / "e", {})).size());
  }

  TEST_CASE("any damaged byte: counted, never fatal, and nothing invented") {
    const ReportFolder folder;
    const std::string whole = Fixture("lightning.tfevents");
    const auto file = folder.Replace("e", whole);
    const size_t all = ReadLines(*NewTensorboardReader(file, {})).size();
    for (size_t i = 0; i < whole.size(); i += 7) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ 0x20);
      const auto at = folder.Replace("d", damaged);
      const auto reader = NewTensorboardReader(at, {});
      const auto read = reader->Read(ReadMode::kToTheEnd, kAll);
      REQUIRE(read);
      CHECK(read->lines.size() <= all);
      CHECK(read->oddities.binary == 1);
      CHECK_FALSE(reader->Read(ReadMode::kToTheEnd, kAll));  // and not again
    }
  }

  TEST_CASE("room that is not written to yet, and a new file in its place") {
    const ReportFolder folder;
    const std::string whole = Fixture("lightning.tfevents");
    const auto file = folder.Replace("e", whole + std::string(64, '\0'));
    const auto reader = NewTensorboardReader(file, {});
    const auto read = reader->Read(ReadMode::kToTheEnd, kAll);
    REQUIRE(read);
    CHECK_FALSE(read->oddities.any());
    CHECK(read->upto.offset == std::ssize(whole));
    folder.Replace("new", whole);
    std::filesystem::rename(folder.path() / "new", file);
    CHECK(ReadLines(*reader).size() == read->lines.size());
    CHECK(reader->position().source.generation == 1);
  }

  TEST_CASE("bytes that are no event") {
    for (const std::string& bytes :
         {std::string("\x2a\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
          std::string("\x2a\x05\x0a\xff"),
          std::string("\x0f"),
          std::string(1000, '\x2a')}) {
      bool damaged = false;
      CHECK_FALSE(internal::ScalarsOfEvent(bytes, &damaged));
      CHECK(damaged);
    }
  }
}

}  // namespace
}  // namespace hyperopt
