#include "trial/resources.h"

#include <doctest/doctest.h>

#include <cstdint>

namespace hyperopt {
namespace {

TEST_SUITE_BEGIN("resources");

TEST_CASE("shares add up exactly where doubles do not") {
  CHECK(Share::Of(0.1) + Share::Of(0.2) == Share::Of(0.3));
  Share sum;
  for (int i = 0; i < 10; ++i) sum += Share::Of(0.1);
  CHECK(sum == Share::Whole(1));
  sum -= Share::Of(0.3);
  CHECK(sum == Share::Of(0.7));
  CHECK(Share::Of(1.0 / 3) * 3 < Share::Whole(1));
}

TEST_CASE("a share as text has no more digits than it needs") {
  CHECK(Share().ToText() == "0");
  CHECK(Share::Whole(2).ToText() == "2");
  CHECK(Share::Of(0.25).ToText() == "0.25");
  CHECK(Share::Of(10.5).ToText() == "10.5");
  CHECK(Share::Micro(1).ToText() == "0.000001");
  CHECK(Share::Of(-0.5).ToText() == "-0.5");
  CHECK(Share::Micro(INT64_MIN).ToText() == "-9223372036854.775808");
}

TEST_CASE("sizes: binary units but for MB and its like") {
  CHECK(ParseSize("8GiB") == int64_t{8} << 30);
  CHECK(ParseSize("8 GiB") == int64_t{8} << 30);
  CHECK(ParseSize("8g") == int64_t{8} << 30);
  CHECK(ParseSize("512MB") == 512'000'000);
  CHECK(ParseSize("1.5G") == 1'610'612'736);
  CHECK(ParseSize("1KiB") == 1024);
  CHECK(ParseSize("2T") == int64_t{2} << 40);
  CHECK(ParseSize("100B") == 100);
  CHECK(ParseSize("4096") == 4096);
  CHECK(ParseSize("1e9") == 1'000'000'000);
  CHECK(ParseSize("9007199254740993") == 9007199254740993);
}

TEST_CASE("what is no size") {
  for (const char* text : {"",
                           " ",
                           "G",
                           "-1",
                           "-1G",
                           "+1",
                           "inf",
                           "nan",
                           "8X",
                           "8GiBs",
                           "8iB",
                           "8 G iB",
                           "1..5G",
                           "9223372036854775808",
                           "10000000T",
                           "1e400",
                           "0x10"}) {
    CAPTURE(text);
    CHECK_FALSE(ParseSize(text).has_value());
  }
}

TEST_CASE("a size as text reads back") {
  CHECK(SizeToText(int64_t{8} << 30) == "8 GiB");
  CHECK(SizeToText(1'610'612'736) == "1.5 GiB");
  CHECK(SizeToText(100) == "100 B");
  CHECK(SizeToText(0) == "0 B");
  CHECK(ParseSize(SizeToText(int64_t{64} << 20)) == int64_t{64} << 20);
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt
