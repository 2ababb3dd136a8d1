#include <fmt/format.h>

#include <array>
#include <charconv>
#include <span>
#include <utility>

#include "trial/errors.h"
#include "trial/internal/expression.h"

namespace hyperopt::internal {
namespace {

constexpr int kMostNested = 64;
constexpr size_t kLongest = 4096;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool StartsName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool IsOfName(char c) { return StartsName(c) || IsDigit(c) || c == '.'; }

enum class Kind { kEnd, kNumber, kText, kName, kQuotedName, kSign };

struct Token {
  Kind kind = Kind::kEnd;
  std::string text;  // of a name or a sign; a text's content
  ParamValue value;  // of a number
  size_t at = 0;
};

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) { Advance(); }

  Expression Parse() {
    Expression root = Or();
    if (token_.kind != Kind::kEnd) {
      if (token_.text == "=") Fail("a single =: write == to compare");
      Fail(fmt::format("{} is not expected here", Shown()));
    }
    return root;
  }

 private:
  struct Sign {
    const char* text;
    Operation operation;
  };

  [[noreturn]] void Fail(const std::string& what) const { FailAt(token_.at, what); }
  [[noreturn]] void FailAt(size_t at, const std::string& what) const {
    throw ConfigError(fmt::format("at character {}: {}", at + 1, what));
  }
  std::string Shown() const {
    return token_.kind == Kind::kEnd ? "the end" : fmt::format("`{}`", token_.text);
  }

  // ---- words ----

  void Advance() {
    while (next_ < text_.size() && (text_[next_] == ' ' || text_[next_] == '\t' ||
                                    text_[next_] == '\n' || text_[next_] == '\r')) {
      ++next_;
    }
    token_ = {};
    token_.at = next_;
    if (next_ == text_.size()) return;
    const char c = text_[next_];
    const bool digits = IsDigit(c) || (c == '.' && next_ + 1 < text_.size() &&
                                       IsDigit(text_[next_ + 1]));
    if (digits) return ReadNumber();
    if (c == '\'' || c == '"') return ReadText(c);
    if (text_.compare(next_, 2, "${") == 0) return ReadQuotedName();
    if (StartsName(c)) return ReadName();
    ReadSign();
  }

  void ReadNumber() {
    const char* begin = text_.data() + next_;
    const char* end = text_.data() + text_.size();
    int64_t integer = 0;
    const auto whole = std::from_chars(begin, end, integer);
    double number = 0;
    const auto real = std::from_chars(begin, end, number);
    if (real.ec != std::errc()) Fail("a number that no double can hold");
    const bool is_integer = whole.ec == std::errc() && whole.ptr == real.ptr;
    token_.kind = Kind::kNumber;
    token_.value = is_integer ? ParamValue(integer) : ParamValue(number);
    token_.text.assign(begin, real.ptr);
    next_ += token_.text.size();
    if (next_ < text_.size() && IsOfName(text_[next_])) {
      Fail(fmt::format("{}{} is no number", token_.text, text_[next_]));
    }
  }

  void ReadText(char quote) {
    const size_t end = text_.find(quote, next_ + 1);
    if (end == text_.npos) Fail("a text without its closing quote");
    token_.kind = Kind::kText;
    token_.text = text_.substr(next_ + 1, end - next_ - 1);
    next_ = end + 1;
  }

  void ReadQuotedName() {
    const size_t end = text_.find('}', next_);
    if (end == text_.npos) Fail("${ without its }");
    if (end == next_ + 2) Fail("${} names no parameter");
    token_.kind = Kind::kQuotedName;
    token_.text = text_.substr(next_ + 2, end - next_ - 2);
    next_ = end + 1;
  }

  void ReadName() {
    const size_t begin = next_;
    while (next_ < text_.size() && IsOfName(text_[next_])) ++next_;
    token_.kind = Kind::kName;
    token_.text = text_.substr(begin, next_ - begin);
  }

  void ReadSign() {
    static constexpr std::array<const char*, 22> kSigns = {
        "==", "!=", "<=", ">=", "**", "//", "&&", "||", "<", ">", "=",
        "+",  "-",  "*",  "/",  "%",  "(",  ")",  "[",  "]", ",", "!"};
    for (const char* sign : kSigns) {
      const std::string_view word = sign;
      if (text_.compare(next_, word.size(), word) != 0) continue;
      token_.kind = Kind::kSign;
      token_.text = word;
      next_ += word.size();
      break;
    }
    if (token_.kind != Kind::kSign) {
      Fail(fmt::format("`{}` is no part of an expression", text_[next_]));
    }
    if (token_.text == "&&") Fail("write `and` for &&");
    if (token_.text == "||") Fail("write `or` for ||");
    if (token_.text == "!") Fail("write `not` for !");
  }

  bool IsSign(const char* sign) const {
    return token_.kind == Kind::kSign && token_.text == sign;
  }
  bool IsWord(const char* word) const {
    return token_.kind == Kind::kName && token_.text == word;
  }
  void Expect(const char* sign) {
    if (!IsSign(sign)) Fail(fmt::format("`{}` is missing before {}", sign, Shown()));
    Advance();
  }

  // ---- what binds loosest first ----

  static Expression Of(Operation operation, std::vector<Expression> arguments) {
    return {operation, std::move(arguments), {}, {}};
  }

  Expression Or() {
    const Nested nested(*this);
    Expression left = And();
    while (IsWord("or")) {
      Advance();
      left = Of(Operation::kOr, {std::move(left), And()});
    }
    return left;
  }

  Expression And() {
    Expression left = Not();
    while (IsWord("and")) {
      Advance();
      left = Of(Operation::kAnd, {std::move(left), Not()});
    }
    return left;
  }

  Expression Not() {
    if (!IsWord("not")) return Relation();
    const Nested nested(*this);
    Advance();
    return Of(Operation::kNot, {Not()});
  }

  // a < b < c is a < b and b < c.
  Expression Relation() {
    Expression left = Sum();
    std::optional<Expression> all;
    while (true) {
      Expression each;
      if (IsWord("in") || IsWord("not")) {
        const bool is_not = IsWord("not");
        if (is_not) Advance();
        each = In(std::move(left));
        left = each.arguments.front();
        if (is_not) each = Of(Operation::kNot, {std::move(each)});
      } else if (const auto operation = RelationAt()) {
        Advance();
        Expression right = Sum();
        each = Of(*operation, {std::move(left), right});
        left = std::move(right);
      } else {
        return all ? *std::move(all) : left;
      }
      all = all ? Of(Operation::kAnd, {*std::move(all), std::move(each)})
                : std::move(each);
    }
  }

  std::optional<Operation> RelationAt() const {
    static constexpr Sign kRelations[] = {{"==", Operation::kEqual},
                                          {"!=", Operation::kNotEqual},
                                          {"<", Operation::kLess},
                                          {"<=", Operation::kLessEqual},
                                          {">", Operation::kGreater},
                                          {">=", Operation::kGreaterEqual}};
    return OneOf(kRelations);
  }

  std::optional<Operation> OneOf(std::span<const Sign> signs) const {
    for (const Sign& sign : signs) {
      if (IsSign(sign.text)) return sign.operation;
    }
    return std::nullopt;
  }

  Expression In(Expression left) {
    if (!IsWord("in")) Fail(fmt::format("`in` is missing before {}", Shown()));
    Advance();
    if (!IsSign("[")) Fail("`in` wants a list, as in: optimizer in ['sgd', 'adam']");
    std::vector<Expression> arguments = {std::move(left)};
    do {
      Advance();
      arguments.push_back(Sum());
    } while (IsSign(","));
    Expect("]");
    return Of(Operation::kIn, std::move(arguments));
  }

  Expression Sum() {
    static constexpr Sign kSigns[] = {{"+", Operation::kAdd},
                                      {"-", Operation::kSubtract}};
    Expression left = Product();
    while (const auto operation = OneOf(kSigns)) {
      Advance();
      left = Of(*operation, {std::move(left), Product()});
    }
    return left;
  }

  Expression Product() {
    static constexpr Sign kSigns[] = {{"*", Operation::kMultiply},
                                      {"/", Operation::kDivide},
                                      {"//", Operation::kFloorDivide},
                                      {"%", Operation::kModulo}};
    Expression left = Unary();
    while (const auto operation = OneOf(kSigns)) {
      Advance();
      left = Of(*operation, {std::move(left), Unary()});
    }
    return left;
  }

  // -2 ** 2 is -(2 ** 2), and 2 ** -1 one half.
  Expression Unary() {
    const Nested nested(*this);
    if (IsSign("-")) {
      Advance();
      return Of(Operation::kNegate, {Unary()});
    }
    Expression base = Primary();
    if (!IsSign("**")) return base;
    Advance();
    return Of(Operation::kPower, {std::move(base), Unary()});
  }

  Expression Primary() {
    Token token = token_;
    if (token.kind == Kind::kNumber || token.kind == Kind::kText) {
      Advance();
      const bool number = token.kind == Kind::kNumber;
      return Literal(number ? std::move(token.value)
                            : ParamValue(std::move(token.text)));
    }
    if (token.kind == Kind::kQuotedName) {
      Advance();
      return Name(std::move(token.text));
    }
    if (IsSign("(")) {
      Advance();
      Expression inner = Or();
      Expect(")");
      return inner;
    }
    if (token.kind != Kind::kName || IsWord("and") || IsWord("or") || IsWord("in")) {
      Fail(fmt::format("a name, a number or ( is missing before {}", Shown()));
    }
    Advance();
    if (token.text == "true" || token.text == "True") return Literal(true);
    if (token.text == "false" || token.text == "False") return Literal(false);
    if (token.text == "null" || token.text == "None") return Literal({});
    return IsSign("(") ? Call(token) : Name(std::move(token.text));
  }

  Expression Call(const Token& function) {
    const Arity arity = ArityOf(function.text);
    if (arity.most == 0) {
      FailAt(function.at, fmt::format("there is no function {}", function.text));
    }
    std::vector<Expression> arguments;
    do {
      Advance();
      arguments.push_back(Or());
    } while (IsSign(","));
    Expect(")");
    const auto given = static_cast<int>(arguments.size());
    if (given > arity.most) {
      FailAt(function.at, fmt::format("{} takes {}", function.text, arity.most));
    }
    Expression call = Of(Operation::kCall, std::move(arguments));
    call.name = function.text;
    return call;
  }

  static Expression Literal(ParamValue value) {
    return {Operation::kLiteral, {}, std::move(value), {}};
  }
  static Expression Name(std::string name) {
    return {Operation::kName, {}, {}, std::move(name)};
  }

  // Guards the stack.
  class Nested {
   public:
    explicit Nested(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > kMostNested) parser_.Fail("it is nested too deeply");
    }
    ~Nested() { --parser_.depth_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    Parser& parser_;
  };

  const std::string& text_;
  size_t next_ = 0;
  Token token_;
  int depth_ = 0;
};

}  // namespace

Expression ParseExpression(const std::string& text) {
  if (text.size() > kLongest) {
    throw ConfigError(fmt::format("an expression has at most {} characters", kLongest));
  }
  return Parser(text).Parse();
}

}  // namespace hyperopt::internal
