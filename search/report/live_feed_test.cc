#include "search/report/live/live_feed.h"

#include <doctest/doctest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <vector>

#include "trial/errors.h"

namespace hyperopt {
namespace {

using std::chrono::milliseconds;

// Longer than any wait that ends: a test that hangs fails.
constexpr milliseconds kLong{20'000};

struct Script {
  std::mutex mutex;
  std::string text;  // "" is an error
  int stamp = 0;
  std::atomic<int> reads = 0;

  void Say(const std::string& what) {
    const std::lock_guard lock(mutex);
    text = what;
    ++stamp;
  }
};

class ScriptSource : public LiveSource {
 public:
  explicit ScriptSource(Script* script) : script_(script) {}
  std::string Stamp() override {
    const std::lock_guard lock(script_->mutex);
    return std::to_string(script_->stamp);
  }
  std::string Read() override {
    const std::lock_guard lock(script_->mutex);
    ++script_->reads;
    if (script_->text.empty()) throw EnvironmentError("no <record>");
    return script_->text;
  }

 private:
  Script* script_;
};

constexpr FeedPace kQuick{.look = milliseconds(1), .rest = milliseconds(1), .pause = 0};

TEST_SUITE("live feed") {
  TEST_CASE("the first is the whole, the next what changed") {
    Script script;
    const std::string filler = R"({"filler":")" + std::string(200, 'x') + R"(","a":[1)";
    script.Say(filler + "]}");
    LiveFeed feed(std::make_unique<ScriptSource>(&script), kQuick);
    const auto first = feed.Next(0, kLong);
    REQUIRE(first);
    CHECK(first->kind == "whole");
    CHECK(*first->text == script.text);
    script.Say(filler + ",0]}");
    const auto second = feed.Next(first->version, kLong);
    REQUIRE(second);
    CHECK(second->kind == "delta");
    CHECK(*second->text == R"({"o":{"a":{"n":2,"at":[1],"to":[0]}}})");
    SUBCASE("one who comes late gets the whole") {
      const auto late = feed.Next(0, kLong);
      REQUIRE(late);
      CHECK(late->version == second->version);
      CHECK(late->kind == "whole");
    }
    SUBCASE("nothing new is nothing") {
      CHECK_FALSE(feed.Next(second->version, milliseconds(20)));
    }
  }

  TEST_CASE("one who is behind gets the deltas in order, one far behind the whole") {
    Script script;
    const std::string filler(5000, 'x');
    const auto text = [&](int k) {
      return R"({"filler":")" + filler + R"(","k":)" + std::to_string(k) + "}";
    };
    script.Say(text(0));
    LiveFeed feed(std::make_unique<ScriptSource>(&script), kQuick);
    uint64_t newest = feed.Next(0, kLong).value().version;
    const uint64_t first = newest;
    for (int k = 1; k <= 100; ++k) {
      script.Say(text(k));
      newest = feed.Next(newest, kLong).value().version;
    }
    CHECK(newest == first + 100);
    CHECK(feed.Next(newest - 10, kLong).value().version == newest - 9);
    CHECK(feed.Next(newest - 10, kLong).value().kind == "delta");
    CHECK(feed.Next(first, kLong).value().kind == "whole");
    CHECK(feed.Next(first, kLong).value().version == newest);
  }

  TEST_CASE("trouble is told, and its end") {
    Script script;
    LiveFeed feed(std::make_unique<ScriptSource>(&script), kQuick);
    const auto trouble = feed.Next(0, kLong);
    REQUIRE(trouble);
    CHECK(trouble->kind == "trouble");
    CHECK(*trouble->text == R"("no <record>")");
    script.Say("{}");
    const auto good = feed.Next(trouble->version, kLong);
    REQUIRE(good);
    CHECK(good->kind == "whole");
  }

  TEST_CASE("nobody listens, nothing is read") {
    Script script;
    script.Say("{}");
    { LiveFeed feed(std::make_unique<ScriptSource>(&script), kQuick); }
    CHECK(script.reads == 0);
  }

  TEST_CASE("closing wakes who waits") {
    Script script;
    script.Say("{}");
    LiveFeed feed(std::make_unique<ScriptSource>(&script), kQuick);
    const uint64_t version = feed.Next(0, kLong).value().version;
    std::thread closer([&] { feed.Close(); });
    CHECK_FALSE(feed.Next(version, kLong));
    closer.join();
    CHECK(feed.closed());
  }
}

}  // namespace
}  // namespace hyperopt
