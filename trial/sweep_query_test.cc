#include "trial/sweep_query.h"

#include <doctest/doctest.h>

#include <limits>

#include "trial/testing/sample_record.h"
#include "trial/testing/store_folder.h"

namespace hyperopt {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TrialRow Row(int64_t id, TrialState state, Objective best) {
  TrialRow row;
  row.id = TrialId(id);
  row.state = state;
  row.best = best;
  row.last = best;
  row.started = 100.0 - static_cast<double>(id);
  return row;
}

// 0: pending, 1: 0.5, 2: NaN, 3: 0.1 but failed, 4: 0.3 given by hand, 5: 0.5.
class Record {
 public:
  Record() {
    const auto store = OpenSqliteStore(path(), StoreMode::kCreate);
    std::vector<RecordChange> changes = {PutSweep{SampleSweep()}};
    std::vector<TrialRow> rows = {
        Row(0, TrialState::kPending, Objective::Missing()),
        Row(1, TrialState::kCompleted, Objective::Of(0.5)),
        Row(2, TrialState::kCompleted, Objective::Of(kNan)),
        Row(3, TrialState::kFailed, Objective::Of(0.1)),
        Row(4, TrialState::kStopped, Objective::Of(0.3)),
        Row(5, TrialState::kCompleted, Objective::Of(0.5)),
    };
    rows[4].history = -1;
    const std::vector<ParamValue> values = {
        int64_t{10}, 9.5, std::string("a"), int64_t{-3}, true};
    for (const TrialRow& row : rows) {
      changes.push_back(PutTrial{row});
      const auto at = static_cast<size_t>(row.id.value());
      if (at < values.size()) changes.push_back(PutParams{row.id, {{"x", values[at]}}});
    }
    store->Commit(changes);
  }
  std::filesystem::path path() const { return folder_.path() / "sweep.db"; }

 private:
  StoreFolder folder_;
};

std::vector<int64_t> Ids(const SweepQuery& query, const TrialsWanted& wanted) {
  std::vector<int64_t> ids;
  for (const TrialRow& row : query.Trials(wanted)) ids.push_back(row.id.value());
  return ids;
}
using List = std::vector<int64_t>;

}  // namespace

TEST_SUITE_BEGIN("sweep query");

TEST_CASE("the best first; NaN, missing and failed ones behind, whatever the goal") {
  const Record record;
  const SweepQuery query(record.path());
  TrialsWanted wanted;
  CHECK(Ids(query, wanted) == List{4, 1, 5, 0, 2, 3});
  wanted.turned = true;
  CHECK(Ids(query, wanted) == List{3, 0, 2, 1, 5, 4});
  wanted.turned = false;
  wanted.goal = Goal::kMaximize;
  wanted.order = TrialColumn::kLast;
  CHECK(Ids(query, wanted) == List{1, 5, 4, 0, 2, 3});
  wanted.only_ranked = true;
  wanted.limit = 2;
  CHECK(Ids(query, wanted) == List{1, 5});
}

TEST_CASE("by other columns, by a parameter, in a state") {
  const Record record;
  const SweepQuery query(record.path());
  TrialsWanted wanted;
  wanted.order = TrialColumn::kStarted;
  CHECK(Ids(query, wanted) == List{5, 4, 3, 2, 1, 0});
  wanted.order = TrialColumn::kState;
  CHECK(Ids(query, wanted) == List{0, 1, 2, 5, 4, 3});
  // true, numbers by size, texts, and the one without it.
  wanted.order = "x";
  CHECK(Ids(query, wanted) == List{4, 3, 1, 0, 2, 5});
  wanted.state = TrialState::kCompleted;
  CHECK(Ids(query, wanted) == List{1, 2, 5});
  wanted.order = TrialColumn::kId;
  wanted.turned = true;
  wanted.limit = 1;
  const std::vector<TrialRow> rows = query.Trials(wanted);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0] == Row(5, TrialState::kCompleted, Objective::Of(0.5)));
  CHECK(query.ParamsOf(rows) == std::vector<Params>{{}});
}

TEST_CASE("who waits is pending, in order and in what is asked for") {
  const Record record;
  const SweepQuery query(record.path());
  TrialsWanted wanted;
  wanted.order = TrialColumn::kState;
  wanted.waiting = {TrialId(2), TrialId(5)};
  CHECK(Ids(query, wanted) == List{0, 2, 5, 1, 4, 3});
  wanted.state = TrialState::kPending;
  CHECK(Ids(query, wanted) == List{0, 2, 5});
  wanted.order = "x";
  CHECK(Ids(query, wanted) == List{0, 2, 5});
  CHECK(query.Trials(wanted)[1].state == TrialState::kPending);
}

TEST_CASE("counts and the sweep itself") {
  const Record record;
  const SweepQuery query(record.path());
  CHECK(query.Counts() == std::map<TrialState, int64_t>{{TrialState::kPending, 1},
                                                        {TrialState::kCompleted, 3},
                                                        {TrialState::kStopped, 1},
                                                        {TrialState::kFailed, 1}});
  CHECK(query.CountProposed(0) == 5);
  CHECK(query.CountProposed(4) == 1);
  SweepRow sweep = SampleSweep();
  sweep.config.clear();
  sweep.seed = 0;
  CHECK(query.Sweep() == sweep);
}

TEST_SUITE_END();

}  // namespace hyperopt
