// kill -9 of executor and keeper, at points with names.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

#include "executors/device_lease.h"
#include "executors/internal/keeper_fixture.h"
#include "executors/keeper.h"
#include "trial/errors.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

// Runs `life` as the executor in a process of its own, which ends by SIGKILL.
void DieAsExecutor(const TestSweep& sweep,
                   const std::function<void(TestExecutor&)>& life) {
  const pid_t pid = fork();
  if (pid == 0) {
    TestExecutor executor(sweep);
    life(executor);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  REQUIRE(waitpid(pid, &status, 0) == pid);
  REQUIRE(WTERMSIG(status) == SIGKILL);
}

// A keeper that kills itself at the point.
class WithFailpoint {
 public:
  explicit WithFailpoint(const char* name) { setenv("HYPEROPT_FAILPOINT", name, 1); }
  ~WithFailpoint() { unsetenv("HYPEROPT_FAILPOINT"); }
  WithFailpoint(const WithFailpoint&) = delete;
  WithFailpoint& operator=(const WithFailpoint&) = delete;
};

bool HasNoChildren() {
  ReapOrphans();
  return waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD;
}

TEST_SUITE_BEGIN("keeper death");

TEST_CASE("a lease lasts as long as the run, whatever becomes of the executor") {
  const TestSweep sweep;
  const fs::path root = sweep.folder() / "leases";
  fs::create_directory(root);
  DieAsExecutor(sweep, [&](TestExecutor& executor) {
    const auto lease = TryLease(root, "GPU-1", Share::Whole(1), "us");
    SpawnRun spawn =
        sweep.Script(KeyOf(0), "while [ ! -e go ]; do sleep 0.01; done; exit 0");
    spawn.leases = {lease->path().native(), (root / "gone").native()};
    executor.Send(spawn);
    executor.AwaitStart(KeyOf(0));
  });
  TestExecutor next(sweep);
  CHECK(Holders(root, "GPU-1") == "1 by us");
  CHECK_FALSE(TryLease(root, "GPU-1", Share::Of(0.1), "another"));
  WriteFileAtomically(sweep.DirOf(KeyOf(0)) / "go", "", Durability::kProcess);
  CHECK(next.AwaitEnd(KeyOf(0)).exit_code == 0);
  CHECK(TryLease(root, "GPU-1", Share::Whole(1), "another"));
  next.Send(ReleaseRun{KeyOf(0)});
  next.Shutdown();
}

TEST_CASE("the next executor takes over the runs of a killed one") {
  const TestSweep sweep;
  const SpawnRun spawn = sweep.Script(KeyOf(0), "echo $$ >pid; read x <go; exit 6");
  REQUIRE(std::system(("mkfifo '" + spawn.dir + "/go'").c_str()) == 0);
  DieAsExecutor(sweep, [&](TestExecutor& executor) {
    executor.Run(sweep.Command(KeyOf(1), {"true"}));
    executor.Send(sweep.Command(KeyOf(2), {"false"}));
    executor.AwaitEnd(KeyOf(2));
    executor.Send(spawn);
    executor.AwaitStart(KeyOf(0));
  });
  const pid_t keeper = sweep.KeeperPid();
  TestExecutor executor(sweep);
  CHECK(executor.hello().pid == keeper);
  CHECK(executor.hello().holdings ==
        std::vector<Holding>{{KeyOf(0), HoldState::kRunning},
                             {KeyOf(2), HoldState::kEnded}});
  CHECK(executor.hello().dirs.at(KeyOf(0)) == spawn.dir);
  CHECK(executor.hello().running_s.at(KeyOf(0)) >= 0);
  // The end that nobody had released is told again.
  CHECK(executor.AwaitEnd(KeyOf(2)).exit_code == 1);
  AwaitPid(fs::path(spawn.dir) / "pid");
  REQUIRE(std::system(("echo go >'" + spawn.dir + "/go'").c_str()) == 0);
  CHECK(executor.AwaitEnd(KeyOf(0)).exit_code == 6);
  executor.Send(ReleaseRun{KeyOf(0)});
  executor.Send(ReleaseRun{KeyOf(2)});
  executor.Shutdown();
}

TEST_CASE("alone for too long, a keeper interrupts its runs and leaves") {
  const TestSweep sweep;
  DieAsExecutor(sweep, [&](TestExecutor& executor) {
    executor.Send(KeeperSettings{0.05, 0.05, LostPolicy::kStop});
    executor.Send(sweep.Script(KeyOf(0), "trap '' TERM; while :; do sleep 0.01; done"));
    executor.AwaitStart(KeyOf(0));
  });
  REQUIRE(WaitUntil([&] { return !sweep.KeeperLives(); }));
  const auto info = ReadExitJson(sweep.DirOf(KeyOf(0)));
  REQUIRE(info.has_value());
  CHECK(info->asked == Reason::kInterrupted);
  CHECK(fs::exists(sweep.DirOf(KeyOf(0)) / "stop.json"));
  CHECK_FALSE(fs::exists(sweep.folder() / "keeper.sock"));
}

TEST_CASE("the socket of a killed keeper goes, that of a living one stays") {
  const TestSweep sweep;
  const fs::path socket = sweep.folder() / "keeper.sock";
  RemoveDeadKeepersSocket(sweep.folder());  // nothing there
  DieAsExecutor(sweep, [&](TestExecutor& executor) {
    executor.Send(sweep.Script(KeyOf(0), "exec sleep 60"));
    executor.AwaitStart(KeyOf(0));
    RemoveDeadKeepersSocket(sweep.folder());
    if (!fs::exists(socket)) _exit(1);
    kill(sweep.KeeperPid(), SIGKILL);
  });
  REQUIRE(WaitUntil([&] { return !sweep.KeeperLives(); }));
  REQUIRE(fs::exists(socket));
  RemoveDeadKeepersSocket(sweep.folder());
  CHECK_FALSE(fs::exists(socket));
}

TEST_CASE("with `finish` it lets them end, then leaves") {
  const TestSweep sweep;
  DieAsExecutor(sweep, [&](TestExecutor& executor) {
    executor.Send(KeeperSettings{0, 0, LostPolicy::kFinish});
    executor.Send(sweep.Script(KeyOf(0), "sleep 0.3; exit 2"));
    executor.AwaitStart(KeyOf(0));
  });
  REQUIRE(WaitUntil([&] { return !sweep.KeeperLives(); }));
  CHECK(ReadExitJson(sweep.DirOf(KeyOf(0)))->exit_code == 2);
}

TEST_CASE("without a living run a keeper does not wait for an executor") {
  const TestSweep sweep;
  DieAsExecutor(sweep, [&](TestExecutor& executor) {
    executor.Send(sweep.Command(KeyOf(0), {"true"}));
    executor.AwaitEnd(KeyOf(0));
  });
  REQUIRE(WaitUntil([&] { return !sweep.KeeperLives(); }));
  CHECK(ReadExitJson(sweep.DirOf(KeyOf(0)))->exit_code == 0);
  TestExecutor executor(sweep);
  CHECK(executor.hello().holdings.empty());
  executor.Shutdown();
}

TEST_CASE("what an executor asked for with its last breath is done") {
  const TestSweep sweep;
  DieAsExecutor(sweep, [&](TestExecutor& executor) {
    executor.Send(sweep.Script(KeyOf(0), "echo $$ >pid; exec sleep 1000"));
  });
  AwaitPid(sweep.DirOf(KeyOf(0)) / "pid");
  TestExecutor executor(sweep);
  CHECK(executor.hello().holdings.size() == 1);
  executor.Send(StopRun{KeyOf(0), Reason::kUser, 30});
  CHECK(executor.AwaitEnd(KeyOf(0)).signal == SIGTERM);
  executor.Send(ReleaseRun{KeyOf(0)});
  executor.Shutdown();
}

TEST_CASE("a new executor replaces the one before it") {
  const TestSweep sweep;
  TestExecutor first(sweep);
  TestExecutor second(sweep);
  CHECK(second.hello().pid == first.hello().pid);
  first.AwaitGone();
  CHECK(first.gone());
  CHECK(second.Run(sweep.Command(KeyOf(0), {"true"})).exit_code == 0);
  second.Shutdown();
}

TEST_CASE("a keeper of another sweep is not adopted") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  CHECK_THROWS_AS((void)StartOrAdoptKeeper({sweep.folder(), "other"}),
                  EnvironmentError);
}

TEST_CASE("a killed keeper's runs are found by their token and killed") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  executor.Send(sweep.Script(
      KeyOf(0),
      "setsid sh -c 'echo $$ >pid; exec sleep 1000' & env -i setsid /bin/sh -c 'echo "
      "$$ >pid2; exec /bin/sleep 1000' & while :; do sleep 0.01; done"));
  executor.Send(sweep.Script(KeyOf(1), "echo $$ >pid; exec sleep 1000"));
  const pid_t leader = executor.AwaitStart(KeyOf(0)).at(0);
  const fs::path dir = sweep.DirOf(KeyOf(0));
  const pid_t outside = AwaitPid(dir / "pid");
  const pid_t bare = AwaitPid(dir / "pid2");
  const pid_t other = AwaitPid(sweep.DirOf(KeyOf(1)) / "pid");
  // As long as the keeper lives, they are its own.
  CHECK(KillLeftovers(sweep.id()) == 0);
  kill(executor.hello().pid, SIGKILL);
  executor.AwaitGone();
  CHECK(executor.gone());
  CHECK(KillLeftovers("another-sweep") == 0);
  CHECK(IsRunning(leader));
  CHECK(KillLeftovers(sweep.id(), KeyOf(0)) >= 3);
  CHECK_FALSE(IsRunning(leader));
  CHECK_FALSE(IsRunning(outside));
  CHECK_FALSE(IsRunning(bare));
  CHECK(IsRunning(other));
  CHECK(KillLeftovers(sweep.id()) == 1);
  CHECK_FALSE(IsRunning(other));
  CHECK(HasNoChildren());
  CHECK_FALSE(sweep.KeeperLives());
}

TEST_CASE("trial 1 is not taken for trial 11") {
  const TestSweep sweep;
  TestExecutor executor(sweep);
  executor.Send(sweep.Script(KeyOf(11), "echo $$ >pid; exec sleep 1000"));
  const pid_t pid = AwaitPid(sweep.DirOf(KeyOf(11)) / "pid");
  kill(executor.hello().pid, SIGKILL);
  executor.AwaitGone();
  CHECK(KillLeftovers(sweep.id(), KeyOf(1)) == 0);
  CHECK(IsRunning(pid));
}

TEST_CASE("a keeper killed between spawn and its word leaves a rank that is found") {
  const TestSweep sweep;
  const WithFailpoint point("keeper.after_spawn@1");
  TestExecutor executor(sweep);
  executor.Send(sweep.Script(KeyOf(0), "exec sleep 1000"));
  executor.AwaitGone();
  CHECK(executor.StartsOf(KeyOf(0)) == 0);
  CHECK(KillLeftovers(sweep.id()) == 1);
  CHECK(HasNoChildren());
  CHECK_FALSE(ReadExitJson(sweep.DirOf(KeyOf(0))).has_value());
}

TEST_CASE("a keeper killed before a spawn started nothing") {
  const TestSweep sweep;
  const WithFailpoint point("keeper.before_spawn@2");
  TestExecutor executor(sweep);
  CHECK(executor.Run(sweep.Command(KeyOf(0), {"true"})).exit_code == 0);
  executor.Send(sweep.Script(KeyOf(1), "echo $$ >pid; exec sleep 1000"));
  executor.AwaitGone();
  CHECK(KillLeftovers(sweep.id()) == 0);
  CHECK_FALSE(fs::exists(sweep.DirOf(KeyOf(1)) / "pid"));
  CHECK(HasNoChildren());
}

TEST_CASE("around exit.json: either it is there, or the end is unknown") {
  const TestSweep sweep;
  SUBCASE("before") {
    const WithFailpoint point("keeper.before_exit_json");
    TestExecutor executor(sweep);
    executor.Send(sweep.Command(KeyOf(0), {"true"}));
    executor.AwaitGone();
    CHECK_FALSE(ReadExitJson(sweep.DirOf(KeyOf(0))).has_value());
  }
  SUBCASE("after") {
    const WithFailpoint point("keeper.after_exit_json");
    TestExecutor executor(sweep);
    executor.Send(sweep.Command(KeyOf(0), {"true"}));
    executor.AwaitGone();
    CHECK_FALSE(executor.HasEnded(KeyOf(0)));
    CHECK(ReadExitJson(sweep.DirOf(KeyOf(0)))->exit_code == 0);
  }
  CHECK(KillLeftovers(sweep.id()) == 0);
  CHECK(HasNoChildren());
}

TEST_CASE("a keeper killed between stop.json and the signal") {
  const TestSweep sweep;
  const WithFailpoint point("keeper.after_stop_json");
  TestExecutor executor(sweep);
  executor.Send(sweep.Script(KeyOf(0), "echo $$ >pid; exec sleep 1000"));
  const pid_t pid = AwaitPid(sweep.DirOf(KeyOf(0)) / "pid");
  executor.Send(StopRun{KeyOf(0), Reason::kPruned, 30});
  executor.AwaitGone();
  CHECK(IsRunning(pid));
  CHECK(fs::exists(sweep.DirOf(KeyOf(0)) / "stop.json"));
  CHECK(KillLeftovers(sweep.id()) == 1);
  CHECK(HasNoChildren());
}

TEST_CASE("executor and keeper both killed: the next executor finds the rest") {
  const TestSweep sweep;
  DieAsExecutor(sweep, [&](TestExecutor& executor) {
    executor.Send(sweep.Script(KeyOf(0), "echo $$ >pid; exec sleep 1000"));
    AwaitPid(sweep.DirOf(KeyOf(0)) / "pid");
    kill(executor.hello().pid, SIGKILL);
    executor.AwaitGone();
  });
  const pid_t pid = AwaitPid(sweep.DirOf(KeyOf(0)) / "pid");
  CHECK(IsRunning(pid));
  TestExecutor executor(sweep);
  CHECK(executor.hello().holdings.empty());
  CHECK(KillLeftovers(sweep.id()) == 1);
  CHECK_FALSE(IsRunning(pid));
  // The new keeper was spared.
  CHECK(executor.Run(sweep.Command(KeyOf(1), {"true"})).exit_code == 0);
  executor.Shutdown();
}

TEST_CASE("a keeper killed while it spawns leaves nothing that is not found") {
  for (int round = 0; round < 8; ++round) {
    const TestSweep sweep;
    TestExecutor executor(sweep);
    constexpr int kRuns = 12;
    for (int trial = 0; trial < kRuns; ++trial) {
      executor.Send(sweep.Command(KeyOf(trial), {"sleep", "1000"}));
    }
    executor.AwaitStart(KeyOf(round));
    kill(executor.hello().pid, SIGKILL);
    executor.AwaitGone();
    CHECK(KillLeftovers(sweep.id()) > round);
    CHECK(HasNoChildren());
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt
