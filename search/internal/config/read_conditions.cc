// What must hold between parameters: `when` at a parameter, hyperopt.constraints.
#include <fmt/format.h>

#include <algorithm>

#include "search/internal/config/readers.h"
#include "trial/errors.h"
#include "trial/text.h"

namespace hyperopt::internal {
namespace {

// Of a long text its beginning, for messages.
std::string Excerpt(const std::string& text, size_t most) {
  if (text.size() <= most) return text;
  size_t end = most;
  const auto continues = [&](size_t at) { return (text[at] & 0xc0) == 0x80; };
  while (end > 0 && continues(end)) --end;
  return text.substr(0, end) + "...";
}

std::string NoSuch(const std::string& name, const std::vector<Parameter>& parameters) {
  std::vector<std::string> known;
  for (const Parameter& parameter : parameters) known.push_back(parameter.name);
  const auto near = NearestName(name, known);
  return fmt::format("there is no parameter {}{}",
                     Excerpt(name, 60),
                     near ? fmt::format("; did you mean {}?", *near) : "");
}

// `optimizer: [sgd, adam]` or `optimizer: sgd`.
void ReadCondition(const Entry& entry,
                   const std::string& path,
                   const std::vector<Parameter>& parameters,
                   Parameter& parameter,
                   Reading& reading) {
  const auto parent = std::ranges::find(parameters, entry.key, &Parameter::name);
  if (parent == parameters.end()) {
    reading.problems.Add(entry.place, path, NoSuch(entry.key, parameters));
    return;
  }
  Condition condition{entry.key, {}};
  std::vector<Value> one = {entry.value};
  const bool is_list = entry.value.is_list();
  for (const Value& value : is_list ? entry.value.items : one) {
    const auto read = ToParamValue(value);
    if (read && ToUnit(parent->domain, *read)) {
      condition.values.push_back(Typed(parent->domain, *read));
      continue;
    }
    reading.problems.Add(value.place,
                         path,
                         fmt::format("{} never is {} ({})",
                                     entry.key,
                                     Describe(value),
                                     Describe(parent->domain)));
  }
  if (is_list && entry.value.items.empty()) {
    reading.problems.Add(entry.value.place, path, "lacks the values to take part at");
  }
  if (!condition.values.empty()) parameter.when.push_back(std::move(condition));
}

void ReadWhen(const Entry& entry,
              std::vector<Parameter>& parameters,
              Parameter& parameter,
              Reading& reading) {
  const Value* when = entry.value.Find("when");
  if (when == nullptr || when->is_broken()) return;
  const std::string path = fmt::format("hyperopt.parameters.{}.when", entry.key);
  if (!when->is_map() || when->entries.empty()) {
    reading.problems.Add(
        when->place,
        path,
        fmt::format("must be a map of parameters to the values at which this one takes "
                    "part, as in when: {{optimizer: [sgd]}}, not {}",
                    when->is_map() ? "an empty one" : Describe(*when)));
    return;
  }
  for (const Entry& condition : when->entries) {
    ReadCondition(condition, path, parameters, parameter, reading);
  }
}

std::optional<Constraint> ReadConstraint(const Value& value,
                                         const std::string& path,
                                         const std::vector<Parameter>& parameters,
                                         Reading& reading) {
  if (!value.is_string() && value.kind != Value::Kind::kBool) {
    reading.problems.Add(
        value.place,
        path,
        fmt::format("must be a text such as \"layers * width <= 4096\", not {}",
                    Describe(value)));
    return std::nullopt;
  }
  try {
    Constraint constraint(value.text);
    bool known = true;
    for (const std::string& name : constraint.names()) {
      if (std::ranges::find(parameters, name, &Parameter::name) != parameters.end()) {
        continue;
      }
      known = false;
      reading.problems.Add(value.place, path, NoSuch(name, parameters));
    }
    return known ? std::optional(std::move(constraint)) : std::nullopt;
  } catch (const ConfigError& error) {
    reading.problems.Add(
        value.place,
        path,
        fmt::format("{}: {}", Excerpt(value.text, 60), Excerpt(error.what(), 200)));
  }
  return std::nullopt;
}

std::vector<Constraint> ReadConstraints(Section& hyperopt,
                                        const std::vector<Parameter>& parameters,
                                        Reading& reading) {
  std::vector<Constraint> constraints;
  const Value* given = hyperopt.Take("constraints");
  if (given == nullptr) return constraints;
  const std::vector<Value> one = {*given};
  for (const Value& value : given->is_list() ? given->items : one) {
    auto constraint =
        ReadConstraint(value, hyperopt.PathOf("constraints"), parameters, reading);
    if (constraint) constraints.push_back(*std::move(constraint));
  }
  return constraints;
}

// A circle is told by its first parameter's name, and belongs to that one's `when`.
void TellCircle(const Value& map, const std::string& error, Reading& reading) {
  for (const Entry& entry : map.entries) {
    const std::string begin = entry.key + ": `when` ";
    const Value* when = entry.value.Find("when");
    if (when == nullptr || !error.starts_with(begin)) continue;
    reading.problems.Add(when->place,
                         fmt::format("hyperopt.parameters.{}.when", entry.key),
                         error.substr(begin.size()));
    return;
  }
  reading.problems.Add(map.place, "hyperopt.parameters", error);
}

}  // namespace

void SettleSpace(const Value& map,
                 std::vector<Parameter> parameters,
                 Section& hyperopt,
                 Reading& reading) {
  for (size_t i = 0; i < parameters.size(); ++i) {
    ReadWhen(map.entries[i], parameters, parameters[i], reading);
  }
  std::vector<Constraint> constraints = ReadConstraints(hyperopt, parameters, reading);
  try {
    reading.config.space = SearchSpace(std::move(parameters), std::move(constraints));
  } catch (const ConfigError& error) {  // conditions in a circle
    TellCircle(map, error.what(), reading);
  }
}

}  // namespace hyperopt::internal
