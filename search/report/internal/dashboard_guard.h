// Who may ask a dashboard what.
#pragma once

#include <string>
#include <string_view>

namespace hyperopt::internal {

// An address that only this machine reaches: 127.x, ::1, localhost.
bool IsLoopback(std::string_view host);

// Whether a request's Host header names this server: an address (a name is needed to
// trick a browser), localhost, `bound`, or this machine's name. With or without a port,
// which is another one behind a tunnel.
bool IsOwnHost(std::string_view header, std::string_view bound);

// Whether the page that sends a request (its Origin header, "" where there is none) is
// this server's own.
bool IsOwnOrigin(std::string_view origin, std::string_view host_header);

// In a time that does not depend on where they differ.
bool SameToken(std::string_view a, std::string_view b);

}  // namespace hyperopt::internal
