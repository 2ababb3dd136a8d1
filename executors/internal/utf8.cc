#include "executors/internal/utf8.h"

#include <cstdint>
#include <cstring>

namespace hyperopt::internal {
namespace {

// How many bytes the character that starts here has; 0 where it is none.
size_t CharacterLength(std::string_view rest) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(rest[i]); };
  const unsigned first = byte(0);
  const size_t length = first < 0x80                    ? 1
                        : first >= 0xc2 && first < 0xe0 ? 2
                        : first >= 0xe0 && first < 0xf0 ? 3
                        : first >= 0xf0 && first < 0xf5 ? 4
                                                        : 0;
  if (length == 0 || rest.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool overlong =
      (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool beyond =
      (first == 0xed && byte(1) >= 0xa0) || (first == 0xf4 && byte(1) >= 0x90);
  return overlong || beyond ? 0 : length;
}

}  // namespace

bool IsText(std::string_view bytes) {
  if (std::memchr(bytes.data(), 0, bytes.size()) != nullptr) return false;
  while (!bytes.empty()) {
    uint64_t word = 0;
    if (bytes.size() >= sizeof(word)) {
      std::memcpy(&word, bytes.data(), sizeof(word));
      if ((word & 0x8080808080808080) == 0) {
        bytes.remove_prefix(sizeof(word));
        continue;
      }
    }
    const size_t length = CharacterLength(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::string ShownStart(std::string_view bytes) {
  std::string text(bytes.substr(0, 200));
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) c = '?';
  }
  return text;
}

}  // namespace hyperopt::internal
