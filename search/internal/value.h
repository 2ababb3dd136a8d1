// What a YAML text says, as a tree of values that know where they were written.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trial/param_value.h"

namespace hyperopt::internal {

// Where something was written. Line and column count from 1; 0: the text as a whole.
struct Place {
  int source = 0;  // a number that Problems gave out: the file, or an override
  int line = 0;
  int column = 0;
};

struct Entry;

struct Value {
  // kBroken: its fault has been told; whoever meets it is silent and goes on.
  enum class Kind { kNull, kBool, kInt, kFloat, kString, kList, kMap, kBroken };

  Kind kind = Kind::kNull;
  bool boolean = false;
  int64_t integer = 0;
  double number = 0;           // of kInt as well, rounded
  std::string text;            // a scalar's text as written, without quotes
  std::vector<Value> items;    // of a list
  std::vector<Entry> entries;  // of a map, in the order written, keys unique
  Place place;

  bool is_null() const { return kind == Kind::kNull; }
  bool is_map() const { return kind == Kind::kMap; }
  bool is_list() const { return kind == Kind::kList; }
  bool is_string() const { return kind == Kind::kString; }
  bool is_broken() const { return kind == Kind::kBroken; }
  bool is_number() const { return kind == Kind::kInt || kind == Kind::kFloat; }
  bool is_scalar() const { return !is_map() && !is_list() && !is_broken(); }
  // nullptr where it is no map or has no such key.
  const Entry* FindEntry(std::string_view key) const;
  const Value* Find(std::string_view key) const;
};

struct Entry {
  std::string key;
  Place place;
  Value value;
};

// For messages: `3`, `the string "x"`, `a list`, `nothing`.
std::string Describe(const Value& value);

// NaN and infinities stay numbers in the JSON; a broken value is null.
nlohmann::ordered_json ToJson(const Value& value);
// Maps and lists become Structured. nullopt where there is a NaN or an infinity in it,
// which no JSON can hold, or something broken.
std::optional<ParamValue> ToParamValue(const Value& value);
bool HasNonFinite(const Value& value);

}  // namespace hyperopt::internal
