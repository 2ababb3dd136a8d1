// What is known about keys beyond the section that reads them: where a misplaced one
// belongs, what a later version will read, and how Ludwig called it before.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hyperopt::internal {

// The words for a key that `section` does not have: that a later version has it, where
// it belongs, or what is near among `known`.
std::string TextOfUnknownKey(std::string_view key,
                             std::string_view section,
                             std::span<const std::string> known);

// Keys of a search file that a later version reads; refused wherever they stand.
bool IsOfLaterVersion(std::string_view key);
inline constexpr std::string_view kLaterVersion = "not available in this version";

// Where a key of `hyperopt` or below belongs: "hyperopt.executor" for num_samples.
std::optional<std::string_view> SectionOf(std::string_view key);

// The section of a Ludwig model config that has a key of this name: "trainer" for
// learning_rate.
std::optional<std::string_view> ModelSectionOf(std::string_view key);

}  // namespace hyperopt::internal
