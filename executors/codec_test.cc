#include "executors/codec.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "executors/internal/archive.h"
#include "executors/internal/message_members.h"
#include "executors/testing/full_messages.h"
#include "executors/testing/same_message.h"
#include "trial/rng.h"

namespace hyperopt {
namespace {

using testing::FullFromExecutor;
using testing::FullToExecutor;
using testing::Same;
using testing::SameMessage;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST_SUITE("codec") {
  TEST_CASE("every message comes back with every field") {
    for (const ToExecutor& message : FullToExecutor()) {
      const auto back = DecodeToExecutor(Encode(message));
      REQUIRE(back);
      CHECK(SameMessage(message, *back));
    }
    for (const FromExecutor& message : FullFromExecutor()) {
      const auto back = DecodeFromExecutor(Encode(message));
      REQUIRE(back);
      CHECK(SameMessage(message, *back));
    }
  }

  TEST_CASE("every message comes back with every field at its default") {
    const ToExecutor to[] = {
        Welcome{}, Answer{}, Launch{}, Stop{}, Shutdown{}, Refused{}, HelloAgain{}};
    for (const ToExecutor& message : to) {
      const auto back = DecodeToExecutor(Encode(message));
      REQUIRE(back);
      CHECK(SameMessage(message, *back));
    }
    const FromExecutor from[] = {Hello{}, Heartbeat{}, Measured{}, Exited{}};
    for (const FromExecutor& message : from) {
      const auto back = DecodeFromExecutor(Encode(message));
      REQUIRE(back);
      CHECK(SameMessage(message, *back));
    }
  }

  TEST_CASE("the comparison above sees a difference") {
    ReportLine a;
    ReportLine b;
    CHECK(Same(a, b));
    a.values["x"] = kNan;
    CHECK_FALSE(Same(a, b));
    b.values["x"] = kNan;
    CHECK(Same(a, b));
    b.step = 0;
    CHECK_FALSE(Same(a, b));
    CHECK_FALSE(Same(Params{{"x", 1.0}}, Params{{"x", int64_t{1}}}));
  }

  TEST_CASE("the bytes are MessagePack as others read it") {
    const std::string bytes = Encode(ToExecutor(FullToExecutor()[2]));
    const auto json = nlohmann::json::from_msgpack(bytes);
    CHECK(json[0] == 2);
    CHECK(json[1][0][0] == 1'234'567'890'123);
    CHECK(json[1][2] == UINT64_MAX);
    CHECK(std::isnan(json[1][1]["nan"].get<double>()));
    CHECK(json[1][1]["one.0"].is_number_float());
    CHECK(json[1][1]["one"].is_number_integer());
  }

  TEST_CASE("integers of every size") {
    for (int bit = 0; bit < 64; ++bit) {
      for (const int64_t off : {-1, 0, 1}) {
        const auto value = static_cast<int64_t>((uint64_t{1} << bit) + off);
        for (const int64_t signed_value :
             {value, static_cast<int64_t>(-(uint64_t)value)}) {
          Launch launch;
          launch.first_step = signed_value;
          launch.seed = static_cast<uint64_t>(signed_value);
          const auto back = DecodeToExecutor(Encode(ToExecutor(launch)));
          REQUIRE(back);
          CHECK(std::get<Launch>(*back).first_step == signed_value);
          CHECK(std::get<Launch>(*back).seed == static_cast<uint64_t>(signed_value));
        }
      }
    }
  }

  TEST_CASE("strings and lists of every size class") {
    for (const size_t size : {0, 15, 16, 31, 32, 255, 256, 65535, 65536, 70000}) {
      Refused refused{std::string(size, 'y')};
      const auto back = DecodeToExecutor(Encode(ToExecutor(refused)));
      REQUIRE(back);
      CHECK(std::get<Refused>(*back).why == refused.why);
      Answer answer;
      answer.ended.resize(size, testing::kFullKey);
      const auto list = DecodeToExecutor(Encode(ToExecutor(answer)));
      REQUIRE(list);
      CHECK(std::get<Answer>(*list).ended == answer.ended);
    }
  }

  TEST_CASE("rubbish is no message") {
    CHECK_FALSE(DecodeToExecutor(""));
    CHECK_FALSE(DecodeFromExecutor(""));
    CHECK_FALSE(DecodeToExecutor("GET / HTTP/1.1\r\n\r\n"));
    CHECK_FALSE(DecodeFromExecutor(std::string(1000, '\xff')));
    // An array of four billion elements in five bytes.
    CHECK_FALSE(DecodeToExecutor(std::string("\x92\x01\xdd\xff\xff\xff\xff", 7)));
    // A thousand nested arrays.
    CHECK_FALSE(DecodeToExecutor(std::string(1000, '\x91')));
    // Unknown message, unknown reason, an id that does not fit its type.
    CHECK_FALSE(DecodeToExecutor("\x92\x07\x90"));
    CHECK_FALSE(DecodeToExecutor(
        Encode(ToExecutor(Stop{testing::kFullKey, static_cast<Reason>(99), 1}))));
    CHECK(DecodeToExecutor("\x92\x05\x91\xa0"));
    CHECK_FALSE(DecodeToExecutor("\x92\x05\x91\xa0\xa0"));  // and something after it
  }

  TEST_CASE("no message cut short is one") {
    for (const FromExecutor& message : FullFromExecutor()) {
      const std::string bytes = Encode(message);
      for (size_t size = 0; size < bytes.size(); ++size) {
        CHECK_FALSE(DecodeFromExecutor(std::string_view(bytes).substr(0, size)));
      }
    }
  }

  TEST_CASE("whatever decodes encodes to something that decodes the same") {
    Rng rng(1, TrialId(0), "codec");
    for (const ToExecutor& message : FullToExecutor()) {
      const std::string whole = Encode(message);
      for (int i = 0; i < 2000; ++i) {
        std::string bytes = whole;
        bytes[rng.Below(bytes.size())] = static_cast<char>(rng.Below(256));
        const auto decoded = DecodeToExecutor(bytes);
        if (!decoded) continue;
        const auto again = DecodeToExecutor(Encode(*decoded));
        REQUIRE(again);
        CHECK(SameMessage(*decoded, *again));
      }
    }
  }

  TEST_CASE("a hello of another protocol says its number and no more") {
    Hello hello;
    hello.protocol = kProtocolVersion + 1;
    hello.name = "new";
    const auto back = DecodeFromExecutor(Encode(FromExecutor(hello)));
    REQUIRE(back);
    CHECK(std::get<Hello>(*back).protocol == kProtocolVersion + 1);
    // [0, [7, 1, 2]]: other fields than ours.
    const auto other = DecodeFromExecutor(std::string("\x92\x00\x93\x07\x01\x02", 6));
    REQUIRE(other);
    CHECK(std::get<Hello>(*other).protocol == 7);
  }

  TEST_CASE("a frame over 64 MiB is rubbish") {
    const std::string bytes =
        Encode(ToExecutor(Refused{std::string((64 << 20) + 1, 'x')}));
    CHECK_FALSE(DecodeToExecutor(bytes));
  }
}

}  // namespace
}  // namespace hyperopt
