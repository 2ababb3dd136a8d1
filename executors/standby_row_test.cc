#include "executors/standby_row.h"

#include <doctest/doctest.h>

namespace hyperopt {
namespace {

RunKey Key(int64_t trial) { return {TrialId(trial), RunId(0), Attempt(1)}; }

TEST_CASE("a place goes down its row, one after another") {
  StandbyRow row;
  CHECK(row.Add(Key(1), Key(0)));
  CHECK(row.Add(Key(2), Key(1)));
  CHECK_FALSE(row.Add(Key(3), Key(0)));  // promised
  CHECK_FALSE(row.Add(Key(2), Key(7)));  // it waits already
  CHECK(row.size() == 2);
  CHECK(row.Before(Key(2)) == Key(1));
  CHECK(row.Free(Key(0)) == Key(1));
  CHECK_FALSE(row.Waits(Key(1)));
  CHECK(row.Free(Key(0)) == std::nullopt);
  CHECK(row.Free(Key(1)) == Key(2));
  CHECK(row.empty());
}

TEST_CASE("who leaves the row hands on the one it stood behind") {
  StandbyRow row;
  row.Add(Key(1), Key(0));
  row.Add(Key(2), Key(1));
  row.Add(Key(3), Key(2));
  CHECK(row.Leave(Key(2)) == Key(3));
  CHECK(row.Leave(Key(1)) == Key(3));
  CHECK(row.Before(Key(3)) == Key(0));
  CHECK(row.Leave(Key(1)) == std::nullopt);
  CHECK(row.Free(Key(0)) == Key(3));
  CHECK(row.Add(Key(4), Key(3)));
  CHECK(row.Leave(Key(4)) == std::nullopt);
  CHECK(row.empty());
}

}  // namespace
}  // namespace hyperopt
