#include "search/commands/simulate_sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>

#include "search/change_request.h"
#include "search/commands/check.h"
#include "search/commands/text_width.h"
#include "search/format.h"
#include "search/table_search.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// The best of the first 1, 2, ...; NaN before the first finite one.
std::vector<double> BestSoFar(const std::vector<Objective>& values, Goal goal) {
  std::vector<double> best;
  Objective so_far;
  for (const Objective& value : values) {
    if (so_far.missing() || Better(goal, value, so_far)) so_far = value;
    best.push_back(so_far.finite() ? so_far.value : kNone);
  }
  return best;
}

// 1, 2, 5, 10, ... below `count`.
std::vector<int64_t> Looks(int64_t count) {
  std::vector<int64_t> looks;
  for (int64_t ten = 1; ten < count; ten *= 10) {
    for (const int64_t each : {ten, 2 * ten, 5 * ten}) {
      if (each < count) looks.push_back(each);
    }
  }
  return looks;
}

// The best of `k` that are drawn without one coming back, in the mean: number i of the
// sorted values is it where it is drawn and none before it is.
double MeanBestOf(std::vector<Objective> values, int64_t k, Goal goal) {
  std::ranges::stable_sort(values, [goal](const Objective& a, const Objective& b) {
    return Better(goal, a, b);
  });
  const auto count = static_cast<double>(values.size());
  double none_before = 1, mean = 0, told = 0;
  for (size_t i = 0; i < values.size() && values[i].finite(); ++i) {
    const auto left = count - static_cast<double>(i);
    const double drawn = std::min(1.0, static_cast<double>(k) / left);
    mean += none_before * drawn * values[i].value;
    told += none_before * drawn;
    none_before *= 1 - drawn;
  }
  return told > 0 ? mean / told : kNone;
}

int64_t ToBest(const std::vector<double>& best) {
  const auto at = std::ranges::find(best, best.back());
  return at - best.begin() + 1;
}

std::vector<KnownCurve> Drawable(const RecordedSweep& sweep,
                                 const std::vector<KnownCurve>& curves,
                                 std::vector<Params>* table) {
  std::vector<TrialId> ids;
  for (const KnownCurve& curve : curves) ids.push_back(curve.trial);
  std::vector<Params> params = sweep.store->LoadParams(ids);
  std::vector<KnownCurve> drawable;
  for (size_t i = 0; i < curves.size(); ++i) {
    if (!LiesWithin(sweep.config.space, params[i])) continue;
    drawable.push_back(curves[i]);
    table->push_back(std::move(params[i]));
  }
  return drawable;
}

std::string NumberOr(double value) {
  return std::isnan(value) ? "-" : NumberText(value);
}

}  // namespace

SampledTable SampleTable(const RecordedSweep& sweep,
                         const std::vector<KnownCurve>& curves,
                         const SearchConfig& config,
                         int64_t concurrency,
                         int64_t seeds) {
  const SamplerKind kind = config.sampler.kind;
  if (kind == SamplerKind::kGrid || kind == SamplerKind::kList) {
    throw ConfigError(
        "--sampler: a grid and a list run their own settings, and choose nothing; take "
        "random, sobol, tpe, gp, cmaes or auto");
  }
  std::vector<Params> params;
  const std::vector<KnownCurve> drawable = Drawable(sweep, curves, &params);
  if (drawable.size() < 2) {
    throw ConfigError(
        fmt::format("{}: --sampler chooses among the trials of the record, and {} of "
                    "them can be chosen",
                    sweep.dir.string(),
                    drawable.size()));
  }
  SampledTable table;
  table.trials = std::ssize(drawable);
  table.seeds = seeds;
  SearchConfig as_recorded = config;
  as_recorded.scheduler = {};
  const std::vector<Objective> values = Simulate(drawable, as_recorded, 1).values;
  const std::vector<double> recorded = BestSoFar(values, config.goal);
  for (const int64_t look : Looks(table.trials)) {
    table.after.push_back({look,
                           recorded[static_cast<size_t>(look - 1)],
                           MeanBestOf(values, look, config.goal),
                           0});
  }
  table.recorded_to_best = ToBest(recorded);
  table.random_to_best = static_cast<double>(table.trials + 1) / 2;
  const auto share = 1.0 / static_cast<double>(seeds);
  for (int64_t i = 0; i < seeds; ++i) {
    SearchConfig each = config;
    each.sampler.seed += static_cast<uint64_t>(i);
    each.sampler.num_samples = table.trials;
    each.sampler.points_to_evaluate.clear();
    TableSearch search(sweep.config.space, each.sampler, params);
    const SimulatedSweep run = Simulate(drawable, each, concurrency, &search);
    const std::vector<double> best = BestSoFar(run.values, config.goal);
    for (SampledTable::After& after : table.after) {
      const auto at = std::min(best.size(), static_cast<size_t>(after.trials));
      after.simulated += share * best[at - 1];
    }
    table.simulated_to_best += share * static_cast<double>(ToBest(best));
    table.distance += share * search.mean_distance();
    table.reports += share * static_cast<double>(run.reports);
    table.time += share * static_cast<double>(run.time);
  }
  return table;
}

void PrintSampledTable(const SampledTable& table, const SearchConfig& config) {
  const auto print = [](const std::string& text) {
    std::printf("%s\n", Wrapped(Printable(text), TextWidth(), 2).c_str());
  };
  const std::string name = SamplerText(config);
  print(
      fmt::format("sampler     {}: each proposal is answered with the nearest of the "
                  "{} recorded trials that is left; mean of {} seeds",
                  name,
                  table.trials,
                  table.seeds));
  std::printf("\n");
  constexpr auto kRight = Table::Align::kRight;
  Table text({{fmt::format("best {} after", config.metric_field())},
              {"as recorded", kRight},
              {"in random order", kRight},
              {"simulated", kRight}});
  for (const SampledTable::After& after : table.after) {
    text.AddRow({fmt::format("{} trial{}", after.trials, after.trials == 1 ? "" : "s"),
                 NumberOr(after.recorded),
                 NumberOr(after.random),
                 NumberOr(after.simulated)});
  }
  text.AddRow({"trials to the best of all",
               std::to_string(table.recorded_to_best),
               NumberText(table.random_to_best),
               NumberText(table.simulated_to_best)});
  std::printf("%s\n", text.ToText(TextWidth()).c_str());
  print(fmt::format(
      "The trials lie {:.2g} of the range from what was proposed. Settings that were "
      "never run can not be found here, so that this shows how well the sampler tells "
      "the good ones of these apart, and not what it would have come to by itself.",
      table.distance));
}

OrderedJson SampledTableToJson(const SampledTable& table, const SearchConfig& config) {
  OrderedJson after = OrderedJson::array();
  for (const SampledTable::After& each : table.after) {
    after.push_back({{"trials", each.trials},
                     {"recorded", NumberToJson(each.recorded)},
                     {"random", NumberToJson(each.random)},
                     {"simulated", NumberToJson(each.simulated)}});
  }
  return {{"sampler", SamplerText(config)},
          {"trials", table.trials},
          {"seeds", table.seeds},
          {"distance", table.distance},
          {"best_after", std::move(after)},
          {"to_best",
           {{"recorded", table.recorded_to_best},
            {"random", table.random_to_best},
            {"simulated", table.simulated_to_best}}},
          {"reports", table.reports},
          {"time", table.time}};
}

}  // namespace hyperopt
