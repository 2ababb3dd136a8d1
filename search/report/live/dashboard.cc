#include "search/report/live/dashboard.h"

#include <fmt/format.h>
#include <httplib.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "search/report/internal/dashboard_guard.h"
#include "search/report/page.h"
#include "trial/errors.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

using httplib::Request;
using httplib::Response;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr size_t kMostStreams = 24;  // pages that are open at once
constexpr size_t kThreads = kMostStreams + 8;
constexpr size_t kLeastToken = 16;
constexpr size_t kMostRequest = 1 << 20;
constexpr size_t kPiece = 1 << 16;
// One who takes longer for one event, or takes nothing for so long, is dropped.
constexpr auto kSlow = std::chrono::seconds(30);
constexpr int kStuck_s = 10;
// So long without an event, one that says nothing shows whether the page is still
// there.
constexpr milliseconds kSilence{5000};

void Refuse(Response& response, int status, const std::string& why) {
  response.status = status;
  response.set_content(DumpJson({{"error", why}}), "application/json");
}

bool SendAll(httplib::DataSink& sink, std::string_view text) {
  const auto until = steady_clock::now() + kSlow;
  for (size_t at = 0; at < text.size(); at += kPiece) {
    const std::string_view piece = text.substr(at, kPiece);
    if (!sink.write(piece.data(), piece.size()) || steady_clock::now() > until) {
      return false;
    }
  }
  return true;
}

// The default shares the port with whoever else asks for that.
void SetSocketOptions(int socket) {
  const int yes = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
}

std::string ForUrl(const std::string& host) {
  if (host.empty() || host == "0.0.0.0" || host == "::") return "localhost";
  return host.find(':') == std::string::npos ? host : '[' + host + ']';
}

}  // namespace

struct Dashboard::Server {
  explicit Server(DashboardOptions the_options);

  void Bind();
  void Route();
  void Protect();
  // Refuses, and says why, who may not.
  bool MayRead(const Request& request, Response& response) const;
  bool MayChange(const Request& request, Response& response) const;
  bool HasToken(const Request& request, Response& response) const;
  std::optional<size_t> SweepOf(const Request& request, Response& response) const;

  void SendPage(Response& response, const std::string& live) const;
  void SendSweeps(Response& response) const;
  void SendEvents(const Request& request, Response& response);
  void Change(const Request& request, Response& response) const;

  const DashboardOptions options;
  const bool open;         // others than this machine reach it
  const std::string life;  // of this server: its versions are not another's
  int port = 0;
  std::vector<std::unique_ptr<LiveFeed>> feeds;
  std::atomic<size_t> streams = 0;
  httplib::Server http;
};

Dashboard::Server::Server(DashboardOptions the_options)
    : options(std::move(the_options)),
      open(!internal::IsLoopback(options.host)),
      life(RandomHex(4)) {
  if (!options.token.empty() && options.token.size() < kLeastToken) {
    throw ConfigError(fmt::format(
        "--token: {} characters can be guessed; take {} or more, or leave it out: "
        "--allow-changes makes one",
        options.token.size(),
        kLeastToken));
  }
  if (open && options.token.empty()) {
    throw ConfigError(
        fmt::format("--host {}: others would see the sweep without being asked; give "
                    "--token, or stay on 127.0.0.1 and tunnel: ssh -L {}:127.0.0.1:{} "
                    "this-machine",
                    options.host,
                    options.port,
                    options.port));
  }
  for (const std::filesystem::path& dir : options.dirs) {
    feeds.push_back(std::make_unique<LiveFeed>(options.source(dir), options.pace));
  }
  Protect();
  Route();
  Bind();
}

void Dashboard::Server::Bind() {
  http.set_socket_options(SetSocketOptions);
  http.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  http.set_payload_max_length(kMostRequest);
  http.set_keep_alive_timeout(2);
  http.set_write_timeout(kStuck_s);
  errno = 0;
  if (options.port == 0) {
    port = http.bind_to_any_port(options.host);
  } else if (http.bind_to_port(options.host, options.port)) {
    port = options.port;
  }
  if (port > 0) return;
  const std::string why =
      errno == EADDRINUSE ? "something else listens there already; take another --port"
      : errno != 0        ? std::strerror(errno)
                          : "no such address on this machine";
  throw EnvironmentError(fmt::format(
      "the dashboard can not listen on {}:{}: {}", options.host, options.port, why));
}

void Dashboard::Server::Protect() {
  http.set_default_headers({{"Cache-Control", "no-store"},
                            {"X-Content-Type-Options", "nosniff"},
                            {"X-Frame-Options", "DENY"},
                            {"Referrer-Policy", "no-referrer"},
                            {"Cross-Origin-Resource-Policy", "same-origin"}});
  http.set_pre_routing_handler([this](const Request& request, Response& response) {
    using Outcome = httplib::Server::HandlerResponse;
    const std::string host = request.get_header_value("Host");
    // Where others may come, by whatever name, the token keeps strangers out.
    if (open || internal::IsOwnHost(host, options.host)) return Outcome::Unhandled;
    Refuse(response, 403, "this dashboard is not known as " + host);
    return Outcome::Handled;
  });
  http.set_exception_handler(
      [](const Request&, Response& response, std::exception_ptr thrown) {
        try {
          std::rethrow_exception(thrown);
        } catch (const std::exception& error) {
          Refuse(response, 500, error.what());
        }
      });
}

void Dashboard::Server::Route() {
  http.Get("/", [this](const Request&, Response& response) {
    if (feeds.size() == 1) return response.set_redirect("/sweep/0/");
    SendPage(response, "index");
  });
  http.Get("/sweeps", [this](const Request& request, Response& response) {
    if (MayRead(request, response)) SendSweeps(response);
  });
  http.Get(R"(/sweep/(\d{1,6})/)", [this](const Request& request, Response& response) {
    if (SweepOf(request, response)) SendPage(response, "sweep");
  });
  http.Get(R"(/sweep/(\d{1,6})/events)",
           [this](const Request& request, Response& response) {
             SendEvents(request, response);
           });
  http.Post(R"(/sweep/(\d{1,6})/change)",
            [this](const Request& request, Response& response) {
              Change(request, response);
            });
}

bool Dashboard::Server::HasToken(const Request& request, Response& response) const {
  const std::string header = request.get_header_value("Authorization");
  if (internal::SameToken("Bearer " + options.token, header)) return true;
  Refuse(response,
         403,
         header.empty()
             ? "This dashboard wants its token"
             : "This is not the token of this dashboard, which may have been "
               "started anew with another one");
  return false;
}

bool Dashboard::Server::MayRead(const Request& request, Response& response) const {
  return !open || HasToken(request, response);
}

bool Dashboard::Server::MayChange(const Request& request, Response& response) const {
  if (options.token.empty()) {
    Refuse(response,
           403,
           "this dashboard only shows; hyperopt dashboard --allow-changes starts one "
           "that lets you change a sweep");
    return false;
  }
  if (!HasToken(request, response)) return false;
  const bool is_own = internal::IsOwnOrigin(request.get_header_value("Origin"),
                                            request.get_header_value("Host"));
  if (!is_own)
    Refuse(response, 403, "only the dashboard's own page may change a sweep");
  return is_own;
}

std::optional<size_t> Dashboard::Server::SweepOf(const Request& request,
                                                 Response& response) const {
  const size_t sweep = std::stoul(request.matches[1]);
  if (sweep < feeds.size()) return sweep;
  Refuse(response, 404, fmt::format("there is no sweep {} here", sweep));
  return std::nullopt;
}

void Dashboard::Server::SendPage(Response& response, const std::string& live) const {
  const OrderedJson settings = {{"page", live},
                                {"sweeps", feeds.size()},
                                {"changes", !options.token.empty()},
                                {"asks", open}};
  response.set_content(LivePage(DumpJson(settings)), "text/html; charset=utf-8");
}

void Dashboard::Server::SendSweeps(Response& response) const {
  OrderedJson lines = OrderedJson::array();
  for (const std::filesystem::path& dir : options.dirs) {
    OrderedJson line;
    try {
      line = options.line(dir);
    } catch (const Error& error) {
      line = {{"error", error.what()}};
    }
    line["dir"] = dir.string();
    lines.push_back(std::move(line));
  }
  response.set_content(DumpJson(lines), "application/json");
}

void Dashboard::Server::SendEvents(const Request& request, Response& response) {
  const auto sweep = SweepOf(request, response);
  if (!sweep) return;
  if (!MayRead(request, response)) return;
  if (streams.fetch_add(1) >= kMostStreams) {
    --streams;
    return Refuse(response,
                  503,
                  fmt::format("{} pages are open already: close one", kMostStreams));
  }
  uint64_t have = 0;
  const std::string last = request.get_header_value("Last-Event-ID");
  if (last.starts_with(life + '-')) {
    have = std::strtoull(last.c_str() + life.size() + 1, nullptr, 10);
  }
  LiveFeed* feed = feeds[*sweep].get();
  const auto provide = [this, feed, have](size_t, httplib::DataSink& sink) mutable {
    const auto message = feed->Next(have, kSilence);
    if (feed->closed()) return false;
    if (!message) return SendAll(sink, ":\n\n");
    have = message->version;
    return SendAll(sink,
                   fmt::format(
                       "id: {}-{}\nevent: {}\ndata: ", life, have, message->kind)) &&
           SendAll(sink, *message->text) && SendAll(sink, "\n\n");
  };
  response.set_chunked_content_provider(
      "text/event-stream", provide, [this](bool) { --streams; });
}

void Dashboard::Server::Change(const Request& request, Response& response) const {
  if (!MayChange(request, response)) return;
  const auto sweep = SweepOf(request, response);
  if (!sweep) return;
  try {
    const OrderedJson change = ParseJson(request.body);
    const std::string op = change.is_object() ? change.value("op", "") : "";
    if (op != "add" && op != "stop trials" && op != "pause") {
      throw ConfigError("`op` must be add, stop trials or pause");
    }
    const std::vector<std::string> lines = options.change(options.dirs[*sweep], change);
    response.set_content(DumpJson({{"lines", lines}}), "application/json");
  } catch (const ConfigError& error) {
    Refuse(response, 400, error.what());
  } catch (const EnvironmentError& error) {
    Refuse(response, 503, error.what());
  } catch (const nlohmann::json::exception& error) {
    Refuse(response, 400, error.what());
  }
}

Dashboard::Dashboard(DashboardOptions options)
    : server_(std::make_unique<Server>(std::move(options))) {}

Dashboard::~Dashboard() { Stop(); }

int Dashboard::port() const { return server_->port; }

std::string Dashboard::url() const {
  const std::string& token = server_->options.token;
  return fmt::format("http://{}:{}/{}",
                     ForUrl(server_->options.host),
                     server_->port,
                     token.empty() ? "" : "#token=" + token);
}

void Dashboard::Serve() { server_->http.listen_after_bind(); }

void Dashboard::Stop() {
  for (const auto& feed : server_->feeds) feed->Close();
  server_->http.stop();
}

}  // namespace hyperopt
