#include "trial/constraint.h"

#include <algorithm>

#include "trial/errors.h"
#include "trial/internal/expression.h"

namespace hyperopt {
namespace {

using internal::Expression;
using internal::Operation;

void CollectNames(const Expression& expression, std::vector<std::string>* names) {
  if (expression.operation == Operation::kName) names->push_back(expression.name);
  for (const Expression& argument : expression.arguments) {
    CollectNames(argument, names);
  }
}

}  // namespace

Constraint::Constraint(const std::string& text)
    : text_(text),
      root_(std::make_shared<const Expression>(internal::ParseExpression(text))) {
  if (!internal::MayBeCondition(*root_)) {
    constexpr size_t kShort = 60;
    throw ConfigError("it is a value and no condition: compare it, as in " +
                      (text.size() > kShort ? "(...)" : text) + " <= 100");
  }
  CollectNames(*root_, &names_);
  std::ranges::sort(names_);
  names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
  if (names_.empty()) {
    throw ConfigError("it names no parameter, so it says the same of every trial");
  }
}

bool Constraint::Holds(const Params& params) const {
  for (const std::string& name : names_) {
    if (!params.contains(name)) return true;
  }
  const auto value = internal::Evaluate(*root_, params);
  const bool* holds = value ? std::get_if<bool>(&*value) : nullptr;
  return holds != nullptr && *holds;
}

}  // namespace hyperopt
