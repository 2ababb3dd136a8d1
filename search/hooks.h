// Runs what the search file's `hooks` name when something happens to a sweep.
//
//   on_best    a trial is better than all before
//   on_stuck   for executor.stuck_s nothing runs though trials wait, or no executor is
//              heard from, or the record can not be written; once each time
//   on_end     the sweep ended, well or not
//
// A hook gets one JSON object on its standard input: {"event": "best", "time", "host",
// "dir", "name", "state", "goal", "metric", "counts", "best": {"trial", "value",
// "step", "params"}, "why", ...}, the rest as `hyperopt status --json`. Its output goes
// to <dir>/hooks.log. It has 30 s and is then killed, with its process group; a group
// whose leader has ended is killed too, and a hook never outlives this process. One
// runs at a time, and at most one of each kind waits: the newest. Nothing here blocks
// or throws for what a hook does.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "search/config.h"
#include "search/controller.h"
#include "trial/clock.h"

namespace hyperopt {

class HookRunner {
 public:
  // `config_dir`: for ${config.dir} in the words.
  HookRunner(const SearchConfig& config,
             std::filesystem::path dir,
             std::filesystem::path config_dir);
  ~HookRunner();
  HookRunner(const HookRunner&) = delete;
  HookRunner& operator=(const HookRunner&) = delete;

  // After each turn's commit. Costs nothing where there are no hooks.
  void OnTurn(const Controller& controller, Now now);
  // While the record can not be written.
  void OnHeld(const Controller& controller, const std::string& why, Now now);
  void OnEnd(const Controller& controller, const SweepEnd& end, Now now);

  // Reaps, kills what has had its time, starts what waits.
  void Poll(Time now);
  bool idle() const { return pid_ == 0 && waiting_.empty(); }
  // After the end of the sweep: until all is done, or a signal comes to `signals_fd` (a
  // signalfd), or the hooks have had their time.
  void Finish(int signals_fd);
  // Ends what runs and forgets what waits.
  void Abandon();

 private:
  enum class Kind { kStuck, kBest, kEnd };

  void Wait(Kind kind, std::string event);
  void Start(Kind kind, const std::string& event, Time now);
  void Reap(Time now);
  const std::vector<std::string>& WordsOf(Kind kind) const;
  std::string EventText(const char* event,
                        const Controller& controller,
                        const std::string& why,
                        Now now) const;
  std::string StuckWhy(const Controller& controller, Now now);
  void NoteStuck(const Controller& controller, const std::string& why, Now now);
  void Log(const std::string& line) const;

  Hooks hooks_;
  const std::filesystem::path dir_;
  const std::filesystem::path config_dir_;
  const std::string sweep_name_;
  const double stuck_s_;
  std::map<Kind, std::string> waiting_;
  pid_t pid_ = 0;
  std::string running_;  // "on_best"
  Time started_;
  bool killed_ = false;
  std::optional<Time> next_best_;
  std::optional<TrialId> best_;
  Objective best_value_;
  bool began_ = false;
  std::optional<Time> stuck_since_;
  bool stuck_said_ = false;
};

}  // namespace hyperopt
