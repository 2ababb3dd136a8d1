#include "trial/packed.h"

#include <zlib.h>

#include <cassert>

namespace hyperopt {
namespace {

// Logs: the higher levels take several times as long for a few percent.
constexpr int kLevel = 4;

}  // namespace

std::string Pack(std::string_view bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string packed(size, '\0');
  const int code = compress2(reinterpret_cast<Bytef*>(packed.data()),
                             &size,
                             reinterpret_cast<const Bytef*>(bytes.data()),
                             static_cast<uLong>(bytes.size()),
                             kLevel);
  assert(code == Z_OK);
  static_cast<void>(code);
  if (size >= bytes.size()) return std::string(bytes);
  packed.resize(size);
  packed.shrink_to_fit();
  return packed;
}

std::optional<std::string> Unpack(std::string_view packed, int64_t size) {
  if (size < 0) return std::nullopt;
  if (static_cast<size_t>(size) == packed.size()) return std::string(packed);
  std::string bytes(static_cast<size_t>(size), '\0');
  uLongf got = static_cast<uLongf>(size);
  const int code = uncompress(reinterpret_cast<Bytef*>(bytes.data()),
                              &got,
                              reinterpret_cast<const Bytef*>(packed.data()),
                              static_cast<uLong>(packed.size()));
  if (code != Z_OK || got != bytes.size()) return std::nullopt;
  return bytes;
}

}  // namespace hyperopt
