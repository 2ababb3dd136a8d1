// A whole sweep in one process on simulated time: the real controller and the real
// executors (their state machines), a memory store, and simulated keepers, trials and a
// network that loses, repeats and delays frames. Every frame goes through the real
// codec.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <vector>

#include "executors/executor.h"
#include "search/controller.h"
#include "trial/rng.h"
#include "trial/store.h"

namespace hyperopt::simulation {

struct Faults {
  double drop = 0;    // probability of a lost frame, each direction
  double repeat = 0;  // of a frame that comes twice
  double late = 0;    // of a frame that comes up to 3 s late (and out of order)
  double crash_controller_every_s = 0;  // mean; 0 = never
  double crash_executor_every_s = 0;    // executor alone: its keeper keeps the ranks
  double crash_node_every_s = 0;        // executor, keeper and ranks at once
  double commit_fails = 0;              // probability that a commit throws
  double drop_second = 0;               // of a lost frame of the second source
  double crash_at_commit = 0;  // probability that the controller dies just before one
  double crash_after_commit = 0;  // or between a commit and its sends
  double partition_every_s = 0;   // a node hears and says nothing for partition_s
  double partition_s = 40;
};

struct WorldOptions {
  SearchConfig config;
  int executors = 2;
  Resources resources;
  LostPolicy policy = LostPolicy::kStop;
  Faults faults;
  uint64_t seed = 1;
  // What a trial's attempt does: its reports (at which second, which line), its length
  // and its exit code. A function of the trial and the attempt.
  struct Script {
    std::vector<double> values;  // one report each `report_s`, of the field "loss"
    double report_s = 1;
    double length_s = 1;  // of an attempt that starts afresh
    int exit_code = 0;
    bool ignores_stop = false;
    bool second_source = false;   // each report also stands in a source of another name
    bool checkpoints = false;     // each report leaves one
    bool ignores_budget = false;  // trains on past what it was launched for
    bool kills_node = false;      // at its end, instead of it
  };
  std::function<Script(TrialId, Attempt)> script;
  int broken_node = -1;  // everything fails there at once
  bool check_invariants = true;
};

class World {
 public:
  explicit World(WorldOptions options);
  ~World();

  // Runs until the sweep ends or `most_s` of simulated time have passed; true where it
  // ended.
  bool Run(double most_s);
  void AskToStop(StopKind kind);
  // As a request of the command line. False where nobody takes it just now; whether it
  // is done is known from the record alone.
  bool Ask(const ChangeRequest& request);
  // A node hears and says nothing for so long.
  void Cut(int node, double seconds);
  // SIGTERM to a node's executor (a preemption): it gives back what it runs and leaves
  // for good.
  void Quit(int node);
  // kill -9 of a node's executor; its keeper keeps what runs.
  void KillExecutor(int node) { CrashNode(&nodes_[static_cast<size_t>(node)], false); }
  // kill -9 of the controller, and the same line at once.
  void RestartController() { StartController(); }
  // The user runs the same line again after an end: a new controller, executors started
  // anew.
  void RunAgain();
  // All of it stands still (SIGSTOP, a suspended machine).
  void StandStill(double seconds) { now_ += Seconds(seconds); }

  double seconds() const { return ToSeconds(now_.time_since_epoch()); }
  const std::optional<SweepEnd>& end() const { return end_; }
  TrialStore& store() { return *store_; }
  const Controller& controller() const { return *controller_; }
  int64_t controller_lives() const { return controller_lives_; }
  // How often each (trial, attempt) was started for real, on any node.
  const std::map<RunKey, int>& starts() const { return starts_; }
  int64_t frames_lost() const { return frames_lost_; }
  // Steps of the checkpoints that were not pruned, of every attempt.
  const std::map<RunKey, std::set<int64_t>>& checkpoints() const { return disk_; }
  // What each attempt was launched to run to; those without a budget are not in it.
  const std::map<RunKey, int64_t>& budgets() const { return budgets_; }
  const std::map<RunKey, uint64_t>& seeds() const { return seeds_; }
  // At most so many ran at once on one node.
  int64_t most_at_once() const { return most_at_once_; }
  void ForgetMost() { most_at_once_ = 0; }
  // Attempts that went on from a checkpoint.
  int64_t resumed() const { return resumed_; }

 private:
  // The life of one attempt's ranks; survives its executor.
  struct Process {
    RunKey key;
    std::string dir;
    WorldOptions::Script script;
    Time started;
    size_t first_step = 0;  // of the checkpoint it started from
    std::optional<int64_t> budget;
    size_t reported = 0;  // steps done
    std::optional<Time> kill_at;
    std::optional<Reason> asked;
    bool ended = false;
    ExitInfo info;
  };
  struct Report {
    int64_t end_offset;
    double value;
    int64_t step;
  };
  struct Node {
    std::string name;
    std::optional<ExecutorId> id;  // executor.id file
    std::string sweep_id;
    std::unique_ptr<Executor> executor;  // null while it is down
    int32_t pid = 0;
    int64_t life = 0;
    Time up_at;
    bool keeper_connected = false;
    bool left = false;
    Time cut_until;                    // partitioned
    std::map<RunKey, Process> keeper;  // what the keeper holds
    StandbyRow row;                    // who stands by there
    std::map<RunKey, Launch> waiting;
    // Report files, for ever, and how far they were read; by source.
    std::map<RunKey, std::map<std::string, std::vector<Report>>> files;
    std::map<RunKey, std::map<std::string, SourceOffset>> read;
    std::map<RunKey, ExitInfo> exit_files;  // exit.json
    std::set<RunKey> open;                  // followed
  };
  struct Flight {
    Time at;
    int64_t order;
    int node = 0;      // index
    int64_t life = 0;  // of the node (to it) or of the controller (from it)
    bool to_node = false;
    std::string bytes;
    bool operator>(const Flight& other) const {
      return std::tie(at, order) > std::tie(other.at, other.order);
    }
  };

  void StartController();
  void StartNode(Node* node);
  void CrashNode(Node* node, bool keeper_too);
  void MaybeCrash(double step_s);
  void Feed(Node* node, const ExecutorEvent& event);
  void Act(Node* node, const ExecutorAction& action);
  void StartProcess(Node* node, const Launch& launch);
  void StandBy(Node* node, const Launch& launch);
  void GiveBack(Node* node, const RunKey& key, Reason reason);
  void StopProcess(Node* node, const StopRun& stop);
  void Prune(const Committed& committed);
  RunDrained Drained(const RunKey& key) const;
  void Seek(Node* node, const RunKey& key, const std::vector<SourceOffset>& to);
  void StepProcesses(Node* node);
  void WriteReports(Node* node, Process* process, double done);
  void StepReaders(Node* node);
  void EndProcess(Node* node, Process* process, ExitInfo info);
  void TellExecutor(Node* node, const FromKeeper& message);
  void ReadAll(Node* node, const RunKey& key);
  void Post(int node, bool to_node, std::string bytes);
  void Deliver();
  void ControllerTurn();
  void SendAll(const std::vector<SendTo>& sends);
  void CrashController();
  std::string PeerOf(const Node& node) const;
  double Chance() { return rng_.Uniform(); }

  WorldOptions options_;
  Rng rng_;
  Time now_;
  std::unique_ptr<TrialStore> store_;
  std::unique_ptr<Sampler> sampler_;
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<Controller> controller_;
  int64_t controller_lives_ = 0;
  std::optional<Turn> held_;  // a turn whose commit failed
  std::deque<std::pair<std::string, FromExecutor>> inbox_;
  std::vector<Node> nodes_;
  std::priority_queue<Flight, std::vector<Flight>, std::greater<>> flights_;
  int64_t flight_order_ = 0;
  int64_t frames_lost_ = 0;
  Time controller_up_at_;
  std::optional<SweepEnd> end_;
  std::map<RunKey, int> starts_;
  std::map<RunKey, std::set<int64_t>> disk_;  // checkpoints, on a shared file system
  std::map<RunKey, int64_t> budgets_;
  std::map<RunKey, uint64_t> seeds_;
  int64_t resumed_ = 0;
  int64_t most_at_once_ = 0;
};

}  // namespace hyperopt::simulation
