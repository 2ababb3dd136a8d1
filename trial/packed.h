// Files packed with zlib, as SQLite's own archives hold them: what packing does not
// make smaller is kept as it is, and known by its size. In a shell,
//   sqlite3 sweep.db "SELECT sqlar_uncompress(data, size) FROM file WHERE ..."
// unpacks one.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hyperopt {

std::string Pack(std::string_view bytes);
// The `size` bytes that were packed; nullopt where `packed` does not hold them.
std::optional<std::string> Unpack(std::string_view packed, int64_t size);

}  // namespace hyperopt
