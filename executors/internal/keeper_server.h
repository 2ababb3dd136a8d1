// The keeper's process: its loop over executor, children and time.
#pragma once

#include <optional>
#include <string>

#include "executors/internal/keeper_wire.h"
#include "executors/internal/run_set.h"
#include "executors/keeper.h"
#include "trial/fs.h"

namespace hyperopt {

// What the keeper was born with.
struct KeeperBirth {
  std::string sweep_id;
  std::string socket_path;
  FileLock lock;
  UniqueFd listener;  // listens on socket_path
  UniqueFd executor;  // connected to the executor that forked it
};

class KeeperServer {
 public:
  // REQUIRES: one thread; all signals blocked (SignalsOfKeeper).
  explicit KeeperServer(KeeperBirth birth);
  // Until there is nothing left to keep.
  void Run();

 private:
  bool Done(Now now) const;
  struct Ready {
    bool children = false;
    bool newcomer = false;
    bool executor = false;
  };
  Ready Wait(Now now) const;
  void Accept(Now now);
  void CollectChildren();
  void ReadMessages(Now now);
  void Handle(ToKeeper& message, Now now);
  void SendNews(Now now);
  void Flush();
  void ForgetUnsent();
  void Welcome(Now now);
  void LoseExecutor(Now now);
  void WhileAlone(Now now);

  KeeperBirth birth_;
  UniqueFd signals_;
  UniqueFd executor_;
  FrameReader in_;
  std::string out_;
  std::optional<Time> flush_at_;  // what is in out_ can wait until then
  bool may_hold_ = true;          // nothing in it that a place waits for
  bool blocked_ = false;          // the executor's end takes no more for now
  RunSet runs_;
  KeeperSettings settings_;
  bool shutdown_ = false;
  std::optional<Time> alone_since_;
  bool stopped_all_ = false;
};

// Blocks every signal but those of a fault in this program: the keeper ends by its
// executor's word or absence only, and ranks start with all signals at their defaults.
void BlockSignalsOfKeeper();

}  // namespace hyperopt
