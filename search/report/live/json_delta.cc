#include "search/report/live/json_delta.h"

#include <nlohmann/json.hpp>

namespace hyperopt {
namespace {

// Worth looking into: a change inside is likely smaller than the whole.
bool Alike(const OrderedJson& from, const OrderedJson& to) {
  return (from.is_object() && to.is_object()) || (from.is_array() && to.is_array());
}

OrderedJson ObjectDelta(const OrderedJson& from, const OrderedJson& to) {
  OrderedJson changed = OrderedJson::object(), gone = OrderedJson::array();
  for (const auto& [name, value] : to.items()) {
    const auto old = from.find(name);
    if (old == from.end()) {
      changed[name] = OrderedJson{{"=", value}};
    } else if (*old != value) {
      changed[name] = DeltaOf(*old, value);
    }
  }
  for (const auto& [name, value] : from.items()) {
    if (!to.contains(name)) gone.push_back(name);
  }
  OrderedJson delta = OrderedJson::object();
  if (!changed.empty()) delta["o"] = std::move(changed);
  if (!gone.empty()) delta["-"] = std::move(gone);
  return delta;
}

OrderedJson ArrayDelta(const OrderedJson& from, const OrderedJson& to) {
  OrderedJson at = OrderedJson::array(), put = OrderedJson::array();
  OrderedJson in = OrderedJson::array(), by = OrderedJson::array();
  for (size_t i = 0; i < to.size(); ++i) {
    if (i < from.size() && from[i] == to[i]) continue;
    if (i < from.size() && Alike(from[i], to[i])) {
      in.push_back(i);
      by.push_back(DeltaOf(from[i], to[i]));
    } else {
      at.push_back(i);
      put.push_back(to[i]);
    }
  }
  OrderedJson delta = {{"n", to.size()}};
  if (!at.empty()) delta.update({{"at", std::move(at)}, {"to", std::move(put)}});
  if (!in.empty()) delta.update({{"in", std::move(in)}, {"by", std::move(by)}});
  return delta;
}

}  // namespace

OrderedJson DeltaOf(const OrderedJson& from, const OrderedJson& to) {
  if (from == to) return OrderedJson::object();
  if (from.is_object() && to.is_object()) return ObjectDelta(from, to);
  if (from.is_array() && to.is_array()) return ArrayDelta(from, to);
  return {{"=", to}};
}

}  // namespace hyperopt
