#include "search/report/internal/dashboard_guard.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>

#include "executors/local_resources.h"

namespace hyperopt::internal {
namespace {

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return lower;
}

// "[::1]:8080" -> "::1", "localhost:8080" -> "localhost".
std::string WithoutPort(std::string_view header) {
  if (header.starts_with('[')) return Lower(header.substr(1, header.find(']') - 1));
  // An IPv6 address without brackets has several colons and no port.
  if (std::count(header.begin(), header.end(), ':') > 1) return Lower(header);
  return Lower(header.substr(0, header.find(':')));
}

bool IsAddress(const std::string& host) {
  unsigned char bytes[sizeof(in6_addr)];
  return inet_pton(AF_INET, host.c_str(), bytes) == 1 ||
         inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

}  // namespace

bool IsLoopback(std::string_view host) {
  const std::string name = WithoutPort(host);
  return name == "localhost" || name == "::1" ||
         (name.starts_with("127.") && IsAddress(name));
}

bool IsOwnHost(std::string_view header, std::string_view bound) {
  const std::string name = WithoutPort(header);
  return IsAddress(name) || name == "localhost" || name == WithoutPort(bound) ||
         name == Lower(HostName());
}

bool IsOwnOrigin(std::string_view origin, std::string_view host_header) {
  if (origin.empty()) return true;
  const size_t scheme = origin.find("://");
  return scheme != std::string_view::npos &&
         Lower(origin.substr(scheme + 3)) == Lower(host_header);
}

bool SameToken(std::string_view a, std::string_view b) {
  size_t differ = a.size() ^ b.size();
  for (size_t i = 0; i < a.size(); ++i) {
    const char other = b.empty() ? '\0' : b[i % b.size()];
    differ |= static_cast<unsigned char>(a[i] ^ other);
  }
  return differ == 0;
}

}  // namespace hyperopt::internal
