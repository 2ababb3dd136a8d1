#include <fmt/format.h>

#include "search/report/internal/json_text.h"
#include "search/report/internal/report_parts.h"
#include "search/report/landscape.h"
#include "trial/state.h"

namespace hyperopt::internal {
namespace {

constexpr int kDigits = 6;

// A number; of a list its place there, which is that in the report's own list.
void AppendPlaces(const Domain& domain,
                  const std::vector<ParamValue>& at,
                  std::string* out) {
  const bool list = std::holds_alternative<CategoricalDomain>(domain) ||
                    std::holds_alternative<GridDomain>(domain);
  int64_t place = 0;
  const auto append = [&](const ParamValue& value, std::string* to) {
    const auto* integer = std::get_if<int64_t>(&value);
    if (list) {
      AppendInteger(place++, to);
    } else if (integer != nullptr) {
      AppendInteger(*integer, to);
    } else {
      AppendNumber(std::get<double>(value), kDigits, to);
    }
  };
  AppendColumn("at", at, append, out);
}

void AppendPart(const char* name,
                const std::vector<Estimate>& values,
                double Estimate::*part,
                std::string* out) {
  AppendColumn(
      name,
      values,
      [part](const Estimate& each, std::string* to) {
        AppendNumber(each.*part, kDigits, to);
      },
      out);
}

}  // namespace

std::string LandscapeJson(const SearchSpace& space, const Landscape& landscape) {
  std::string out =
      fmt::format("{{\"used\":{},\"of\":{}", landscape.used, landscape.usable);
  AppendText("why", landscape.why, &out);
  const auto head = [&](const auto& each, std::string* to) {
    *to += fmt::format("{{\"param\":{}", each.parameter);
    AppendPlaces(space.parameters()[each.parameter].domain, each.at, to);
  };
  const auto slice = [&](const LandscapeSlice& each, std::string* to) {
    head(each, to);
    AppendNumberMember("base", static_cast<double>(each.base), to);
    AppendPart("middle", each.values, &Estimate::middle, to);
    AppendPart("low", each.values, &Estimate::low, to);
    AppendPart("high", each.values, &Estimate::high, to);
    *to += '}';
  };
  AppendColumn("slices", landscape.slices, slice, &out);
  const auto axis = [&](const LandscapeAxis& each, std::string* to) {
    head(each, to);
    *to += '}';
  };
  AppendColumn("axes", landscape.axes, axis, &out);
  const auto map = [&](const LandscapeMap& each, std::string* to) {
    *to += fmt::format("{{\"x\":{},\"y\":{},\"base\":{}", each.x, each.y, each.base);
    AppendColumn(
        "middles",
        each.middles,
        [](double value, std::string* text) { AppendNumber(value, kDigits, text); },
        to);
    *to += '}';
  };
  AppendColumn("maps", landscape.maps, map, &out);
  return out + '}';
}

std::vector<Objective> EndedValues(const ReportSource& source) {
  std::vector<Objective> values = source.values;
  for (const TrialRow& row : source.trials()) {
    const bool ended =
        row.state == TrialState::kCompleted || row.state == TrialState::kStopped;
    if (!ended) values[static_cast<size_t>(row.id.value())] = Objective::Missing();
  }
  return values;
}

}  // namespace hyperopt::internal
