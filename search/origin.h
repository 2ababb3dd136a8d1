// Where a sweep comes from: host, user, code and versions, for the record.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace hyperopt {

// In an origin, before the path of a file whose content became part of the
// configuration; the value is its hash (SearchConfig::inputs).
inline constexpr std::string_view kInputOrigin = "input ";

// "host", "user", "cwd", "version", and where the current folder is in a git checkout
// "commit", "branch", "diff" (uncommitted, to 1 MiB). What can not be found out is left
// out.
std::map<std::string, std::string> DescribeOrigin();

}  // namespace hyperopt
