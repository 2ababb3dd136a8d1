// Reads one section of a config: takes the keys it is asked for, remembers them, and
// names whatever else is there.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/schema.h"

namespace hyperopt {

// What the readers of one config found.
struct ReadLog {
  std::vector<SchemaError> errors;
  std::set<std::string> keys;  // dotted paths of all keys asked for
};

class ConfigReader {
 public:
  using Json = nlohmann::ordered_json;

  // `section` null or absent reads as an empty one; anything but an object is an error.
  // `section` and `log` must outlive the reader.
  ConfigReader(const Json* section, std::string path, ReadLog& log);

  // The value of a key, or `fallback` where it is absent, null or wrong (an error is
  // then logged). Ranges are closed.
  int64_t Int(const char* key, int64_t fallback, int64_t lower, int64_t upper);
  double Number(const char* key, double fallback, double lower, double upper);
  bool Bool(const char* key, bool fallback);
  std::string String(const char* key, const std::string& fallback);
  // A string out of `options`.
  std::string Choice(const char* key,
                     const std::string& fallback,
                     std::span<const char* const> options);
  // A number, string or boolean as its text.
  std::string Scalar(const char* key, const std::string& fallback);
  // Any value; nullptr where it is absent or null.
  const Json* Take(const char* key);
  bool Has(const char* key) const;
  // There, and null.
  bool IsNull(const char* key) const;

  // The key is another program's: no error, no look.
  void Ignore(std::span<const char* const> keys);
  // The key had another name or place once; an error that shows the new one.
  void Renamed(const char* key, std::string_view now);
  // Ludwig knows the key and this trainer does not have it yet.
  void Unsupported(std::span<const char* const> keys);
  // Names the keys that nobody asked for. Called last.
  void Finish();

  void Fail(std::string_view key, std::string message);
  std::string PathOf(std::string_view key) const;
  ReadLog& log() { return log_; }

 private:
  void FailType(const char* key, std::string_view wanted, const Json& value);

  const Json& section_;
  std::string path_;
  ReadLog& log_;
  std::vector<std::string> known_;
  std::set<std::string> settled_;  // neither known nor to be named by Finish
};

// "a, b or c".
std::string JoinChoices(std::span<const char* const> options);

}  // namespace hyperopt
