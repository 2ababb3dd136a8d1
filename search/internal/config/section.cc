#include "search/internal/config/section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/internal/config/known_keys.h"
#include "trial/resources.h"
#include "trial/text.h"

namespace hyperopt::internal {
namespace {

const Value& EmptyMap() {
  static const Value empty = [] {
    Value value;
    value.kind = Value::Kind::kMap;
    return value;
  }();
  return empty;
}

}  // namespace

std::optional<int64_t> AsInt(const Value& value) {
  if (value.kind == Value::Kind::kInt) return value.integer;
  constexpr double kExact = 0x1p53;
  const double number = value.number;
  if (value.kind != Value::Kind::kFloat || !(std::abs(number) <= kExact) ||
      number != std::floor(number)) {
    return std::nullopt;
  }
  return static_cast<int64_t>(number);
}

std::optional<double> AsNumber(const Value& value) {
  if (!value.is_number() || !std::isfinite(value.number)) return std::nullopt;
  return value.number;
}

Section::Section(const Value* value, std::string path, Problems& problems)
    : value_(value), path_(std::move(path)), problems_(problems) {
  if (value_ != nullptr && value_->is_map()) return;
  if (value_ != nullptr && !value_->is_null() && !value_->is_broken()) {
    problems_.Add(value_->place,
                  path_,
                  fmt::format("must be a map of keys, not {}", Describe(*value_)));
    usable_ = false;
  }
  value_ = &EmptyMap();
}

std::string Section::PathOf(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

const Value* Section::Take(std::string_view key) {
  Ignore(key);
  const Value* found = value_->Find(key);
  if (found == nullptr || found->is_null() || found->is_broken()) return nullptr;
  return found;
}

bool Section::Has(std::string_view key) {
  Ignore(key);
  const Value* found = value_->Find(key);
  return found != nullptr && !found->is_null();
}

void Section::Refuse(std::string_view key, std::string_view text) {
  Ignore(key);
  const Entry* entry = value_->FindEntry(key);
  if (entry != nullptr) problems_.Add(entry->place, PathOf(key), text);
}

void Section::Fail(std::string_view key, std::string_view text) {
  const Value* found = value_->Find(key);
  problems_.Add(found == nullptr ? place() : found->place, PathOf(key), text);
}

std::optional<bool> Section::Bool(std::string_view key) {
  const Value* found = Take(key);
  if (found == nullptr) return std::nullopt;
  if (found->kind == Value::Kind::kBool) return found->boolean;
  Fail(key, fmt::format("must be true or false, not {}", Describe(*found)));
  return std::nullopt;
}

std::optional<int64_t> Section::Int(std::string_view key,
                                    int64_t lower,
                                    int64_t upper) {
  const Value* found = Take(key);
  if (found == nullptr) return std::nullopt;
  const auto number = AsInt(*found);
  if (number && *number >= lower && *number <= upper) return number;
  const std::string range =
      upper >= int64_t{1} << 53
          ? (lower <= -(int64_t{1} << 53) ? "" : fmt::format(" of at least {}", lower))
          : fmt::format(" from {} to {}", lower, upper);
  Fail(key, fmt::format("must be a whole number{}, not {}", range, Describe(*found)));
  return std::nullopt;
}

std::optional<double> Section::Number(std::string_view key,
                                      double lower,
                                      double upper) {
  const Value* found = Take(key);
  if (found == nullptr) return std::nullopt;
  const auto number = AsNumber(*found);
  if (number && *number >= lower && *number <= upper) return number;
  const bool open = upper >= std::numeric_limits<double>::max();
  std::string range;
  if (lower > -std::numeric_limits<double>::max()) {
    range = open ? fmt::format(" of at least {}", lower)
                 : fmt::format(" from {} to {}", lower, upper);
  }
  Fail(key, fmt::format("must be a finite number{}, not {}", range, Describe(*found)));
  return std::nullopt;
}

std::optional<double> Section::Seconds(std::string_view key) {
  const Value* found = Take(key);
  if (found == nullptr) return std::nullopt;
  const auto number = AsNumber(*found);
  // Beyond, times in nanoseconds leave int64.
  constexpr double kLongest = 1e9;
  if (number && *number > 0 && *number <= kLongest) return number;
  Fail(key,
       fmt::format("must be a number of seconds above 0 and at most 1e9, not {}",
                   Describe(*found)));
  return std::nullopt;
}

std::optional<std::string> Section::Text(std::string_view key) {
  const Value* found = Take(key);
  if (found == nullptr) return std::nullopt;
  if (found->is_string() && !found->text.empty()) return found->text;
  Fail(key,
       found->is_string() ? "is empty"
                          : fmt::format("must be a text, not {}", Describe(*found)));
  return std::nullopt;
}

std::optional<int64_t> Section::Size(std::string_view key, int64_t lower) {
  const Value* found = Take(key);
  if (found == nullptr) return std::nullopt;
  std::optional<int64_t> size;
  if (found->is_string() || found->is_number()) size = ParseSize(found->text);
  if (size && *size >= lower) return size;
  Fail(
      key,
      fmt::format("must be an amount of at least {} such as 8GiB, 512MB or a number of "
                  "bytes, not {}",
                  SizeToText(lower),
                  Describe(*found)));
  return std::nullopt;
}

std::optional<std::string> Section::Choice(std::string_view key,
                                           const std::vector<std::string>& options) {
  const Value* found = Take(key);
  if (found == nullptr) return std::nullopt;
  if (found->is_string() && std::ranges::find(options, found->text) != options.end()) {
    return found->text;
  }
  std::string text = fmt::format(
      "must be one of {}, not {}", fmt::join(options, ", "), Describe(*found));
  if (const auto near = NearestName(found->text, options); found->is_string() && near) {
    text += fmt::format("; did you mean {}?", *near);
  }
  Fail(key, text);
  return std::nullopt;
}

void Section::Finish() {
  if (!usable_) return;
  for (const Entry& entry : value_->entries) {
    if (std::ranges::find(known_, entry.key) != known_.end()) continue;
    problems_.Add(
        entry.place, PathOf(entry.key), TextOfUnknownKey(entry.key, path_, known_));
  }
}

}  // namespace hyperopt::internal
