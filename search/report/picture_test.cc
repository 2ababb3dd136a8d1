#include "search/report/picture.h"

#include <doctest/doctest.h>

#include <cmath>

#include "search/report/picture/axis.h"
#include "search/report/picture/svg.h"
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
    z: {space: randn, mean: 0, sd: 1}
    opt: {space: choice, categories: [sgd, "</svg><script>alert(1)</script>", 1, "1"]}
  search_alg: {type: random}
  executor:
    num_samples: 30
    max_initial_failures: 100
    scheduler: {type: asha, max_t: 9, grace_period: 1, reduction_factor: 3}
)";

size_t CountOf(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++count;
  return count;
}

using Behave = std::function<testing::ScriptedTrial(TrialId, const Params&)>;

RecordedSweep Played(testing::PlayedSweep* played) {
  played->PlayToEnd();
  return played->Record();
}

testing::ScriptedTrial Mixed(TrialId id, const Params&) {
  const auto k = 30 - static_cast<double>(id.value());  // each better than all before
  if (id.value() == 3) return {{}, 2, "bad <luck>"};
  if (id.value() == 5) return {{std::nan(""), std::nan("")}, 0, ""};
  return {{k + 1, k + 0.5, k + 0.25, k, k, k, k, k, k}, 0, ""};
}

TEST_SUITE("pictures") {
  TEST_CASE("every trial has a line, and no text is markup") {
    testing::PlayedSweep played(kFile, Mixed);
    const RecordedSweep sweep = Played(&played);
    const std::string svg = DrawPicture(sweep, Picture::kParallel, 0);
    CHECK(CountOf(svg, "<path") == 30);
    CHECK(svg.find("nan") == std::string::npos);
    CHECK(svg.find("30 of 30 trials") != std::string::npos);
    CHECK(svg.find(">failed<") != std::string::npos);
    CHECK(svg.find(">not finite<") != std::string::npos);
    CHECK(svg.find("<script>") == std::string::npos);
    CHECK(svg.find("&lt;/svg&gt;") != std::string::npos);
    CHECK(svg.ends_with("</svg>\n"));
  }

  TEST_CASE("history, curves, importance") {
    testing::PlayedSweep played(kFile, Mixed);
    const RecordedSweep sweep = Played(&played);
    const std::string history = DrawPicture(sweep, Picture::kHistory, 0);
    // A dot a trial with a value, four in the legend.
    CHECK(CountOf(history, "<circle") == 28 + 4);
    const std::string curves = DrawPicture(sweep, Picture::kCurves, 0);
    CHECK(CountOf(curves, "<path") > 3);
    CHECK(CountOf(curves, "stroke-dasharray") >= 2);  // the rungs
    const std::string importance = DrawPicture(sweep, Picture::kImportance, 0);
    CHECK(CountOf(importance, "<rect") == 1 + 4);
    for (const std::string& svg : {history, curves, importance}) {
      CHECK(svg.find("nan") == std::string::npos);
      CHECK(svg.find("inf") == std::string::npos);
    }
  }

  TEST_CASE("where there is nothing to draw it says so") {
    testing::PlayedSweep played(kFile, [](TrialId, const Params&) {
      return testing::ScriptedTrial{{}, 1, ""};
    });
    const RecordedSweep sweep = Played(&played);
    CHECK(DrawPicture(sweep, Picture::kHistory, 0).find("No trial has") !=
          std::string::npos);
    CHECK(DrawPicture(sweep, Picture::kCurves, 0).find("more than once") !=
          std::string::npos);
    CHECK(CountOf(DrawPicture(sweep, Picture::kParallel, 0), "<path") == 30);
    CHECK(DrawPicture(sweep, Picture::kImportance, 0).ends_with("</svg>\n"));
  }

  TEST_CASE("all equal, negative and zero") {
    for (const double value : {0.0, -3.0, 1e300, 1e-300}) {
      CAPTURE(value);
      testing::PlayedSweep played(kFile, [value](TrialId, const Params&) {
        return testing::ScriptedTrial{{value, value}, 0, ""};
      });
      const RecordedSweep sweep = Played(&played);
      for (const Picture picture : kAllPictures) {
        const std::string svg = DrawPicture(sweep, picture, 0);
        CHECK(svg.find("nan") == std::string::npos);
        CHECK(svg.find("inf") == std::string::npos);
      }
    }
  }

  TEST_CASE("of one objective there is no front") {
    testing::PlayedSweep played(kFile, Mixed);
    const RecordedSweep sweep = Played(&played);
    CHECK(DrawPicture(sweep, Picture::kPareto, 0).find("one objective only") !=
          std::string::npos);
  }

  TEST_CASE("ticks") {
    using internal::Axis;
    const auto texts = [](const Axis& axis, int count) {
      std::string text;
      for (const internal::Tick& tick : axis.Ticks(count)) text += tick.text + ' ';
      return text;
    };
    CHECK(texts(Axis(0, 1, false), 5) == "0 0.2 0.4 0.6 0.8 1 ");
    CHECK(texts(Axis(1e-5, 0.1, true), 5) == "1e-5 1e-4 0.001 0.01 0.1 ");
    CHECK(texts(Axis(1, 4, false), 3) == "1 2 3 4 ");
    CHECK(texts(Axis(-1, 1, true), 2) == "-1 0 1 ");  // no logarithm of that
    CHECK(texts(Axis(7, 7, false), 2).size() > 3);
    CHECK(texts(Axis(2, 8, true), 4) == "2 5 ");
  }

  TEST_CASE("colours run from dark to pale") {
    CHECK(internal::Cividis(0) == "#002051");
    CHECK(internal::Cividis(1) == "#fdea45");
  }

  TEST_CASE("a long name is cut between characters") {
    CHECK(internal::Cut("übergröße", 4) == "über…");
    CHECK(internal::Cut("short", 5) == "short");
  }
}

}  // namespace
}  // namespace hyperopt
