#include "search/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "executors/keeper.h"
#include "executors/transport.h"
#include "search/commands/best.h"
#include "search/controller.h"
#include "search/format.h"
#include "search/internal/loop_start.h"
#include "search/internal/sweep_loop.h"
#include "search/keep.h"
#include "search/limits.h"
#include "search/record_start.h"
#include "search/sweep_folder.h"
#include "search/workdir.h"
#include "trial/errors.h"

namespace hyperopt {

namespace fs = std::filesystem;

namespace internal {
namespace {

// What loggers have for what is left. After an interruption the next start brings it.
constexpr double kLoggersEndS = 30;
constexpr double kLoggersInterruptedS = 5;

}  // namespace

int SweepLoop::Run() {
  try {
    RunToEnd();
  } catch (const Error& error) {
    if (hooks_ && controller_)
      hooks_->OnEnd(*controller_, {error.code(), error.what()}, now_);
    AwaitOthers();
    throw;
  }
  AwaitOthers();
  return static_cast<int>(end_->code);
}

void SweepLoop::RunToEnd() {
  Prepare();
  while (!end_) OneTurn();
  SayGoodbye();
  TidyUp();
  WriteBest(folder_->dir());
  record_.store.reset();
  transport_.reset();
  // ZeroMQ leaves its socket files behind.
  for (const char* name : {"executors.sock", "requests.sock"}) {
    std::error_code gone_already;
    fs::remove(sockets_ / name, gone_already);
  }
  RemoveDeadKeepersSocket(sockets_);
  folder_->RemoveSockets();
  progress_->End(*end_, *controller_, folder_->dir(), now_);
  hooks_->OnEnd(*controller_, *end_, now_);
}

// What the sweep itself does not wait for.
void SweepLoop::AwaitOthers() {
  folder_.reset();  // free for the next
  const bool is_over = end_ && end_->code != ExitCode::kInterrupted;
  if (loggers_) loggers_->SayEnd(is_over ? kLoggersEndS : kLoggersInterruptedS);
  if (hooks_) hooks_->Finish(signals_.get());
  if (!loggers_) return;
  loggers_->Finish(signals_.get(), [](const std::string& line, bool loud) {
    if (loud) std::fprintf(stderr, "hyperopt: %s\n", Printable(line).c_str());
  });
}

void SweepLoop::Prepare() {
  now_ = ReadClocks();
  SearchConfig& config = options_.config;
  progress_.emplace(options_.progress, stdout, config);
  const std::vector<std::string> command = internal::CommandOf(config);
  local_ = LocalResources(options_.resources);
  internal::DecideGpus(local_, &config);
  if (options_.local_executor && !options_.listen) {
    internal::RefuseWhatNeverFits(config.executor.resources, local_);
  }
  ServerOptions server = internal::CheckedServer(options_);
  RequireLoggers(config);
  scheduler_ = MakeScheduler(config.scheduler, config.goal, config.sampler.seed);
  CheckWorkdir();
  folder_.emplace(SweepFolder::Take(options_.dir));
  record_ = OpenRecord(&*folder_, &config, options_.old);
  for (const std::string& line : ApplyLimits(&record_.snapshot.sweep, &config)) {
    Say(line);
  }
  internal::AddSamples(options_.more_samples, &record_.snapshot, &config);
  sampler_ = MakeSampler(config.space, config.sampler);
  for (const std::string& note : config.notes) Say("note: " + note);
  for (const std::string& note : record_.notes) Say(note);
  CopyCode();
  sockets_ = folder_->MakeSockets(record_.snapshot.sweep.id);
  server.folder = sockets_;
  transport_ = OpenServer(server);
  if (!transport_->tcp_endpoint().empty()) {
    Say("executors may join at " + transport_->tcp_endpoint());
  }
  ControllerStart start =
      MakeControllerStart(config,
                          &record_,
                          folder_->dir(),
                          command,
                          {sampler_->needs_history(), options_.rerun_failed});
  hooks_.emplace(config, folder_->dir(), start.sweep.config_dir);
  loggers_.emplace(config.loggers, folder_->dir());
  controller_.emplace(config, *sampler_, *scheduler_, std::move(start), now_);
  desk_.emplace(transport_.get(), &*controller_);
  keeper_ = FileKeeper::Make(
      config, folder_->dir(), controller_->trials(), record_.store.get());
  view_.emplace(config, folder_->database());
  SayAmended();
  const SweepCounts counts = controller_->Counts();
  Say(fmt::format(
      "{} in {}: {} trials{}",
      config.name,
      folder_->dir().string(),
      counts.planned,
      record_.fresh ? "" : fmt::format(", {} finished before", counts.finished())));
  embedded_ = {folder_->dir(),
               sockets_,
               record_.snapshot.sweep.id,
               "ipc://" + (sockets_ / "executors.sock").string(),
               record_.fresh,
               options_.resources};
  // A finished sweep needs no executor: the first turn says so.
  CommitAndSend(controller_->TakeTurn(now_));
  if (!end_ && options_.local_executor) StartExecutor();
  view_->Refresh();
}

// A folder may be there on the machines of other executors alone, a copy of the code
// may be there from an earlier start or come from another sweep.
void SweepLoop::CheckWorkdir() const {
  const bool has_code = options_.code_of || (options_.old != OldRecord::kStartOver &&
                                             fs::exists(options_.dir / "sweep.db"));
  const bool needed =
      options_.config.workdir == "snapshot" ? !has_code : options_.local_executor;
  if (needed) RequireWorkdir(options_.config);
}

void SweepLoop::CopyCode() {
  const SearchConfig& config = options_.config;
  if (config.workdir != "snapshot") return;
  const fs::path config_dir = config.file.empty()
                                  ? fs::current_path()
                                  : fs::absolute(config.file).parent_path();
  for (const std::string& line : MakeSnapshot(
           folder_->dir(), config_dir, options_.code_of, &record_.snapshot.sweep)) {
    Say(line);
  }
}

// What an interrupted sweep leaves is tidied up by its next start.
void SweepLoop::TidyUp() {
  const int before = interrupts_;
  if (keeper_ && end_->code != ExitCode::kInterrupted) {
    keeper_->Finish(record_.store.get(), [&] {
      Poll(0);
      return interrupts_ == before;
    });
  }
  keeper_.reset();
  view_->Refresh();
}

void SweepLoop::SayAmended() {
  if (record_.amended.empty()) return;
  for (const std::string& line : record_.amended) Say("amended: " + line);
  const int64_t stopped = controller_->BeginEra(record_.amended, now_);
  if (stopped == 0) return;
  Say(fmt::format("amended: {} unfinished trials lie outside of it and are stopped",
                  stopped));
}

}  // namespace internal

fs::path SweepDir(const SearchConfig& config, const std::optional<fs::path>& output) {
  return fs::absolute(output ? *output : fs::path("results") / config.name);
}

int RunSweep(RunOptions options) {
  return internal::SweepLoop(std::move(options)).Run();
}

}  // namespace hyperopt
