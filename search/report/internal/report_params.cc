#include <fmt/format.h>

#include <cmath>
#include <map>

#include "search/report/internal/json_text.h"
#include "search/report/internal/report_parts.h"

namespace hyperopt::internal {
namespace {

constexpr int kDigits = 9;

// Places in `values`, which grows by those that the domain does not have (a search file
// that was amended, settings given by hand).
struct ListColumn {
  std::vector<ParamValue> values;
  std::map<ParamValue, size_t> places;

  size_t Of(const ParamValue& value) {
    const auto [entry, is_new] = places.emplace(value, values.size());
    if (is_new) values.push_back(value);
    return entry->second;
  }
};

struct ParamText {
  std::string about;   // the object that describes it
  std::string column;  // its values, a list
};

void AppendRange(const Domain& domain, std::string* out) {
  if (const auto* d = std::get_if<FloatDomain>(&domain)) {
    AppendText("kind", "float", out);
    AppendNumberMember("lower", d->lower, out);
    AppendNumberMember("upper", d->upper, out);
    AppendName("log", out);
    *out += d->log ? "true" : "false";
  } else if (const auto* i = std::get_if<IntDomain>(&domain)) {
    AppendText("kind", "int", out);
    AppendNumberMember("lower", static_cast<double>(i->lower), out);
    AppendNumberMember("upper", static_cast<double>(i->upper), out);
    AppendName("log", out);
    *out += i->log ? "true" : "false";
  } else {
    AppendText("kind", "normal", out);
    AppendName("log", out);
    *out += "false";
  }
}

// null for what is no number.
void AppendPlain(const ParamValue& value, std::string* out) {
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    AppendInteger(*integer, out);
  } else if (const auto* number = std::get_if<double>(&value)) {
    AppendNumber(*number, kDigits, out);
  } else {
    *out += "null";
  }
}

std::string ListValues(const ListColumn& list) {
  std::string text;
  AppendColumn(
      "values",
      list.values,
      [](const ParamValue& value, std::string* out) {
        AppendEscaped(ToJsonText(value), out);
      },
      &text);
  return text;
}

ParamText TextOf(const Parameter& parameter, const std::vector<Params>& trials) {
  ParamText text;
  ListColumn list;
  const bool is_list = std::holds_alternative<CategoricalDomain>(parameter.domain) ||
                       std::holds_alternative<GridDomain>(parameter.domain);
  if (const auto* d = std::get_if<CategoricalDomain>(&parameter.domain)) {
    for (const ParamValue& value : d->values) list.Of(value);
  } else if (const auto* grid = std::get_if<GridDomain>(&parameter.domain)) {
    for (const ParamValue& value : grid->values) list.Of(value);
  }
  for (const Params& params : trials) {
    if (!text.column.empty()) text.column += ',';
    const auto value = params.find(parameter.name);
    if (value == params.end()) {
      text.column += "null";
    } else if (is_list) {
      AppendInteger(static_cast<int64_t>(list.Of(value->second)), &text.column);
    } else {
      AppendPlain(value->second, &text.column);
    }
  }
  text.about += '{';
  AppendText("name", parameter.name, &text.about);
  AppendText("text", Describe(parameter.domain), &text.about);
  if (is_list) {
    AppendText("kind", "list", &text.about);
    text.about += ',' + ListValues(list);
  } else {
    AppendRange(parameter.domain, &text.about);
  }
  text.about += '}';
  return text;
}

}  // namespace

void AppendParams(const ReportSource& source, std::string* out) {
  std::vector<ParamText> texts;
  for (const Parameter& parameter : source.sweep->config.space.parameters()) {
    texts.push_back(TextOf(parameter, source.params));
  }
  AppendColumn(
      "params",
      texts,
      [](const ParamText& text, std::string* to) { *to += text.about; },
      out);
  AppendColumn(
      "values",
      texts,
      [](const ParamText& text, std::string* to) { *to += '[' + text.column + ']'; },
      out);
}

}  // namespace hyperopt::internal
