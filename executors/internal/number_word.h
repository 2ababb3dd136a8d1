// Numbers as programs print them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hyperopt::internal {

// nan, inf, infinity in any case, with a sign: as C, Python and JavaScript write them.
std::optional<double> NonFinite(std::string_view word);

// A finite number in decimal digits (also .5, +1, 1e-3; 1e999 is infinite), and nothing
// behind it.
std::optional<double> Number(std::string_view word);

// Either of both.
std::optional<double> NumberOrNonFinite(std::string_view word);

// `word` exactly, or `value`, which it means, where that is a whole number.
std::optional<int64_t> Integer(std::string_view word, double value);
// The same without the word.
std::optional<int64_t> Integer(double value);

}  // namespace hyperopt::internal
