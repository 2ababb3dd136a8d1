// Schedulers that run a trial in pieces: ASHA's promotion mode, pbt.
#include <doctest/doctest.h>

#include "search/testing/config_text.h"

namespace hyperopt {
namespace {

using testing::CommandFile;
using testing::Contains;
using testing::Errors;
using testing::Has;
using testing::LudwigFile;
using testing::Parse;

std::string Scheduler(const std::string& keys) {
  return CommandFile("  executor: {scheduler: {" + keys + "}}\n");
}

void CheckReadsBack(const SearchConfig& config) {
  CHECK(Parse(ResolvedJson(config)).scheduler == config.scheduler);
}

TEST_SUITE_BEGIN("config pieces");

TEST_CASE("ASHA in promotion mode") {
  const SearchConfig config =
      Parse(Scheduler("type: asha, mode: promotion, max_t: 27, reduction_factor: 3"));
  CHECK(config.scheduler.promotion);
  CHECK(config.scheduler.pieces());
  CheckReadsBack(config);
  CHECK_FALSE(Parse(Scheduler("type: asha, mode: stopping")).scheduler.pieces());
  CHECK(Contains(Errors(Scheduler("type: asha, mode: promote")), "promotion"));
}

TEST_CASE("pbt, with Ray's keys") {
  const SearchConfig plain = Parse(Scheduler("type: pbt"));
  CHECK(plain.scheduler.kind == SchedulerKind::kPbt);
  CHECK(plain.scheduler.pbt == PbtOptions{});
  CHECK(plain.scheduler.pieces());
  const SearchConfig all = Parse(
      Scheduler("type: pbt, time_attr: step, max_t: 90, perturbation_interval: 9, "
                "burn_in_period: 18, quantile_fraction: 0.5, resample_probability: 0, "
                "perturbation_factors: [1.5, 0.5], hyperparam_mutations: {lr: null}, "
                "synch: false, log_config: true, require_attrs: true"));
  CHECK(all.scheduler.max_t == 90);
  CHECK(all.scheduler.pbt == PbtOptions{9, 18, 0.5, 0, {1.5, 0.5}, {"lr"}});
  CheckReadsBack(all);
  CHECK(all.notes.size() == plain.notes.size());
  const SearchConfig rays =
      Parse(Scheduler("type: pbt, hyperparam_mutations: {lr: [0.1, 0.2]}"));
  CHECK(
      Has(rays.notes, "what a parameter may become is what hyperopt.parameters says"));
  CHECK(Parse(Scheduler("type: pbt, hyperparam_mutations: [lr]"))
            .scheduler.pbt.mutations == std::vector<std::string>{"lr"});
}

TEST_CASE("what pbt can not be") {
  const auto errors = [](const std::string& keys) {
    return Errors(Scheduler("type: pbt, " + keys));
  };
  CHECK(Contains(errors("perturbation_interval: 100"),
                 "no trial would ever be compared"));
  CHECK(
      Contains(errors("max_t: 9000000, perturbation_interval: 1"), "at most 1000000"));
  CHECK(Contains(errors("quantile_fraction: 0.6"), "quantile_fraction"));
  CHECK(Contains(errors("perturbation_factors: [1.2]"), "two numbers above 0"));
  CHECK(Contains(errors("perturbation_factors: [1.2, 0]"), "two numbers above 0"));
  CHECK(Contains(errors("hyperparam_mutations: {lrr: [1]}"), "did you mean lr?"));
  CHECK(Contains(errors("hyperparam_mutations: 3"), "as a list or a map"));
  CHECK(Contains(errors("synch: true"), "leave synch out"));
  CHECK(Contains(errors("grace_period: 2"), "has no effect with type pbt"));
  CHECK(Contains(errors("custom_explore_fn: f"), "there is no Python here"));
}

TEST_CASE("the built-in trainer's budget is one of epochs") {
  for (const char* type : {"asha, mode: promotion", "pbt"}) {
    CHECK(Contains(
        Errors(LudwigFile("  executor: {scheduler: {type: " + std::string(type) +
                          ", time_attr: time_total_s}}\n")),
        "runs to a budget of epochs"));
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt
