// What only some sweeps have: several objectives, folds, trials that ran in pieces.
#include <fmt/format.h>

#include "search/objectives.h"
#include "search/report/internal/json_text.h"
#include "search/report/internal/report_parts.h"

namespace hyperopt::internal {
namespace {

void AppendMaybe(const std::optional<double>& value, std::string* out) {
  if (value) {
    AppendNumber(*value, 9, out);
  } else {
    *out += "null";
  }
}

void AppendTrialId(TrialId id, std::string* out) { AppendInteger(id.value(), out); }

}  // namespace

void AppendObjectives(const ReportSource& source, std::string* out) {
  const SearchConfig& config = source.sweep->config;
  AppendName("objectives", out);
  if (config.objectives.empty()) {
    *out += "null";
    return;
  }
  std::string text = "{";
  const auto name = [](const OtherObjective& each, std::string* to) {
    AppendQuoted(each.metric, to);
  };
  const auto goal = [](const OtherObjective& each, std::string* to) {
    AppendQuoted(ToString(each.goal), to);
  };
  AppendColumn("names", config.objectives, name, &text);
  AppendColumn("goals", config.objectives, goal, &text);
  std::vector<size_t> places(config.objectives.size());
  for (size_t k = 0; k < places.size(); ++k) places[k] = k;
  const auto column = [&](size_t k, std::string* to) {
    *to += '[';
    for (size_t i = 0; i < source.others.size(); ++i) {
      if (i > 0) *to += ',';
      AppendObjective(source.others[i][k], to);
    }
    *to += ']';
  };
  AppendColumn("values", places, column, &text);
  const auto member = [](const FrontTrial& each, std::string* to) {
    AppendTrialId(each.trial, to);
  };
  AppendColumn(
      "front", ParetoFront(source.trials(), source.others, config), member, &text);
  *out += text + '}';
}

void AppendSpreads(const ReportSource& source, std::string* out) {
  std::vector<size_t> with;
  for (size_t i = 0; i < source.spreads.size(); ++i) {
    if (source.spreads[i].any()) with.push_back(i);
  }
  AppendName("spreads", out);
  if (with.empty()) {
    *out += "null";
    return;
  }
  std::string text = "{";
  const SpreadFields& fields = source.spread_fields;
  AppendText("of", fields.fold.empty() ? fields.mean : fields.of_fold, &text);
  AppendText("error",
             !fields.fold.empty()        ? "standard error of the mean"
             : !fields.deviation.empty() ? "standard deviation"
                                         : "",
             &text);
  AppendText("test_field", fields.test, &text);
  const auto column = [&](const char* name, auto append) {
    AppendColumn(name, with, append, &text);
  };
  column("trial",
         [](size_t i, std::string* to) { AppendInteger(static_cast<int64_t>(i), to); });
  column("mean",
         [&](size_t i, std::string* to) { AppendMaybe(source.spreads[i].mean, to); });
  column("errors",
         [&](size_t i, std::string* to) { AppendMaybe(source.spreads[i].error, to); });
  column("test",
         [&](size_t i, std::string* to) { AppendMaybe(source.spreads[i].test, to); });
  column("folds", [&](size_t i, std::string* to) {
    *to += '[';
    for (size_t k = 0; k < source.spreads[i].folds.size(); ++k) {
      if (k > 0) *to += ',';
      AppendNumber(source.spreads[i].folds[k], 6, to);
    }
    *to += ']';
  });
  *out += text + '}';
}

void AppendPieces(const ReportSource& source, std::string* out) {
  std::string text = "{";
  const auto trial = [](const auto& each, std::string* to) {
    AppendTrialId(each.trial, to);
  };
  const auto at = [&](const auto& each, std::string* to) {
    AppendTime(source, each.at, to);
  };
  AppendColumn("trial", source.resumptions, trial, &text);
  AppendColumn("at", source.resumptions, at, &text);
  AppendName("resumed", out);
  *out += text + '}';
  std::string copies = "{";
  AppendColumn("trial", source.copies, trial, &copies);
  AppendColumn("at", source.copies, at, &copies);
  AppendColumn(
      "parent",
      source.copies,
      [](const ReportCopy& each, std::string* to) { AppendTrialId(each.parent, to); },
      &copies);
  AppendColumn(
      "replaced",
      source.copies,
      [](const ReportCopy& each, std::string* to) { AppendTrialId(each.replaced, to); },
      &copies);
  AppendColumn(
      "step",
      source.copies,
      [](const ReportCopy& each, std::string* to) { AppendInteger(each.step, to); },
      &copies);
  AppendName("copies", out);
  *out += copies + '}';
}

}  // namespace hyperopt::internal
