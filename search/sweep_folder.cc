#include "search/sweep_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "executors/local_resources.h"
#include "trial/errors.h"
#include "trial/json.h"
#include "trial/text.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

std::string LocalTimeText() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local);
  return text;
}

LockHolder ParseHolder(const std::string& text) {
  LockHolder holder;
  try {
    const OrderedJson json = ParseJson(text);
    holder.host = json.value("host", "");
    holder.pid = json.value("pid", int64_t{0});
    holder.started = json.value("started", "");
    holder.sockets = json.value("sockets", "");
  } catch (const ConfigError&) {
    // Just being written: the words come in a moment, and are only for a message.
  }
  return holder;
}

}  // namespace

SweepFolder SweepFolder::Take(const fs::path& dir) {
  std::error_code error;
  fs::create_directories(dir / "trials", error);
  if (error) {
    throw EnvironmentError(dir.string() + ": can not be made: " + error.message() +
                           "; choose another place with --output");
  }
  std::optional<FileLock> lock = FileLock::TryAcquire(dir / "lock");
  if (!lock) {
    const LockHolder holder = ParseHolder(ReadFile(dir / "lock").value_or(""));
    throw ConfigError(
        fmt::format("{}: another controller runs this sweep: pid {} on {}, since {}; "
                    "look at it with "
                    "`hyperopt status {}`, or give this one another --output",
                    dir.string(),
                    holder.pid,
                    holder.host,
                    holder.started,
                    QuoteShellWord(dir.string())));
  }
  // A folder of results is nothing to commit.
  const fs::path ignore = dir / ".gitignore";
  if (!fs::exists(ignore)) WriteFileAtomically(ignore, "*\n", Durability::kProcess);
  return SweepFolder(fs::canonical(dir), std::move(*lock));
}

fs::path SweepFolder::StartOver() {
  fs::path old;
  for (int n = 1;; ++n) {
    old = dir_.string() + fmt::format(".old-{}", n);
    if (!fs::exists(old)) break;
  }
  fs::rename(dir_, old);
  *this = Take(dir_);
  return old;
}

fs::path SweepFolder::MakeSockets(const std::string& sweep_id) {
  sockets_ = SocketFolder::Take(sweep_id + dir_.string());
  OrderedJson holder = {{"host", HostName()},
                        {"pid", getpid()},
                        {"started", LocalTimeText()},
                        {"sockets", sockets_->path().string()}};
  lock_.WriteText(DumpJson(holder));
  return sockets_->path();
}

void SweepFolder::RemoveSockets() {
  if (sockets_) sockets_->Remove();
  sockets_.reset();
}

std::optional<LockHolder> FindController(const fs::path& dir) {
  if (!FileLock::IsHeld(dir / "lock")) return std::nullopt;
  return ParseHolder(ReadFile(dir / "lock").value_or(""));
}

std::optional<fs::path> NewestSweep(const fs::path& results) {
  std::optional<fs::path> newest;
  fs::file_time_type newest_time;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(results, error)) {
    const fs::path database = entry.path() / "sweep.db";
    std::error_code missing;
    fs::file_time_type time = fs::last_write_time(database, missing);
    if (missing) continue;
    // With a write-ahead log the newest write may be there.
    const auto log_time = fs::last_write_time(database.string() + "-wal", missing);
    if (!missing) time = std::max(time, log_time);
    if (newest && time <= newest_time) continue;
    newest = entry.path();
    newest_time = time;
  }
  return newest;
}

}  // namespace hyperopt
