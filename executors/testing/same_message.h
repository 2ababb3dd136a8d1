// Whether two messages are equal, member by member, with doubles by their bits.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "executors/internal/archive.h"
#include "executors/internal/message_members.h"

namespace hyperopt::testing {

template <typename T>
bool Same(const T& a, const T& b);
inline bool Same(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}
template <typename T>
bool Same(const std::optional<T>& a, const std::optional<T>& b) {
  return a.has_value() == b.has_value() && (!a || Same(*a, *b));
}
template <typename T>
bool Same(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!Same(a[i], b[i])) return false;
  }
  return true;
}
inline bool Same(const ParamValue& a, const ParamValue& b) {
  const auto* x = std::get_if<double>(&a);
  const auto* y = std::get_if<double>(&b);
  return x != nullptr && y != nullptr ? Same(*x, *y) : a == b;
}
template <typename V>
bool Same(const std::map<std::string, V>& a, const std::map<std::string, V>& b) {
  if (a.size() != b.size()) return false;
  for (auto i = a.begin(), j = b.begin(); i != a.end(); ++i, ++j) {
    if (i->first != j->first || !Same(i->second, j->second)) return false;
  }
  return true;
}
template <typename T>
bool Same(const T& a, const T& b) {
  if constexpr (internal::Record<T>) {
    return std::apply(
        [&](auto... member) { return (Same(a.*member, b.*member) && ...); },
        Members(&a));
  } else {
    return a == b;
  }
}

template <typename... Ts>
bool SameMessage(const std::variant<Ts...>& a, const std::variant<Ts...>& b) {
  return a.index() == b.index() &&
         std::visit(
             [&](const auto& x) {
               return Same(x, std::get<std::decay_t<decltype(x)>>(b));
             },
             a);
}

}  // namespace hyperopt::testing
