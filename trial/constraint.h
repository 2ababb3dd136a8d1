// A relation between parameters that every trial must satisfy, as a search file writes
// it: "layers * width <= 4096".
//
//   or, and, not            in rising order of how tightly they bind, all as in Python
//   == != < <= > >=         also in a row: 1 < a < b; `in [..]` and `not in [..]`
//   + -, * / // %, -x, **   integers stay exact, but for / and where they overflow
//   min max abs log log2 log10 exp sqrt floor ceil round
//   numbers, 'text', "text", true, false, null, (..), names; a name with other
//   characters than letters, digits, _ and . is written ${name}
//
// 1 == 1.0 as numbers; a number is never equal to a text, and neither less nor greater.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trial/param_value.h"

namespace hyperopt {

namespace internal {
struct Expression;
}

// A value: copies share what was parsed, which never changes.
class Constraint {
 public:
  // Throws ConfigError, with the place in the text and the way out, on what is no
  // expression, or no condition (a sum).
  explicit Constraint(const std::string& text);

  const std::string& text() const { return text_; }
  // Of the parameters, each once, in order.
  std::span<const std::string> names() const { return names_; }
  // Whether it holds. One that names a parameter which is not in `params` (it does not
  // take part) says nothing, and holds. What can not be told (a text is less than a
  // number, 0 / 0) does not hold.
  bool Holds(const Params& params) const;

  bool operator==(const Constraint& other) const { return text_ == other.text_; }

 private:
  std::string text_;
  std::shared_ptr<const internal::Expression> root_;
  std::vector<std::string> names_;
};

}  // namespace hyperopt
