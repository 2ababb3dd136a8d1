#include "search/report/live/json_delta.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "trial/rng.h"

namespace hyperopt {
namespace {

// What page/stream.js does.
OrderedJson Applied(const OrderedJson& old, const OrderedJson& delta) {
  if (delta.contains("=")) return delta["="];
  OrderedJson fresh = old;
  if (delta.contains("n")) {
    OrderedJson list = OrderedJson::array();
    const auto size = delta["n"].get<size_t>();
    for (size_t i = 0; i < size; ++i) list.push_back(i < old.size() ? old[i] : nullptr);
    const auto each = [&](const char* places, const char* values, auto act) {
      if (!delta.contains(places)) return;
      for (size_t i = 0; i < delta[places].size(); ++i) {
        act(&list[delta[places][i].get<size_t>()], delta[values][i]);
      }
    };
    each("at", "to", [](OrderedJson* at, const OrderedJson& to) { *at = to; });
    each("in", "by", [](OrderedJson* at, const OrderedJson& by) {
      *at = Applied(*at, by);
    });
    return list;
  }
  if (delta.contains("-")) {
    for (const auto& name : delta["-"]) fresh.erase(name.get<std::string>());
  }
  if (delta.contains("o")) {
    for (const auto& [name, change] : delta["o"].items()) {
      fresh[name] = Applied(old.contains(name) ? old[name] : OrderedJson(), change);
    }
  }
  return fresh;
}

OrderedJson RandomJson(Rng* rng, int depth) {
  const uint64_t kind = rng->Below(depth > 0 ? 7 : 4);
  if (kind == 0) return nullptr;
  if (kind == 1) return rng->Below(2) == 1;
  if (kind == 2) return static_cast<int64_t>(rng->Below(4));
  if (kind == 3) return std::string(rng->Below(3), '=');
  OrderedJson json = kind == 4 ? OrderedJson::object() : OrderedJson::array();
  const uint64_t size = rng->Below(5);
  for (uint64_t i = 0; i < size; ++i) {
    OrderedJson inner = RandomJson(rng, depth - 1);
    if (kind == 4) {
      json[std::string(1, static_cast<char>('a' + rng->Below(6)))] = std::move(inner);
    } else {
      json.push_back(std::move(inner));
    }
  }
  return json;
}

TEST_SUITE("json delta") {
  TEST_CASE("what is told makes the one of the other") {
    Rng rng(7, TrialId(0), "json delta");
    for (int round = 0; round < 5000; ++round) {
      const OrderedJson from = RandomJson(&rng, 3), to = RandomJson(&rng, 3);
      CAPTURE(from.dump());
      CAPTURE(to.dump());
      const OrderedJson delta = DeltaOf(from, to);
      CAPTURE(delta.dump());
      // Members that came are at the end: their order means nothing in a report.
      CHECK(nlohmann::json(Applied(from, delta)) == nlohmann::json(to));
      CHECK((delta == OrderedJson::object()) == (from == to));
    }
  }

  TEST_CASE("a longer column costs what came") {
    const OrderedJson from = {{"y", {1, 2, 3}}, {"name", "x"}};
    const OrderedJson to = {{"y", {1, 2, 4, 5}}, {"name", "x"}};
    CHECK(DeltaOf(from, to).dump() == R"({"o":{"y":{"n":4,"at":[2,3],"to":[4,5]}}})");
  }

  TEST_CASE("a longer curve among curves costs its points") {
    const OrderedJson from = OrderedJson::parse("[[1,2],[7]]");
    const OrderedJson to = OrderedJson::parse("[[1,2,3],[7]]");
    CHECK(DeltaOf(from, to).dump() ==
          R"({"n":2,"in":[0],"by":[{"n":3,"at":[2],"to":[3]}]})");
  }
}

}  // namespace
}  // namespace hyperopt
