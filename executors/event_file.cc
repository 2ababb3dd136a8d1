#include "executors/event_file.h"

#include <cstdint>

#include "executors/internal/crc32c.h"

namespace hyperopt {
namespace {

template <typename Number>
std::string LittleEndian(Number value) {
  std::string bytes;
  for (size_t i = 0; i < sizeof(Number); ++i) {
    bytes += static_cast<char>(value >> (8 * i) & 0xff);
  }
  return bytes;
}

}  // namespace

std::string EventRecord(std::string_view event) {
  std::string record = LittleEndian(static_cast<uint64_t>(event.size()));
  record += LittleEndian(internal::MaskedCrc32c(record));
  record += event;
  record += LittleEndian(internal::MaskedCrc32c(event));
  return record;
}

}  // namespace hyperopt
