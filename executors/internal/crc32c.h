// The checksum of TensorBoard's records.
#pragma once

#include <cstdint>
#include <string_view>

namespace hyperopt::internal {

// CRC-32C (Castagnoli, reflected 0x82f63b78).
uint32_t Crc32c(std::string_view bytes);
// As TFRecord files store it: rotated, so that a checksum over checksums stays a good
// one.
uint32_t MaskedCrc32c(std::string_view bytes);

}  // namespace hyperopt::internal
