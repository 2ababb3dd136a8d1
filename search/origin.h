// Where a sweep comes from: host, user, code and versions, for the record.
#pragma once

#include <map>
#include <string>

namespace hyperopt {

// "host", "user", "cwd", "version", and where the current folder is in a git checkout
// "commit", "branch", "diff" (uncommitted, to 1 MiB). What can not be found out is left
// out.
std::map<std::string, std::string> DescribeOrigin();

}  // namespace hyperopt
