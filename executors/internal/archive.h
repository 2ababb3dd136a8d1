// Structs as MessagePack: a struct is an array of its members in the order that
// Members() lists them, once, for both directions. A message is an array of its
// alternative's index and the struct.
//
//   constexpr auto Members(const Point*) { return std::tuple(&Point::x, &Point::y); }
#pragma once

#include <concepts>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "executors/internal/msgpack.h"
#include "trial/ids.h"
#include "trial/param_value.h"
#include "trial/resources.h"

namespace hyperopt::internal {

// Containers of a message hold at most so many elements: an element takes a byte on the
// wire and perhaps a hundred in memory.
inline constexpr size_t kMostElements = 1 << 20;

// The highest enumerator of an enum that travels, from LastOf(Enum).
template <typename T>
concept Enum = std::is_enum_v<T>;

template <typename T>
concept Record = requires(const T* t) {
  Members(t);
};

template <std::integral T>
void Write(PackWriter& out, T value) {
  if constexpr (std::same_as<T, bool>) {
    out.Bool(value);
  } else if constexpr (std::is_signed_v<T>) {
    out.Int(value);
  } else {
    out.Uint(value);
  }
}
inline void Write(PackWriter& out, double value) { out.Double(value); }
inline void Write(PackWriter& out, const std::string& text) { out.String(text); }
inline void Write(PackWriter& out, Share share) { out.Int(share.micro()); }
template <Enum T>
void Write(PackWriter& out, T value) {
  out.Int(static_cast<int64_t>(value));
}
template <typename Tag, typename Rep>
void Write(PackWriter& out, Id<Tag, Rep> id) {
  out.Int(id.value());
}
void Write(PackWriter& out, const ParamValue& value);
template <typename T>
void Write(PackWriter& out, const std::optional<T>& value);
template <typename T>
void Write(PackWriter& out, const std::vector<T>& items);
template <typename K, typename V>
void Write(PackWriter& out, const std::map<K, V>& map);
template <typename A, typename B>
void Write(PackWriter& out, const std::pair<A, B>& pair);

template <Record T>
void Write(PackWriter& out, const T& record) {
  std::apply(
      [&](auto... member) {
        out.Array(sizeof...(member));
        (Write(out, record.*member), ...);
      },
      Members(&record));
}
template <typename T>
void Write(PackWriter& out, const std::optional<T>& value) {
  if (value) {
    Write(out, *value);
  } else {
    out.Nil();
  }
}
template <typename T>
void Write(PackWriter& out, const std::vector<T>& items) {
  out.Array(items.size());
  for (const T& item : items) Write(out, item);
}
template <typename K, typename V>
void Write(PackWriter& out, const std::map<K, V>& map) {
  out.Map(map.size());
  for (const auto& [key, value] : map) {
    Write(out, key);
    Write(out, value);
  }
}
template <typename A, typename B>
void Write(PackWriter& out, const std::pair<A, B>& pair) {
  out.Array(2);
  Write(out, pair.first);
  Write(out, pair.second);
}

// Each Read returns false where the bytes are no such value.

template <std::integral T>
bool Read(PackReader& in, T& value) {
  if constexpr (std::same_as<T, bool>) {
    return in.Bool(value);
  } else if constexpr (std::same_as<T, uint64_t>) {
    return in.Uint(value);
  } else {
    int64_t wide = 0;
    if (!in.Int(wide) || !std::in_range<T>(wide)) return false;
    value = static_cast<T>(wide);
    return true;
  }
}
inline bool Read(PackReader& in, double& value) { return in.Double(value); }
inline bool Read(PackReader& in, std::string& text) { return in.String(text); }
inline bool Read(PackReader& in, Share& share) {
  int64_t micro = 0;
  if (!in.Int(micro)) return false;
  share = Share::Micro(micro);
  return true;
}
template <Enum T>
bool Read(PackReader& in, T& value) {
  int64_t number = 0;
  if (!in.Int(number) || number < 0 || number > static_cast<int64_t>(LastOf(T{}))) {
    return false;
  }
  value = static_cast<T>(number);
  return true;
}
template <typename Tag, typename Rep>
bool Read(PackReader& in, Id<Tag, Rep>& id) {
  Rep value = 0;
  if (!Read(in, value)) return false;
  id = Id<Tag, Rep>(value);
  return true;
}
bool Read(PackReader& in, ParamValue& value);
template <typename T>
bool Read(PackReader& in, std::optional<T>& value);
template <typename T>
bool Read(PackReader& in, std::vector<T>& items);
template <typename K, typename V>
bool Read(PackReader& in, std::map<K, V>& map);
template <typename A, typename B>
bool Read(PackReader& in, std::pair<A, B>& pair);

template <Record T>
bool Read(PackReader& in, T& record) {
  return std::apply(
      [&](auto... member) {
        size_t size = 0;
        return in.Array(size) && size == sizeof...(member) &&
               (Read(in, record.*member) && ...);
      },
      Members(&record));
}
template <typename T>
bool Read(PackReader& in, std::optional<T>& value) {
  value.reset();
  return in.TakeNil() || Read(in, value.emplace());
}
template <typename T>
bool Read(PackReader& in, std::vector<T>& items) {
  size_t size = 0;
  if (!in.Array(size) || size > kMostElements) return false;
  items.clear();
  for (size_t i = 0; i < size; ++i) {
    if (!Read(in, items.emplace_back())) return false;
  }
  return true;
}
template <typename K, typename V>
bool Read(PackReader& in, std::map<K, V>& map) {
  size_t size = 0;
  if (!in.Map(size) || size > kMostElements) return false;
  map.clear();
  for (size_t i = 0; i < size; ++i) {
    K key{};
    V value{};
    if (!Read(in, key) || !Read(in, value)) return false;
    map.insert_or_assign(map.end(), std::move(key), std::move(value));
  }
  return true;
}
template <typename A, typename B>
bool Read(PackReader& in, std::pair<A, B>& pair) {
  size_t size = 0;
  return in.Array(size) && size == 2 && Read(in, pair.first) && Read(in, pair.second);
}

// A variant of records as [index, record].
template <typename... Ts>
std::string Pack(const std::variant<Ts...>& message) {
  PackWriter out;
  out.Array(2);
  out.Uint(message.index());
  std::visit([&](const auto& record) { Write(out, record); }, message);
  return out.Take();
}

template <typename Message, size_t I = 0>
bool ReadAlternative(PackReader& in, uint64_t index, Message& message) {
  if constexpr (I == std::variant_size_v<Message>) {
    return false;
  } else {
    if (index == I) return Read(in, message.template emplace<I>());
    return ReadAlternative<Message, I + 1>(in, index, message);
  }
}

// nullopt where `bytes` are no such message, or more than one.
template <typename Message>
std::optional<Message> Unpack(std::string_view bytes) {
  PackReader in(bytes);
  size_t size = 0;
  uint64_t index = 0;
  std::optional<Message> message(std::in_place);
  const bool is_message = in.Array(size) && size == 2 && in.Uint(index) &&
                          ReadAlternative(in, index, *message) && in.at_end();
  if (!is_message) message.reset();
  return message;
}

}  // namespace hyperopt::internal
