// What controller and executor say to each other. One variant a direction; MessagePack
// on the wire (codec.h). Sends get lost and repeated, so every message says a level,
// not an edge, or is idempotent.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "trial/ids.h"
#include "trial/measurement.h"
#include "trial/param_value.h"
#include "trial/read_source.h"
#include "trial/resources.h"
#include "trial/state.h"
#include "trial/surroundings.h"

namespace hyperopt {

// Raised whenever a message changes its meaning. A Hello of another version is refused.
inline constexpr int kProtocolVersion = 4;

// What an executor may give away.
struct Device {
  std::string id;  // as it goes into CUDA_VISIBLE_DEVICES: index, UUID or MIG name
  bool operator==(const Device&) const = default;
};
struct Resources {
  Share cpus;
  int64_t memory = 0;  // bytes
  std::vector<Device> devices;
  std::map<std::string, std::string> labels;
  bool operator==(const Resources&) const = default;
};

// What an executor does with its trials when the controller is silent.
enum class LostPolicy { kStop, kFinish };

enum class HoldState {
  kStarting,  // told to the keeper, not yet confirmed
  kRunning,
  kStopping,  // was told to stop
  kEnded,     // Exited was sent and is not acknowledged yet
};

// A run that an executor holds.
struct Holding {
  RunKey key;
  HoldState state = HoldState::kStarting;
  // kStarting: what it waits for ("device 0 is held by sweep x", "the place of trial
  // 3"), or ""
  std::string why;
  bool operator==(const Holding&) const = default;
};

// How an attempt ended, as the keeper saw it; exit.json holds the same.
struct ExitInfo {
  std::optional<int32_t>
      exit_code;  // of rank 0's leader; nullopt where a signal ended it
  std::optional<int32_t> signal;
  bool started = true;  // false: could not be started; `error` says why
  bool lost = false;    // nothing is known of its end
  std::string error;
  // Who asked for the end, where someone did: the reason in stop.json that came first.
  std::optional<Reason> asked;
  bool wall_limit = false;     // ended since it ran longer than a trial may
  bool host_memory = false;    // the kernel's OOM killer, as far as it can be told
  bool device_memory = false;  // its stderr says so
  double wall_s = 0;           // from spawn to the end of the last descendant
  int64_t peak_memory = 0;     // bytes, largest leader; 0 where not known
  double ended_wall = 0;       // seconds since the epoch
  std::string last_words;      // the end of stderr, up to 2 KiB, for failures
};

// ---- controller to executor ----

// What all trials of a sweep share. Sent once, in the welcome.
struct SweepSpec {
  std::string sweep_id;
  std::string name;
  std::string sweep_dir;  // as the controller sees it, absolute
  std::string config_dir;
  std::vector<std::string> command;  // templates; the built-in trainer is a command too
  std::string model;  // JSON; merged with parameters into $HYPEROPT_CONFIG
  std::vector<std::string> parameter_order;  // for merging and ${args}
  std::map<std::string, std::optional<std::string>> arg_names;
  std::string workdir;                     // absolute folder, or "" for the trial's own
  std::map<std::string, std::string> env;  // templates
  std::map<std::string, std::string>
      env_from;  // name -> name in the executor's environment
  std::vector<std::string> keep_env;
  std::vector<ReadSource> read;  // besides $HYPEROPT_REPORT
  int stop_signal = 15;
  int64_t log_limit = 64 << 20;
  // Complete checkpoints that stay of an attempt.
  int64_t best_checkpoints = 1;
  int64_t last_checkpoints = 1;
  Surroundings around;
};

struct Timing {
  double heartbeat_s = 2;
  double controller_lost_s = 60;
  double stop_grace_s = 30;
  double stuck_s = 60;
  bool operator==(const Timing&) const = default;
};

// The record holds this attempt as not ended and this executor as the one to ask.
struct ExpectedRun {
  RunKey key;
  std::vector<SourceOffset> offsets;
};

struct Welcome {
  ExecutorId id;
  SweepSpec sweep;
  Timing timing;
  // The executor answers for each: it holds it, harvests its folder (exit.json and
  // reports), or says Exited{lost}.
  std::vector<ExpectedRun> expected;
};

// The answer to a heartbeat, and the only thing that extends the lease.
struct Ack {
  RunKey key;
  std::vector<SourceOffset> offsets;  // committed: nothing before is needed again
  // Steps of the best and of the last committed report: complete checkpoints of other
  // steps up to last_step are deleted, but for the newest.
  int64_t best_step = 0;
  int64_t last_step = 0;
  // Where more than one of the best are kept: the steps behind best_step, best first.
  std::vector<int64_t> further_best;
};
struct Answer {
  int64_t heartbeat = 0;  // 0: only tells `ended` sooner, extends nothing
  // The record can not be written at the moment: what is missing from acks is not lost,
  // do not send it again.
  bool held = false;
  std::vector<Ack> acks;
  std::vector<RunKey> ended;    // ends that are committed: forget the run
  std::vector<RunKey> unknown;  // superseded or never launched: kill it and forget it
};

// One launch. All ranks of it are on one executor.
struct Launch {
  RunKey key;
  Params params;
  uint64_t seed = 0;
  int ranks = 1;
  std::vector<std::vector<std::string>> devices;  // a rank; empty: none
  Share device_share;  // of each device: a whole, or a part of the one
  bool hide_gpus = false;
  Share cpus_per_rank = Share::Whole(1);
  std::optional<int64_t> budget;  // $HYPEROPT_BUDGET
  std::string resume_from;        // checkpoint folder, relative to the sweep's or ""
  int64_t first_step = 0;         // the step of that checkpoint
  std::optional<double> wall_limit_s;
  std::string host_for_ranks = "127.0.0.1";  // MASTER_ADDR
  // It stands by: it starts in the place of this run of the same executor, once all
  // processes of that are gone. Dropped where that run is not known, since then nobody
  // knows whether its place is free.
  std::optional<RunKey> after;
};

// Ends a run: stop.json, then the stop signal, then SIGKILL after grace_s. Repeated
// until the end is reported.
struct Stop {
  RunKey key;
  Reason reason = Reason::kUser;
  double grace_s = 30;
  bool if_waiting = false;  // recalls what has not begun; what has goes on
};

// End all, report all, exit. `Bye` is not needed: the connection's end is no event.
struct Shutdown {};

// The executor is not wanted (protocol, sweep over): exit with the text.
struct Refused {
  std::string why;
};

// The sender is not known (the controller was restarted): say Hello.
struct HelloAgain {};

using ToExecutor =
    std::variant<Welcome, Answer, Launch, Stop, Shutdown, Refused, HelloAgain>;

// ---- executor to controller ----

struct Hello {
  int protocol = kProtocolVersion;
  std::string name;  // unique on its host; a returning executor says the same
  std::string host;
  std::string boot_id;
  int32_t pid = 0;
  // Tells lives of one executor apart, also those of one process (it begins anew when
  // its keeper dies): its steady clock, in nanoseconds, when this life began.
  int64_t born = 0;
  bool embedded = false;
  std::optional<ExecutorId> id;  // where it had one in this sweep
  std::string sweep_id;          // the sweep it holds runs of, "" where none
  LostPolicy lost_policy = LostPolicy::kStop;
  Resources resources;
  std::vector<Holding> holdings;
};

// A device of the offer as the driver sees it, in the order of the offer.
struct DeviceNews {
  int64_t free = -1;  // bytes for another trial; -1: not known
  std::string words;  // how full it is and who holds it, for people
  bool operator==(const DeviceNews&) const = default;
};

struct Heartbeat {
  ExecutorId id;
  int64_t number = 0;
  int64_t turn = 0;  // turns of the loop; one that stands still makes it silent
  std::vector<Holding> holdings;
  std::vector<DeviceNews> devices;  // empty where nobody asks for it
};

// Lines of one source from one offset to another, without gaps. The controller takes it
// where `from` is not past what it has, and skips lines it has.
struct Measured {
  ExecutorId id;
  RunKey key;
  SourceOffset upto;  // source, file identity, offset after the last line
  int64_t from = 0;
  std::vector<ReportLine> lines;
  Oddities oddities;
};

// All of an attempt's ranks and descendants are gone and its sources read to their
// ends.
struct Exited {
  ExecutorId id;
  RunKey key;
  ExitInfo info;
  std::vector<SourceOffset>
      offsets;  // final; the controller waits for reports up to here
  Oddities oddities;
  std::vector<int64_t> checkpoints;  // complete ones, their steps, ascending
};

using FromExecutor = std::variant<Hello, Heartbeat, Measured, Exited>;

}  // namespace hyperopt
