#include "trial/record_query.h"

#include <doctest/doctest.h>

#include "trial/errors.h"
#include "trial/testing/sample_record.h"
#include "trial/testing/store_folder.h"

namespace hyperopt {
namespace {

TEST_SUITE_BEGIN("record query");

TEST_CASE("one trial's rows are what the whole record holds of it") {
  const StoreFolder folder;
  const auto path = folder.path() / "sweep.db";
  const auto store = OpenSqliteStore(path, StoreMode::kCreate);
  std::vector<RecordChange> changes = SampleChanges();
  TrialRow odd = SampleTrial(0);
  odd.state = TrialState::kFailed;
  odd.reason = Reason::kExitCode;
  odd.detail = "exit code 3";
  odd.stopping = Reason::kPruned;
  odd.best = Objective::Of(-0.5);
  odd.best_step = 7;
  odd.last = Objective::Of(1.0 / 0.0);
  odd.reports = 9;
  odd.elapsed_s = 1.5;
  odd.started = 2;
  odd.ended = 3;
  odd.history = 0;
  changes.push_back(PutTrial{odd});
  for (int rung = 2; rung >= 0; --rung) {
    RungRow row;
    row.trial = TrialId(0);
    row.rung = rung;
    row.level = 3 * rung;
    row.value = rung == 0 ? Objective::Missing() : Objective::Of(rung);
    row.time = rung;
    row.late = rung == 1;
    row.stopped = rung == 2;
    changes.push_back(PutRung{row});
  }
  store->Commit(changes);

  const RecordQuery query(path);
  const auto whole = store->Load();
  REQUIRE(whole);
  CHECK(query.TrialCount() == std::ssize(whole->trials));
  CHECK(query.Trial(TrialId(0)) == odd);
  CHECK_FALSE(query.Trial(TrialId(whole->trials.size())));
  CHECK_FALSE(query.Trial(TrialId(-1)));
  const auto rungs = query.Rungs(TrialId(0));
  REQUIRE(rungs.size() == 3);
  CHECK(rungs[0].value.missing());
  CHECK(rungs[1].late);
  CHECK(rungs[2].stopped);
  CHECK(rungs[2].level == 6);
  CHECK(query.Executor(ExecutorId(1))->host == "node1");
  CHECK_FALSE(query.Executor(ExecutorId(9)));
  const auto sweep = query.Sweep();
  REQUIRE(sweep);
  CHECK(sweep->metric == "accuracy");
  CHECK(sweep->goal == Goal::kMaximize);
  CHECK(sweep->resolved == SampleSweep().resolved);
  CHECK(sweep->origin.at("user") == "ada");
}

TEST_CASE("what is no record is told as the store tells it") {
  const StoreFolder folder;
  CHECK_THROWS_AS(RecordQuery(folder.path() / "sweep.db"), EnvironmentError);
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt
