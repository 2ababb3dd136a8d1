// The early-stopping rules of hyperopt.executor.scheduler beside ASHA.
#include <doctest/doctest.h>

#include "search/testing/config_text.h"

namespace hyperopt {
namespace {

using testing::CommandFile;
using testing::Contains;
using testing::Errors;
using testing::Has;
using testing::Parse;

std::string File(const std::string& keys, const std::string& more = "") {
  return CommandFile("  executor: {scheduler: {" + keys + "}}\n" + more);
}
SchedulerOptions Read(const std::string& keys) { return Parse(File(keys)).scheduler; }

SchedulerOptions Rule(SchedulerKind kind,
                      const char* time_attr = "training_iteration") {
  SchedulerOptions rule;
  rule.kind = kind;
  rule.time_attr = time_attr;
  return rule;
}

TEST_SUITE_BEGIN("config rules");

TEST_CASE("hyperband is asha with all brackets, and a note says so") {
  const SearchConfig config = Parse(File("type: hyperband, stop_last_trials: true"));
  CHECK(config.scheduler ==
        SchedulerOptions{SchedulerKind::kAsha, "training_iteration", 81, 1, 3, 5});
  CHECK(Has(config.notes, "is read as asha with brackets: 5"));
  CHECK(Has(config.notes, "no trial waits for others"));
  CHECK(Read("type: hyperband, max_t: 243, time_attr: epoch") ==
        SchedulerOptions{SchedulerKind::kAsha, "epoch", 243, 1, 3, 6});
  CHECK(Contains(Errors(File("type: hyperband, brackets: 2")), "write type: asha"));
}

TEST_CASE("bohb is tpe and hyperband, and each half brings the other along") {
  const auto is_pair = [](const SearchConfig& config) {
    return config.sampler.kind == SamplerKind::kTpe &&
           config.scheduler.kind == SchedulerKind::kAsha &&
           config.scheduler.brackets == 5;
  };
  for (const char* type : {"hb_bohb", "bohb"}) {
    const SearchConfig half = Parse(File("type: " + std::string(type)));
    CHECK(is_pair(half));
    CHECK(Has(half.notes, "search_alg is tpe"));
  }
  const SearchConfig other = Parse(CommandFile("  search_alg: {type: bohb}\n"));
  CHECK(is_pair(other));
  CHECK(Has(other.notes, "bohb goes with hyperband"));
  const SearchConfig both =
      Parse(File("type: hb_bohb", "  search_alg: {type: bohb}\n"));
  CHECK(is_pair(both));
  CHECK_FALSE(Has(both.notes, "absent"));
  const SearchConfig fifo = Parse(File("type: fifo", "  search_alg: {type: bohb}\n"));
  CHECK(fifo.scheduler.kind == SchedulerKind::kFifo);
  const SearchConfig random =
      Parse(File("type: hb_bohb", "  search_alg: {type: random}\n"));
  CHECK(random.sampler.kind == SamplerKind::kRandom);
  CHECK(
      Has(random.notes, "goes with hyperopt.search_alg.type bohb (tpe); it is random"));
}

TEST_CASE("the median under all its names, with Ray's defaults") {
  SchedulerOptions expected = Rule(SchedulerKind::kMedian, "time_total_s");
  expected.grace_period = 60;
  for (const char* type : {"median_stopping_rule",
                           "medianstopping_rule",
                           "medianstoppingrule",
                           "medianstopping"}) {
    CHECK(Read("type: " + std::string(type)) == expected);
  }
  expected.time_attr = "epoch";
  expected.grace_period = 5;
  expected.min_samples_required = 2;
  const SearchConfig config =
      Parse(File("type: median_stopping_rule, time_attr: epoch, grace_period: 5.0, "
                 "min_samples_required: 2, min_time_slice: 0, hard_stop: true"));
  CHECK(config.scheduler == expected);
  CHECK(Has(config.notes, "min_time_slice has no use here"));
  CHECK(Has(Parse(File("type: median_stopping_rule, time_attr: epoch")).notes,
            "grace_period is absent: 60 in the unit of epoch"));
  CHECK(Contains(Errors(File("type: median_stopping_rule, hard_stop: false")),
                 "would pause trials"));
  CHECK(Contains(Errors(File("type: median_stopping_rule, max_t: 9")),
                 "has no effect with type median_stopping_rule"));
  CHECK(Contains(Errors(File("type: median_stopping_rule, min_samples: 2")),
                 "did you mean min_samples_required?"));
  CHECK(
      Contains(Errors(File("type: median_stopping_rule, mode: max")), "hyperopt.goal"));
  CHECK(Contains(Errors(File("type: median_stoping_rule")),
                 "did you mean median_stopping_rule?"));
}

TEST_CASE("patience, plateau and target") {
  SchedulerOptions patience = Rule(SchedulerKind::kPatience);
  CHECK(Read("type: patience") == patience);
  patience.patience = 7;
  patience.min_delta = 1e-3;
  patience.grace_period = 3;
  CHECK(Read("type: patience, patience: 7, min_delta: 1e-3, grace_period: 3") ==
        patience);
  SchedulerOptions plateau = Rule(SchedulerKind::kPlateau);
  plateau.grace_period = 4;
  CHECK(Read("type: plateau") == plateau);
  plateau.std = 0.5;
  plateau.num_results = 9;
  plateau.metric_threshold = -1;
  CHECK(Read("type: plateau, std: 0.5, num_results: 9, metric_threshold: -1") ==
        plateau);
  SchedulerOptions target = Rule(SchedulerKind::kTarget, "step");
  target.target = 0.98;
  CHECK(Read("type: target, value: 0.98, time_attr: step") == target);
  CHECK(Contains(Errors(File("type: target")), "value: is missing"));
  CHECK(Contains(Errors(File("type: target, value: .nan")), "a finite number"));
  CHECK(Contains(Errors(File("type: target, value: 1, grace_period: 2")),
                 "has no effect with type target"));
  CHECK(Contains(Errors(File("type: patience, patience: 0")), "of at least 1"));
  CHECK(Contains(Errors(File("type: patience, min_delta: -1")), "of at least 0"));
  CHECK(Contains(Errors(File("type: plateau, std: 0")), "must be above 0"));
  CHECK(Contains(Errors(File("type: plateau, num_results: 1")), "from 2 to 10000"));
}

TEST_CASE("any joins rules that count in one time") {
  const SchedulerOptions any = Read(
      "type: any, time_attr: epoch, of: [{type: hyperband}, {type: "
      "median_stopping_rule, grace_period: 2}, {type: target, value: 1}]");
  CHECK(any.kind == SchedulerKind::kAny);
  CHECK(any.time_attr == "epoch");
  REQUIRE(any.of.size() == 3);
  CHECK(any.of[0] == SchedulerOptions{SchedulerKind::kAsha, "epoch", 81, 1, 3, 5});
  CHECK(any.of[1].kind == SchedulerKind::kMedian);
  CHECK(any.of[1].time_attr == "epoch");
  CHECK(any.of[2].target == 1);
  CHECK(Read("type: any, of: [{type: patience}, {type: median, time_attr: s}]")
            .time_attr == "s");
  CHECK(Read("type: any, of: [{type: patience}, {type: median}]").of[1].time_attr ==
        "training_iteration");
}

TEST_CASE("what any can not join") {
  const auto errors = [](const std::string& keys) {
    return Errors(File("type: any, " + keys));
  };
  CHECK(Contains(errors("time_attr: epoch"), "must be a list of rules"));
  CHECK(Contains(errors("of: []"), "must be a list of rules"));
  CHECK(Contains(errors("of: [patience]"), "of.0: must be a map"));
  CHECK(Contains(errors("of: [{type: fifo}]"), "fifo is no rule to join"));
  CHECK(Contains(errors("of: [{type: any, of: []}]"), "any is no rule to join"));
  CHECK(Contains(errors("of: [{type: pbt}]"), "is no rule to join"));
  CHECK(Contains(errors("of: [{type: patience, pacience: 2}]"),
                 "of.0.pacience: unknown key; did you mean patience?"));
  CHECK(Contains(errors("of: [{type: patience, max_t: 2}]"), "has no effect"));
  CHECK(Contains(errors("grace_period: 1, of: [{type: patience}]"),
                 "belongs to one of the rules"));
  CHECK(Contains(errors("time_attr: epoch, of: [{type: patience, time_attr: step}]"),
                 "all count in the same time"));
  CHECK(Contains(errors("of: [{type: asha, max_t: 9}, {type: hyperband}]"),
                 "of.1.max_t: is 81, and another rule has 9"));
}

TEST_CASE("each rule is written back as it was read") {
  for (const char* keys :
       {"type: hyperband, max_t: 20",
        "type: median_stopping_rule",
        "type: median, time_attr: epoch, min_samples_required: 9",
        "type: patience, min_delta: 0.1",
        "type: plateau, metric_threshold: 1e-300, std: 1e300",
        "type: target, value: -0.0",
        "type: any, of: [{type: asha}, {type: plateau}, {type: target, value: 3}]"}) {
    CAPTURE(std::string(keys));
    const SearchConfig config = Parse(File(keys));
    const SearchConfig again =
        ParseConfig(ResolvedJson(config), "search.yaml", "/elsewhere");
    CHECK(again.scheduler == config.scheduler);
    CHECK(ComparedSettings(again) == ComparedSettings(config));
    CHECK(ComparedSettings(config) != ComparedSettings(Parse(CommandFile())));
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt
