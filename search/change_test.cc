// A sweep that is changed while it lives: the controller's part, the limits, the
// proposals that stay as they were.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "search/change_json.h"
#include "search/change_request.h"
#include "search/commands/verify.h"
#include "search/limits.h"
#include "search/live_settings.h"
#include "search/proposals.h"
#include "search/requests.h"
#include "search/testing/played_sweep.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

using testing::CommandFile;
using testing::PlayedSweep;
using testing::ScriptedTrial;

const std::string kFour =
    "  search_alg: {type: random}\n"
    "  executor: {num_samples: 4, max_concurrent_trials: 2}\n";

ScriptedTrial Steady(TrialId, const Params& params) {
  const double lr = std::get<double>(params.at("lr"));
  return {{lr, lr, lr}};
}

std::string AddOne(PlayedSweep& sweep, double lr, const std::string& token) {
  return sweep.controller().Change({token, AddTrials{{{{"lr", lr}}}}}, sweep.now());
}

std::vector<double> Proposed(const PlayedSweep& sweep) {
  std::vector<double> values;
  const RecordedSweep record = sweep.Record();
  for (const TrialRow& row : record.record.trials) {
    const TrialId id[] = {row.id};
    if (IsGiven(row)) continue;
    values.push_back(std::get<double>(record.store->LoadParams(id).front().at("lr")));
  }
  return values;
}

TEST_CASE("add: given trials run next, take no sample and change no proposal") {
  PlayedSweep plain(CommandFile(kFour), Steady);
  plain.PlayToEnd();
  PlayedSweep sweep(CommandFile(kFour), Steady);
  sweep.Step();
  CHECK(AddOne(sweep, 0.5, "a") == "added: trial 2");
  CHECK(sweep.controller().Counts().planned == 5);
  sweep.PlayToEnd();
  CHECK(sweep.controller().Counts().completed == 5);
  CHECK(Proposed(sweep) == Proposed(plain));
  CHECK(VerifySweep(sweep.Record(), 20).empty());
  sweep.controller().CheckInvariants();
}

TEST_CASE("add: a token is done once, also by the next life of the controller") {
  PlayedSweep sweep(CommandFile(kFour), Steady);
  sweep.Step();
  const std::string answer = AddOne(sweep, 0.5, "a");
  CHECK(AddOne(sweep, 0.5, "a") == answer);
  CHECK(sweep.controller().Counts().planned == 5);
  sweep.Step();
  ControllerStart start;
  start.record = *sweep.store().Load();
  const auto sampler = MakeSampler(sweep.config().space, sweep.config().sampler);
  const auto scheduler = MakeScheduler({}, Goal::kMinimize, 1);
  for (const TrialRow& row : start.record.trials) {
    const TrialId id[] = {row.id};
    start.params[row.id] = sweep.store().LoadParams(id).front();
  }
  Controller next(sweep.config(), *sampler, *scheduler, std::move(start), sweep.now());
  CHECK(next.Change({"a", AddTrials{{{{"lr", 0.5}}}}}, sweep.now()) == answer);
  CHECK(next.Counts().planned == 5);
  CHECK(next.Change({"b", AddTrials{{{{"lr", 0.5}}}}}, sweep.now()) != answer);
  CHECK(next.Counts().planned == 6);
}

TEST_CASE("add: of several one wrong adds none") {
  PlayedSweep sweep(CommandFile(kFour), Steady);
  const AddTrials add{{{{"lr", 0.5}}, {{"rate", 0.5}}}};
  CHECK_THROWS_WITH_AS(
      sweep.controller().Change({"a", add}, sweep.now()),
      doctest::Contains("the 2. of 2: the search has no parameter rate"),
      ConfigError);
  CHECK(sweep.controller().trials().empty());
}

TEST_CASE("given values: types are checked, ranges are said") {
  const SearchSpace space({{"rate", FloatDomain{}},
                           {"layers", IntDomain{.lower = 1, .upper = 4}},
                           {"name", CategoricalDomain{{std::string("a"), true}}}});
  std::vector<std::string> notes;
  const auto check = [&](const Params& params) {
    notes.clear();
    return CheckGiven(space, params, &notes);
  };
  CHECK(check({{"rate", int64_t{1}}}) == Params{{"rate", 1.0}});
  CHECK(check({{"layers", 3.0}}) == Params{{"layers", int64_t{3}}});
  CHECK(notes.empty());
  CHECK(check({{"layers", int64_t{9}}}).size() == 1);
  CHECK(notes.size() == 1);
  CHECK(check({{"name", std::string("b")}}).size() == 1);
  CHECK(notes.size() == 1);
  for (const Params& wrong : {Params{{"layers", 3.5}},
                              Params{{"rate", std::string("x")}},
                              Params{{"rate", NAN}},
                              Params{{"name", 2.5}},
                              Params{{"rate", std::monostate{}}}}) {
    CHECK_THROWS_AS(check(wrong), ConfigError);
  }
  const Params filled = FillGiven(space, {{"rate", 7.0}}, 1, TrialId(3));
  CHECK(filled.at("rate") == ParamValue(7.0));
  CHECK(filled == FillGiven(space, {{"rate", 7.0}}, 1, TrialId(3)));
  CHECK(filled.size() == 3);
  CHECK_FALSE(LiesWithin(space, filled));
}

TEST_CASE("stop: one that waits ends at once, one that runs when its end comes") {
  PlayedSweep sweep(CommandFile(kFour), Steady);
  sweep.Step();
  AddOne(sweep, 0.5, "a");
  const StopTrials stop{{TrialId(0), TrialId(2)}};
  CHECK(sweep.controller().Change({"b", stop}, sweep.now()) ==
        "trial 0 is told to stop, for good\ntrial 2 is stopped before it starts");
  sweep.PlayToEnd();
  for (int64_t id : {0, 2}) {
    const TrialRow& row = sweep.controller().trials()[static_cast<size_t>(id)];
    CHECK(row.state == TrialState::kStopped);
    CHECK(row.reason == Reason::kUser);
  }
  CHECK(sweep.controller().Counts().completed == 3);
  CHECK(VerifySweep(sweep.Record(), 20).empty());
}

TEST_CASE("pause: nothing new starts, and the sweep does not end") {
  PlayedSweep sweep(CommandFile(kFour), Steady);
  sweep.Step();
  sweep.controller().Change({"a", SetPaused{true}}, sweep.now());
  for (int i = 0; i < 20; ++i) sweep.Step();
  CHECK_FALSE(sweep.ended());
  CHECK(sweep.controller().Counts().completed == 2);
  CHECK(sweep.controller().WhatWaits().starts_with("paused"));
  CHECK(LiveSetting(sweep.store().Load()->sweep.settings, kLivePaused) == "true");
  sweep.controller().Change({"b", SetPaused{false}}, sweep.now());
  sweep.PlayToEnd();
  CHECK(sweep.controller().Counts().completed == 4);
}

std::string Ask(PlayedSweep& sweep,
                const std::string& request,
                const std::string& held = "") {
  std::vector<ControllerEvent> events;
  return AnswerRequest(request, sweep.controller(), sweep.now(), held, &events);
}

TEST_CASE("set: limits apply, hold, and give way to an edited file") {
  PlayedSweep sweep(CommandFile(kFour), Steady);
  sweep.Step();
  const std::string answer = Ask(
      sweep,
      R"({"op":"set","token":"a","limits":{"max_concurrent_trials":"1","num_samples":"3"}})");
  CHECK(answer.find("num_samples: 4 -> 3") != answer.npos);
  CHECK(sweep.controller().Counts().planned == 3);
  sweep.PlayToEnd();
  CHECK(sweep.controller().trials().size() == 3);
  SweepRow row = sweep.store().Load()->sweep;
  SearchConfig same = sweep.config();
  CHECK(ApplyLimits(&row, &same).empty());
  CHECK(same.sampler.num_samples == 3);
  CHECK(same.executor.max_concurrent_trials == 1);
  SearchConfig edited =
      testing::Parse(CommandFile("  search_alg: {type: random}\n  executor: "
                                 "{num_samples: 9, max_concurrent_trials: 2}\n"));
  CHECK(ApplyLimits(&row, &edited).size() == 1);
  CHECK(edited.sampler.num_samples == 9);
  CHECK(edited.executor.max_concurrent_trials == 1);
}

TEST_CASE("requests: a change while the record can not be written is refused") {
  PlayedSweep sweep(CommandFile(kFour), Steady);
  sweep.Step();
  const std::string add = R"({"op":"add","token":"a","params":[{"lr":0.5}]})";
  const auto held = OrderedJson::parse(Ask(sweep, add, "disk full"));
  CHECK(held.at("error").get<std::string>().find("disk full") != std::string::npos);
  CHECK(held.at("held") == "disk full");
  CHECK(OrderedJson::parse(Ask(sweep, R"({"op":"status"})", "disk full"))
            .contains("counts"));
  CHECK(sweep.controller().Counts().planned == 4);
  CHECK(OrderedJson::parse(Ask(sweep, add))["lines"][0] == "added: trial 2");
  for (const char* wrong : {R"({"op":"add"})",
                            R"({"op":"add","token":"x","params":3})",
                            R"({"op":"add","token":"","params":[{}]})",
                            R"({"op":"add","token":"x","params":[]})",
                            R"({"op":"add","token":"x","samples":0})",
                            R"({"op":"stop trials","token":"x","trials":["a"]})",
                            R"({"op":"pause","token":"x"})",
                            R"({"op":"set","token":"x","limits":{"metric":"y"}})",
                            R"({"op":"set","token":"x","limits":{"gpus":"-1"}})"}) {
    CAPTURE(wrong);
    CHECK(OrderedJson::parse(Ask(sweep, wrong)).contains("error"));
  }
}

TEST_CASE("proposals: skipped ones of a grid, and what is left") {
  Era era;
  era.first = 2;
  era.skipped = {0, 1, 4};
  ProposalCursor cursor(era);
  CHECK(cursor.next() == 2);
  CHECK(cursor.Left(6) == 3);
  cursor.Take();
  cursor.Take();
  CHECK(cursor.next() == 5);
  CHECK(cursor.Left(6) == 1);
  CHECK(cursor.Left(3) == 0);
  SweepRow sweep;
  AppendEra(era, &sweep);
  REQUIRE(ErasOf(sweep).size() == 2);
  CHECK(CurrentEra(sweep) == era);
  sweep.settings.begin()->second = "{";
  CHECK_THROWS_AS(ErasOf(sweep), EnvironmentError);
}

}  // namespace
}  // namespace hyperopt
