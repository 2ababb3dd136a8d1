#include "search/report/live/dashboard.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "search/report/internal/dashboard_guard.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

using internal::IsLoopback;
using internal::IsOwnHost;
using internal::IsOwnOrigin;
using internal::SameToken;

class NoSource : public LiveSource {
 public:
  std::string Stamp() override { return ""; }
  std::string Read() override { return "{}"; }
};

DashboardOptions AnyPort() {
  DashboardOptions options;
  options.port = 0;
  options.dirs = {"there is nothing here"};
  options.source = [](const auto&) { return std::make_unique<NoSource>(); };
  return options;
}

TEST_SUITE("dashboard") {
  TEST_CASE("addresses of this machine alone") {
    for (const char* host :
         {"127.0.0.1", "127.8.9.1", "localhost", "LOCALHOST", "::1"}) {
      CAPTURE(host);
      CHECK(IsLoopback(host));
    }
    for (const char* host :
         {"0.0.0.0", "::", "10.0.0.1", "127.evil.example", "", "box"}) {
      CAPTURE(host);
      CHECK_FALSE(IsLoopback(host));
    }
  }

  TEST_CASE("a name that someone made to point here is refused") {
    for (const char* host : {"127.0.0.1:8080",
                             "localhost:9999",
                             "[::1]:8080",
                             "10.1.2.3",
                             "box:8080",
                             "BOX"}) {
      CAPTURE(host);
      CHECK(IsOwnHost(host, "box"));
    }
    for (const char* host : {"evil.example",
                             "evil.example:8080",
                             "localhost.evil.example",
                             "127.0.0.1.evil.example",
                             "",
                             "[evil]"}) {
      CAPTURE(host);
      CHECK_FALSE(IsOwnHost(host, "box"));
    }
  }

  TEST_CASE("only its own page may change something") {
    CHECK(IsOwnOrigin("", "localhost:8080"));
    CHECK(IsOwnOrigin("http://localhost:8080", "localhost:8080"));
    CHECK_FALSE(IsOwnOrigin("http://localhost:8081", "localhost:8080"));
    CHECK_FALSE(IsOwnOrigin("https://evil.example", "localhost:8080"));
    CHECK_FALSE(IsOwnOrigin("null", "localhost:8080"));
  }

  TEST_CASE("tokens") {
    CHECK(SameToken("Bearer abc", "Bearer abc"));
    for (const char* other : {"", "Bearer ab", "Bearer abd", "Bearer abcBearer abc"}) {
      CAPTURE(other);
      CHECK_FALSE(SameToken("Bearer abc", other));
    }
  }

  TEST_CASE("strangers are kept out from the start") {
    DashboardOptions options = AnyPort();
    options.host = "0.0.0.0";
    CHECK_THROWS_AS(Dashboard{options}, ConfigError);
    options.token = "short";
    CHECK_THROWS_AS(Dashboard{options}, ConfigError);
    options.token = "0123456789abcdef";
    CHECK(Dashboard(options).url().ends_with("/#token=0123456789abcdef"));
  }

  TEST_CASE("a port that is taken is said") {
    const Dashboard first(AnyPort());
    DashboardOptions options = AnyPort();
    options.port = first.port();
    std::string said;
    try {
      const Dashboard second(options);
    } catch (const EnvironmentError& error) {
      said = error.what();
    }
    CHECK(said.find("take another --port") != std::string::npos);
  }
}

}  // namespace
}  // namespace hyperopt
