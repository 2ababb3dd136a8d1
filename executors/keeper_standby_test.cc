// Runs that stand by at a real keeper for the place of another.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "executors/internal/keeper_fixture.h"
#include "executors/keeper.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

// Ends once the file `go` is in its folder.
constexpr char kUntilGo[] = "echo $$ > pid; while [ ! -e go ]; do sleep 0.01; done";

void LetGo(const TestSweep& sweep, const RunKey& key) {
  WriteFileAtomically(sweep.DirOf(key) / "go", "", Durability::kProcess);
}

SpawnRun After(SpawnRun spawn, const RunKey& before) {
  spawn.after = before;
  return spawn;
}

void CheckGivenBack(const ExitInfo& info, Reason reason) {
  CHECK_FALSE(info.started);
  CHECK(info.error.empty());
  CHECK(info.asked == reason);
}

TEST_SUITE_BEGIN("keeper standby");

TEST_CASE("each starts when all of the one before it is gone") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  // What the first leaves behind still runs when its leader has ended.
  const std::string left = "(trap '' TERM; " + std::string(kUntilGo) +
                           ") & while [ ! -e pid ]; do sleep 0.01; done; exit 0";
  const SpawnRun first = sweep.Script(KeyOf(0), left);
  executor.Send(first);
  executor.Send(After(sweep.Script(KeyOf(1), "test -e ../../0/1/exit.json"), KeyOf(0)));
  executor.Send(After(sweep.Script(KeyOf(2), "exit 3"), KeyOf(1)));
  executor.AwaitStart(KeyOf(0));
  AwaitPid(sweep.DirOf(KeyOf(0)) / "pid");
  // A word and its answer: whoever was to start would have by now.
  executor.Send(sweep.Script(KeyOf(9), "exit 0"));
  executor.AwaitEnd(KeyOf(9));
  CHECK(executor.StartsOf(KeyOf(1)) == 0);
  LetGo(sweep, KeyOf(0));
  CHECK(executor.AwaitEnd(KeyOf(0)).exit_code == 0);
  CHECK(executor.AwaitEnd(KeyOf(1)).exit_code == 0);
  CHECK(executor.AwaitEnd(KeyOf(2)).exit_code == 3);
  for (const int trial : {0, 1, 2, 9}) executor.Send(ReleaseRun{KeyOf(trial)});
  executor.Shutdown();
}

TEST_CASE("behind an ended run it starts at once; one that fails to start makes room") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  executor.Send(sweep.Script(KeyOf(0), "exit 0"));
  executor.AwaitEnd(KeyOf(0));
  executor.Send(After(sweep.Script(KeyOf(1), kUntilGo), KeyOf(0)));
  executor.Send(After(sweep.Command(KeyOf(2), {"no-such-prog"}), KeyOf(1)));
  executor.Send(After(sweep.Script(KeyOf(3), "exit 0"), KeyOf(2)));
  executor.AwaitStart(KeyOf(1));
  LetGo(sweep, KeyOf(1));
  CHECK_FALSE(executor.AwaitEnd(KeyOf(2)).started);
  CHECK(executor.AwaitEnd(KeyOf(3)).exit_code == 0);
  for (const int trial : {0, 1, 2, 3}) executor.Send(ReleaseRun{KeyOf(trial)});
  executor.Shutdown();
}

TEST_CASE("behind nobody, and where another stands, it is given back") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  executor.Send(After(sweep.Script(KeyOf(1), "exit 0"), KeyOf(0)));
  CheckGivenBack(executor.AwaitEnd(KeyOf(1)), Reason::kPreempted);
  executor.Send(sweep.Script(KeyOf(2), kUntilGo));
  executor.AwaitStart(KeyOf(2));
  executor.Send(After(sweep.Script(KeyOf(3), "exit 0"), KeyOf(2)));
  executor.Send(After(sweep.Script(KeyOf(4), "exit 0"), KeyOf(2)));
  CheckGivenBack(executor.AwaitEnd(KeyOf(4)), Reason::kPreempted);
  CHECK_FALSE(executor.HasEnded(KeyOf(3)));
  LetGo(sweep, KeyOf(2));
  CHECK(executor.AwaitEnd(KeyOf(3)).exit_code == 0);
  for (const int trial : {2, 3}) executor.Send(ReleaseRun{KeyOf(trial)});
  executor.Shutdown();
}

TEST_CASE("a stop ends who stands by; a recall leaves who runs alone") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  executor.Send(sweep.Script(KeyOf(0), kUntilGo));
  executor.Send(After(sweep.Script(KeyOf(1), "exit 1"), KeyOf(0)));
  executor.Send(After(sweep.Script(KeyOf(2), "exit 2"), KeyOf(1)));
  executor.Send(After(sweep.Script(KeyOf(3), "exit 0"), KeyOf(2)));
  executor.AwaitStart(KeyOf(0));
  executor.Send(StopRun{KeyOf(0), Reason::kPreempted, 0, true});
  executor.Send(StopRun{KeyOf(1), Reason::kPreempted, 0, true});
  executor.Send(StopRun{KeyOf(2), Reason::kUser, 0, false});
  CheckGivenBack(executor.AwaitEnd(KeyOf(1)), Reason::kPreempted);
  CheckGivenBack(executor.AwaitEnd(KeyOf(2)), Reason::kUser);
  CHECK_FALSE(fs::exists(sweep.DirOf(KeyOf(2)) / "exit.json"));
  LetGo(sweep, KeyOf(0));
  const ExitInfo info = executor.AwaitEnd(KeyOf(0));
  CHECK(info.exit_code == 0);
  CHECK_FALSE(info.asked.has_value());
  CHECK(executor.AwaitEnd(KeyOf(3)).exit_code == 0);
  for (const int trial : {0, 3}) executor.Send(ReleaseRun{KeyOf(trial)});
  executor.Shutdown();
}

TEST_CASE("who stands by does not outlive its executor") {
  const TestSweep sweep;
  {
    TestExecutor executor(sweep);
    executor.Send(sweep.Script(KeyOf(0), kUntilGo));
    executor.Send(After(sweep.Script(KeyOf(1), "exit 0"), KeyOf(0)));
    executor.AwaitStart(KeyOf(0));
  }
  TestExecutor next(sweep);
  REQUIRE(next.hello().holdings.size() == 1);
  CHECK(next.hello().holdings[0].key == KeyOf(0));
  LetGo(sweep, KeyOf(0));
  next.AwaitEnd(KeyOf(0));
  // It may be launched anew.
  CHECK(next.Run(sweep.Script(KeyOf(1), "exit 4")).exit_code == 4);
  CHECK(next.StartsOf(KeyOf(1)) == 1);
  next.Send(ReleaseRun{KeyOf(0)});
  next.Shutdown();
}

}  // namespace
}  // namespace hyperopt
