// A web server that shows sweeps while they run: the page of the report, fed by
// server-sent events, and an index where there are several sweeps.
//
//   GET  /                 the sweep's page, or the index of several
//   GET  /sweeps           the index' data
//   GET  /sweep/K/         the page of the K-th sweep, without data
//   GET  /sweep/K/events   its data (live_feed.h): events `whole`, `delta`, `trouble`;
//                          Last-Event-ID goes on where one was
//   POST /sweep/K/change   {"op": "add" | "stop trials" | "pause", ...}
//                          (search/change_json.h, without its token)
//                          -> {"lines": [...]} or {"error": "..."}
//
// It only reads the record, in its own process and threads, and only while a page is
// open. On loopback, requests whose Host is a name that is not this machine's are
// refused (a page elsewhere whose name was made to point here); changes without the
// token are refused everywhere.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "search/report/live/live_feed.h"
#include "trial/json.h"

namespace hyperopt {

struct DashboardOptions {
  std::vector<std::filesystem::path> dirs;
  std::string host = "127.0.0.1";
  int port = 8080;  // 0: one that is free
  // Lets its bearer change sweeps. "": nobody. On an address that others reach it is
  // asked for to see anything.
  std::string token;
  FeedPace pace;

  std::function<std::unique_ptr<LiveSource>(const std::filesystem::path& dir)> source;
  // A sweep's line in the index. Throws Error.
  std::function<OrderedJson(const std::filesystem::path& dir)> line;
  // Carries out a change of that sweep and says what was done. Throws Error.
  std::function<std::vector<std::string>(const std::filesystem::path& dir,
                                         const OrderedJson& request)>
      change;
};

class Dashboard {
 public:
  // Binds the port. Throws ConfigError where the options would open it to strangers,
  // EnvironmentError where the port can not be had.
  explicit Dashboard(DashboardOptions options);
  ~Dashboard();

  int port() const;
  // Where a browser finds it, with the token behind a # where there is one: that part
  // of an address is never sent.
  std::string url() const;
  // Answers until Stop, which any thread may call.
  void Serve();
  void Stop();

 private:
  struct Server;
  const std::unique_ptr<Server> server_;
};

}  // namespace hyperopt
