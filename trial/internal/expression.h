// The tree of a constraint, its parser and its value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trial/param_value.h"

namespace hyperopt::internal {

enum class Operation {
  kLiteral,  // value
  kName,     // name
  kOr,
  kAnd,
  kNot,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIn,  // the first of arguments is one of the others
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kFloorDivide,
  kModulo,
  kPower,
  kNegate,
  kCall,  // of the function `name`
};

struct Expression {
  Operation operation = Operation::kLiteral;
  std::vector<Expression> arguments;
  ParamValue value;
  std::string name;
};

// Throws ConfigError with the place in the text.
Expression ParseExpression(const std::string& text);

// Whether its value can be true or false at all.
bool MayBeCondition(const Expression& expression);

// nullopt where it has no value: operands of types that do not go together, a name that
// is not in `params`.
std::optional<ParamValue> Evaluate(const Expression& expression, const Params& params);

// Of the functions that may be called: how many arguments the named one takes; {0, 0}
// where there is none.
struct Arity {
  int least = 0;
  int most = 0;
};
Arity ArityOf(const std::string& function);

}  // namespace hyperopt::internal
