#include "trial/internal/expression.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <limits>

namespace hyperopt::internal {
namespace {

using Value = std::optional<ParamValue>;

struct Function {
  const char* name;
  double (*apply)(double);
};
constexpr Function kFunctions[] = {
    {"log", [](double x) { return std::log(x); }},
    {"log2", [](double x) { return std::log2(x); }},
    {"log10", [](double x) { return std::log10(x); }},
    {"exp", [](double x) { return std::exp(x); }},
    {"sqrt", [](double x) { return std::sqrt(x); }},
    {"floor", [](double x) { return std::floor(x); }},
    {"ceil", [](double x) { return std::ceil(x); }},
    {"round", [](double x) { return std::nearbyint(x); }},
};

std::optional<double> NumberOf(const Value& value) {
  if (!value) return std::nullopt;
  if (const auto* x = std::get_if<int64_t>(&*value)) return static_cast<double>(*x);
  if (const auto* x = std::get_if<double>(&*value)) return *x;
  return std::nullopt;
}

const int64_t* IntegerOf(const Value& value) {
  return value ? std::get_if<int64_t>(&*value) : nullptr;
}

std::optional<bool> TruthOf(const Value& value) {
  const auto* truth = value ? std::get_if<bool>(&*value) : nullptr;
  return truth == nullptr ? std::nullopt : std::optional(*truth);
}

Value FromTruth(std::optional<bool> truth) {
  return truth ? Value(ParamValue(*truth)) : std::nullopt;
}

// Towards minus infinity, as Python's.
Value FloorDivide(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  const bool down = a % b != 0 && (a < 0) != (b < 0);
  return ParamValue(down ? quotient - 1 : quotient);
}

Value Modulo(int64_t a, int64_t b) {
  const int64_t rest = a % b;
  return ParamValue(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
}

// nullopt where the result is no int64.
Value OfIntegers(Operation operation, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (operation) {
    case Operation::kAdd:
      if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
      return ParamValue(result);
    case Operation::kSubtract:
      if (__builtin_sub_overflow(a, b, &result)) return std::nullopt;
      return ParamValue(result);
    case Operation::kMultiply:
      if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
      return ParamValue(result);
    case Operation::kFloorDivide:
    case Operation::kModulo:
      if (b == 0 || (a == std::numeric_limits<int64_t>::min() && b == -1)) break;
      return operation == Operation::kModulo ? Modulo(a, b) : FloorDivide(a, b);
    case Operation::kPower:
      if (b < 0) break;
      result = 1;
      for (int64_t i = 0; i < b; ++i) {
        if (result == 0 || (result == 1 && a == 1)) break;
        if (__builtin_mul_overflow(result, a, &result)) return std::nullopt;
        if (i > 64 && a == -1) return ParamValue(b % 2 == 0 ? int64_t{1} : int64_t{-1});
      }
      return ParamValue(result);
    default:
      break;
  }
  return std::nullopt;
}

Value Arithmetic(Operation operation, const Value& left, const Value& right) {
  const int64_t* i = IntegerOf(left);
  const int64_t* k = IntegerOf(right);
  if (i != nullptr && k != nullptr && operation != Operation::kDivide) {
    if (Value exact = OfIntegers(operation, *i, *k)) return exact;
  }
  const auto a = NumberOf(left), b = NumberOf(right);
  if (!a || !b) return std::nullopt;
  switch (operation) {
    case Operation::kAdd:
      return *a + *b;
    case Operation::kSubtract:
      return *a - *b;
    case Operation::kMultiply:
      return *a * *b;
    case Operation::kDivide:
      return *a / *b;
    case Operation::kFloorDivide:
      return std::floor(*a / *b);
    case Operation::kModulo:
      return *a - *b * std::floor(*a / *b);
    case Operation::kPower:
      return std::pow(*a, *b);
    default:
      return std::nullopt;
  }
}

// Two integers exactly, other numbers as doubles, texts as texts.
std::optional<std::partial_ordering> Order(const Value& left, const Value& right) {
  const int64_t* i = IntegerOf(left);
  const int64_t* k = IntegerOf(right);
  if (i != nullptr && k != nullptr) return *i <=> *k;
  const auto a = NumberOf(left), b = NumberOf(right);
  if (a && b) return *a <=> *b;
  if (!left || !right) return std::nullopt;
  const auto* x = std::get_if<std::string>(&*left);
  const auto* y = std::get_if<std::string>(&*right);
  if (x != nullptr && y != nullptr) return *x <=> *y;
  return std::nullopt;
}

std::optional<bool> Equal(const Value& left, const Value& right) {
  if (!left || !right) return std::nullopt;
  if (const auto order = Order(left, right)) return *order == 0;
  return *left == *right;
}

std::optional<bool> Compare(Operation operation,
                            const Value& left,
                            const Value& right) {
  if (operation == Operation::kEqual) return Equal(left, right);
  if (operation == Operation::kNotEqual) {
    const auto equal = Equal(left, right);
    return equal ? std::optional(!*equal) : std::nullopt;
  }
  const auto order = Order(left, right);
  if (!order) return std::nullopt;
  switch (operation) {
    case Operation::kLess:
      return *order < 0;
    case Operation::kLessEqual:
      return *order <= 0;
    case Operation::kGreater:
      return *order > 0;
    default:
      return *order >= 0;
  }
}

Value Call(const std::string& name, const std::vector<Value>& arguments) {
  if (name == "min" || name == "max") {
    Value best = arguments.front();
    for (const Value& argument : arguments) {
      const auto order = Order(argument, best);
      if (!order || !NumberOf(argument)) return std::nullopt;
      if (name == "min" ? *order < 0 : *order > 0) best = argument;
    }
    return best;
  }
  if (name == "abs") {
    if (const int64_t* x = IntegerOf(arguments[0])) {
      if (*x >= 0) return *x;
      return OfIntegers(Operation::kSubtract, 0, *x);
    }
  }
  const auto x = NumberOf(arguments[0]);
  if (!x) return std::nullopt;
  if (name == "abs") return std::abs(*x);
  const auto* function = std::ranges::find(
      kFunctions, name, [](const Function& each) { return std::string(each.name); });
  if (function == std::end(kFunctions)) return std::nullopt;
  return function->apply(*x);
}

// Where one side decides, the other may have no value.
Value Logic(const Expression& expression, const Params& params) {
  const bool decides = expression.operation == Operation::kOr;
  bool known = true;
  for (const Expression& argument : expression.arguments) {
    const auto truth = TruthOf(Evaluate(argument, params));
    if (truth == decides) return decides;
    known = known && truth.has_value();
  }
  return known ? Value(ParamValue(!decides)) : std::nullopt;
}

}  // namespace

Arity ArityOf(const std::string& function) {
  if (function == "min" || function == "max") return {1, 64};
  const bool known =
      function == "abs" || std::ranges::any_of(kFunctions, [&](const Function& each) {
        return function == each.name;
      });
  return known ? Arity{1, 1} : Arity{};
}

bool MayBeCondition(const Expression& expression) {
  switch (expression.operation) {
    case Operation::kLiteral:
      return std::holds_alternative<bool>(expression.value);
    case Operation::kName:
      return true;
    default:
      return expression.operation < Operation::kAdd;
  }
}

Value Evaluate(const Expression& expression, const Params& params) {
  const Operation operation = expression.operation;
  if (operation == Operation::kLiteral) return expression.value;
  if (operation == Operation::kName) {
    const auto found = params.find(expression.name);
    return found == params.end() ? std::nullopt : Value(found->second);
  }
  if (operation == Operation::kOr || operation == Operation::kAnd) {
    return Logic(expression, params);
  }
  std::vector<Value> values;
  for (const Expression& argument : expression.arguments) {
    values.push_back(Evaluate(argument, params));
  }
  switch (operation) {
    case Operation::kNot: {
      const auto truth = TruthOf(values[0]);
      return truth ? Value(ParamValue(!*truth)) : std::nullopt;
    }
    case Operation::kNegate:
      return Arithmetic(Operation::kSubtract, ParamValue(int64_t{0}), values[0]);
    case Operation::kIn:
      return FromTruth(
          std::any_of(values.begin() + 1, values.end(), [&](const Value& value) {
            return Equal(values[0], value) == true;
          }));
    case Operation::kCall:
      return Call(expression.name, values);
    default:
      return operation < Operation::kAdd
                 ? FromTruth(Compare(operation, values[0], values[1]))
                 : Arithmetic(operation, values[0], values[1]);
  }
}

}  // namespace hyperopt::internal
