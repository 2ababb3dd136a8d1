#include "search/report/report_data.h"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "search/report/internal/report_source.h"
#include "search/report/page.h"
#include "search/testing/played_sweep.h"

namespace hyperopt {
namespace {

constexpr char kFile[] = R"(
command: [train, '${args}']
hyperopt:
  metric: loss
  parameters:
    lr: {space: loguniform, lower: 1e-5, upper: 1e-1}
    layers: {space: int, lower: 1, upper: 4}
    opt: {space: choice, categories: [sgd, "</script><script>alert(1)</script>", 1, "1"]}
  search_alg: {type: random}
  executor:
    num_samples: 8
    scheduler: {type: asha, max_t: 9, grace_period: 1, reduction_factor: 3}
)";

constexpr char kPlainFile[] = R"(
command: [train, '${args}']
hyperopt:
  metric: loss
  parameters: {x: {space: uniform, lower: 0, upper: 1}}
  executor: {num_samples: 4}
)";

testing::ScriptedTrial Behave(TrialId id, const Params&) {
  const auto k = static_cast<double>(id.value());
  if (id.value() == 3) return {{}, 2, "bad <luck>"};
  if (id.value() == 5) return {{std::nan(""), std::nan("")}, 0, ""};
  return {{k + 1, k + 0.5, k + 0.25, k, k, k, k, k, k}, 0, ""};
}

nlohmann::json DataOf(const RecordedSweep& sweep) {
  const std::string text = ReportJson(sweep, sweep.record.sweep.created + 1000);
  CHECK(text.find('<') == std::string::npos);
  return nlohmann::json::parse(text);
}

TEST_SUITE("report data") {
  TEST_CASE("every trial is in each column") {
    testing::PlayedSweep played(kFile, Behave);
    played.PlayToEnd();
    const RecordedSweep sweep = played.Record();
    const nlohmann::json data = DataOf(sweep);
    const auto& trials = data.at("trials");
    for (const auto& [name, column] : trials.items()) {
      CAPTURE(name);
      CHECK(column.size() == 8);
    }
    CHECK(data.at("params").size() == 3);
    CHECK(data.at("sweep").at("sampler") == "random");
    for (const auto& column : data.at("values")) CHECK(column.size() == 8);
    for (size_t i = 0; i < 8; ++i) {
      const TrialRow& row = sweep.record.trials[i];
      CHECK(data.at("states").at(trials.at("state").at(i).get<size_t>()) ==
            std::string(ToString(row.state)));
      CHECK(data.at("details").at(trials.at("detail").at(i).get<size_t>()) ==
            row.detail);
    }
    CHECK(trials.at("best").at(0) == 0.0);
    CHECK(trials.at("best").at(3) == nullptr);
    CHECK(trials.at("best").at(5) == "NaN");
  }

  TEST_CASE("parameters keep their type, and a category is a place in the list") {
    testing::PlayedSweep played(kFile, Behave);
    played.PlayToEnd();
    const RecordedSweep sweep = played.Record();
    const nlohmann::json data = DataOf(sweep);
    const auto& params = data.at("params");
    CHECK(params.at(0).at("kind") == "float");
    CHECK(params.at(0).at("log") == true);
    CHECK(params.at(1).at("kind") == "int");
    CHECK(params.at(2).at("kind") == "list");
    const auto& values = params.at(2).at("values");
    REQUIRE(values.size() == 4);
    CHECK(values.at(1) == "</script><script>alert(1)</script>");
    CHECK(values.at(2) == 1);
    CHECK(values.at(3) == "1");
    const std::vector<TrialId> ids = {TrialId(0), TrialId(7)};
    const std::vector<Params> drawn = sweep.store->LoadParams(ids);
    CHECK(data.at("values").at(1).at(0) == std::get<int64_t>(drawn[0].at("layers")));
    CHECK(data.at("values").at(0).at(7).get<double>() ==
          doctest::Approx(std::get<double>(drawn[1].at("lr"))).epsilon(1e-8));
  }

  TEST_CASE("a trial with one report is a point beside the curves of others") {
    const auto curves_of = [](bool others) {
      testing::PlayedSweep played(kPlainFile, [others](TrialId id, const Params&) {
        const double loss = 1.0 / static_cast<double>(id.value() + 1);
        if (id == TrialId(1) || !others) return testing::ScriptedTrial{{loss}, 0, ""};
        return testing::ScriptedTrial{{loss, loss / 2}, 0, ""};
      });
      played.PlayToEnd();
      return DataOf(played.Record()).at("curves");
    };
    const nlohmann::json curves = curves_of(true);
    REQUIRE(curves.at("trial").at(1) == 1);
    CHECK(curves.at("step").at(1) == 1);
    CHECK(curves.at("value").at(1) == nlohmann::json::array({0.5}));
    CHECK(curves.at("steps") == nlohmann::json::array({1, 2}));
    CHECK_FALSE(curves.at("thinned").get<bool>());
    CHECK(curves_of(false).at("trial").empty());
  }

  TEST_CASE("rungs, curves and runs are those of the record") {
    testing::PlayedSweep played(kFile, Behave);
    played.PlayToEnd();
    const nlohmann::json data = DataOf(played.Record());
    CHECK(data.at("asha").at("levels") == nlohmann::json({1, 3}));
    int64_t entered = 0;
    for (const auto& rung : data.at("rungs"))
      entered += rung.at("entered").get<int64_t>();
    CHECK(entered > 0);
    const auto& curves = data.at("curves");
    REQUIRE(curves.at("trial").size() > 0);
    CHECK(curves.at("trial").at(0) == 0);
    CHECK(curves.at("step").at(0) == curves.at("value").at(0).size());
    CHECK(curves.at("value").at(0).at(0) == 1.0);
    CHECK(data.at("runs").at("trial").size() >= 8);
    CHECK(data.at("best_params").contains("lr"));
  }

  TEST_CASE("a sweep that has only begun has a report") {
    testing::PlayedSweep played(kFile, Behave);
    const nlohmann::json data = DataOf(played.Record());
    CHECK(data.at("trials").at("state").empty());
    CHECK(data.at("best_params") == nullptr);
    CHECK(data.at("importance").contains("why"));
  }
}

TEST_SUITE("report page") {
  TEST_CASE("the page holds the data and nothing from elsewhere") {
    testing::PlayedSweep played(kFile, Behave);
    played.PlayToEnd();
    const RecordedSweep sweep = played.Record();
    const std::string json = ReportJson(sweep, 0);
    const std::string page = ReportPage(json);
    CHECK(page.find(json) != std::string::npos);
    for (const char* place : {"@CSP@", "@STYLE@", "@D3@", "@SCRIPT@", "@DATA@"}) {
      CAPTURE(place);
      CHECK(page.find(place) == std::string::npos);
    }
    CHECK(page.find("default-src 'none'") != std::string::npos);
    for (const char* loading : {" src=\"", "@import", "url(", " onclick="}) {
      CAPTURE(loading);
      CHECK(page.find(loading) == std::string::npos);
    }
  }

  TEST_CASE("texts that are shared stand once") {
    internal::TextPool pool;
    CHECK(pool.Of("a") == 0);
    CHECK(pool.Of("b") == 1);
    CHECK(pool.Of("a") == 0);
    CHECK(pool.texts() == std::vector<std::string>{"a", "b"});
  }
}

}  // namespace
}  // namespace hyperopt
