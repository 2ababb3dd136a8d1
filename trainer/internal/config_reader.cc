#include "trainer/internal/config_reader.h"

#include <fmt/format.h>

#include <cmath>

#include "trial/text.h"

namespace hyperopt {
namespace {

const ConfigReader::Json& EmptySection() {
  static const ConfigReader::Json empty = ConfigReader::Json::object();
  return empty;
}

const ConfigReader::Json& ObjectOr(const ConfigReader::Json* section) {
  return section != nullptr && section->is_object() ? *section : EmptySection();
}

std::string Shown(const ConfigReader::Json& value) {
  std::string text =
      value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

std::string DidYouMean(std::string_view name, std::span<const std::string> known) {
  const auto nearest = NearestName(name, known);
  return nearest ? fmt::format("; did you mean {}?", *nearest) : "";
}

}  // namespace

std::string JoinChoices(std::span<const char* const> options) {
  std::string text;
  for (size_t i = 0; i < options.size(); ++i) {
    if (i > 0) text += i + 1 == options.size() ? " or " : ", ";
    text += options[i];
  }
  return text;
}

ConfigReader::ConfigReader(const Json* section, std::string path, ReadLog& log)
    : section_(ObjectOr(section)), path_(std::move(path)), log_(log) {
  if (section != nullptr && !section->is_object() && !section->is_null()) {
    log_.errors.push_back(
        {path_, fmt::format("must be a map, not {}", Shown(*section))});
  }
}

std::string ConfigReader::PathOf(std::string_view key) const {
  if (path_.empty()) return std::string(key);
  return key.empty() ? path_ : fmt::format("{}.{}", path_, key);
}

void ConfigReader::Fail(std::string_view key, std::string message) {
  log_.errors.push_back({PathOf(key), std::move(message)});
}

void ConfigReader::FailType(const char* key,
                            std::string_view wanted,
                            const Json& value) {
  Fail(key, fmt::format("must be {}, not {}", wanted, Shown(value)));
}

bool ConfigReader::Has(const char* key) const {
  const auto found = section_.find(key);
  return found != section_.end() && !found->is_null();
}

bool ConfigReader::IsNull(const char* key) const {
  const auto found = section_.find(key);
  return found != section_.end() && found->is_null();
}

const ConfigReader::Json* ConfigReader::Take(const char* key) {
  known_.emplace_back(key);
  log_.keys.insert(PathOf(key));
  const auto found = section_.find(key);
  return found == section_.end() || found->is_null() ? nullptr : &*found;
}

int64_t ConfigReader::Int(const char* key,
                          int64_t fallback,
                          int64_t lower,
                          int64_t upper) {
  const Json* value = Take(key);
  if (value == nullptr) return fallback;
  const std::string wanted =
      upper == INT64_MAX ? fmt::format("an integer of at least {}", lower)
                         : fmt::format("an integer from {} to {}", lower, upper);
  // A sampled integer may arrive as 64.0.
  const bool whole = value->is_number_integer() ||
                     (value->is_number_float() &&
                      std::trunc(value->get<double>()) == value->get<double>());
  const double wide = whole ? value->get<double>() : 0;
  if (!whole || wide < static_cast<double>(lower) ||
      wide > static_cast<double>(upper)) {
    FailType(key, wanted, *value);
    return fallback;
  }
  return value->get<int64_t>();
}

double ConfigReader::Number(const char* key,
                            double fallback,
                            double lower,
                            double upper) {
  const Json* value = Take(key);
  if (value == nullptr) return fallback;
  const double number = value->is_number() ? value->get<double>() : NAN;
  if (!(number >= lower && number <= upper)) {
    const std::string wanted =
        std::isinf(upper) ? fmt::format("a number of at least {}", lower)
                          : fmt::format("a number from {} to {}", lower, upper);
    FailType(key, wanted, *value);
    return fallback;
  }
  return number;
}

bool ConfigReader::Bool(const char* key, bool fallback) {
  const Json* value = Take(key);
  if (value == nullptr) return fallback;
  if (!value->is_boolean()) {
    FailType(key, "true or false", *value);
    return fallback;
  }
  return value->get<bool>();
}

std::string ConfigReader::String(const char* key, const std::string& fallback) {
  const Json* value = Take(key);
  if (value == nullptr) return fallback;
  if (!value->is_string() || value->get_ref<const std::string&>().empty()) {
    FailType(key, "a text", *value);
    return fallback;
  }
  return value->get<std::string>();
}

std::string ConfigReader::Choice(const char* key,
                                 const std::string& fallback,
                                 std::span<const char* const> options) {
  const Json* value = Take(key);
  if (value == nullptr) return fallback;
  const std::string text = value->is_string() ? value->get<std::string>() : "";
  for (const char* option : options) {
    if (text == option) return text;
  }
  const std::vector<std::string> names(options.begin(), options.end());
  Fail(key,
       fmt::format("must be {}, not {}{}",
                   JoinChoices(options),
                   Shown(*value),
                   DidYouMean(text, names)));
  return fallback;
}

std::string ConfigReader::Scalar(const char* key, const std::string& fallback) {
  const Json* value = Take(key);
  if (value == nullptr) return fallback;
  if (value->is_string()) return value->get<std::string>();
  if (value->is_number() || value->is_boolean()) return value->dump();
  FailType(key, "a number, a text or a boolean", *value);
  return fallback;
}

void ConfigReader::Ignore(std::span<const char* const> keys) {
  settled_.insert(keys.begin(), keys.end());
}

void ConfigReader::Renamed(const char* key, std::string_view now) {
  if (!section_.contains(key)) return;
  settled_.insert(key);
  Fail(key, fmt::format("spelling of Ludwig 0.4 and before; write {}", now));
}

void ConfigReader::Unsupported(std::span<const char* const> keys) {
  for (const char* key : keys) {
    if (!settled_.insert(key).second || !Has(key)) continue;
    Fail(key, "Ludwig has this key, the built-in trainer does not support it");
  }
}

void ConfigReader::Finish() {
  for (const auto& [key, value] : section_.items()) {
    if (settled_.contains(key)) continue;
    bool known = false;
    for (const std::string& name : known_) known = known || name == key;
    if (!known) Fail(key, "unknown key" + DidYouMean(key, known_));
  }
}

}  // namespace hyperopt
