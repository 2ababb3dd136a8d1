// Reads one map of a search file: hands out the keys it is asked for, with their types
// and ranges checked, and at last names whatever else is there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "search/internal/config/problems.h"
#include "search/internal/value.h"

namespace hyperopt::internal {

class Section {
 public:
  // `value` absent or null reads as an empty map; anything else but a map is told.
  // `value` and `problems` must outlive the section.
  Section(const Value* value, std::string path, Problems& problems);

  // A key that is absent, null or broken is nullopt, and so is one whose value is
  // wrong, which is told. Ranges are closed. Seconds are finite and above 0.
  std::optional<bool> Bool(std::string_view key);
  std::optional<int64_t> Int(std::string_view key, int64_t lower, int64_t upper);
  std::optional<double> Number(std::string_view key, double lower, double upper);
  std::optional<double> Seconds(std::string_view key);
  std::optional<std::string> Text(std::string_view key);
  // An amount of memory: bytes, or a text like 8GiB; at least `lower`.
  std::optional<int64_t> Size(std::string_view key, int64_t lower);
  // A text out of `options`.
  std::optional<std::string> Choice(std::string_view key,
                                    const std::vector<std::string>& options);
  // Any value but null; nullptr for one that is absent, null or broken.
  const Value* Take(std::string_view key);
  // There, and not null (though it may be wrong).
  bool Has(std::string_view key);
  // A known key, whatever it holds.
  void Ignore(std::string_view key) { known_.emplace_back(key); }
  // Tells `text` where the key is there, and settles it.
  void Refuse(std::string_view key, std::string_view text);

  // Tells `text` at the key's place, or at the section's where it is absent.
  void Fail(std::string_view key, std::string_view text);
  // Tells of every key that nobody asked for, with where it belongs or what is near.
  void Finish();

  std::string PathOf(std::string_view key) const;
  const Place& place() const { return value_->place; }
  const Value& value() const { return *value_; }
  Problems& problems() { return problems_; }

 private:
  const Value* value_;
  std::string path_;
  Problems& problems_;
  std::vector<std::string> known_;
  bool usable_ = true;
};

// The same checks for a value that stands in no section.
std::optional<int64_t> AsInt(const Value& value);    // 3, 3.0
std::optional<double> AsNumber(const Value& value);  // finite

}  // namespace hyperopt::internal
