#include "search/standing_text.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "search/format.h"

namespace hyperopt {

std::string MeanText(const Standing& standing) {
  std::string text = "no value";
  if (!standing.values.empty()) {
    text = NumberText(standing.mean);
    if (!std::isnan(standing.error)) text += " +- " + NumberText(standing.error);
    text += fmt::format(" of {}", standing.values.size());
  }
  return standing.failed ? text + ", one failed" : text;
}

std::string TrialsText(const Standing& standing) {
  std::string text;
  const size_t count = standing.trials.size();
  for (size_t i = 0; i < count; ++i) {
    text += i == 0 ? "" : i + 1 == count ? " and " : ", ";
    text += std::to_string(standing.trials[i].value());
  }
  return (count == 1 ? "trial " : "trials ") + text;
}

OrderedJson StandingToJson(const Standing& standing) {
  OrderedJson trials = OrderedJson::array();
  for (const TrialId id : standing.trials) trials.push_back(id.value());
  const auto maybe = [](double value) {
    return std::isnan(value) ? OrderedJson() : NumberToJson(value);
  };
  return {{"mean", maybe(standing.mean)},
          {"error", maybe(standing.error)},
          {"n", standing.values.size()},
          {"failed", standing.failed},
          {"trials", std::move(trials)},
          {"values", standing.values}};
}

}  // namespace hyperopt
