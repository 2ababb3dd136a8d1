// Where a sweep comes from: host, user, code and versions, for the record.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace hyperopt {

// In an origin, before the path of a file whose content became part of the
// configuration; the value is its hash (SearchConfig::inputs).
inline constexpr std::string_view kInputOrigin = "input ";
// In an origin, the checkout that `workdir: snapshot` copied (snapshot.h).
inline constexpr std::string_view kSnapshotOf = "snapshot_of";

// "host", "user", "cwd", "version", and where the current folder is in a git checkout
// "commit", "branch", "diff" (uncommitted, to 1 MiB). What can not be found out is left
// out.
std::map<std::string, std::string> DescribeOrigin();

// How the code that trials run differs from what it was: "commit 5d6e7f8 was 1a2b3c4".
// "" where it does not, where trials run from a copy, and where that can not be found
// out. Asks git, which takes as long as git takes.
std::string CodeChangeSince(const std::map<std::string, std::string>& origin);

}  // namespace hyperopt
