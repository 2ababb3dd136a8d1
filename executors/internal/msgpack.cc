#include "executors/internal/msgpack.h"

#include <bit>
#include <limits>

namespace hyperopt::internal {

void PackWriter::Tagged(unsigned tag, uint64_t value, int bytes) {
  Byte(tag);
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8)
    Byte((value >> shift) & 0xff);
}

void PackWriter::Uint(uint64_t value) {
  if (value < 0x80) return Byte(static_cast<unsigned>(value));
  if (value <= 0xff) return Tagged(0xcc, value, 1);
  if (value <= 0xffff) return Tagged(0xcd, value, 2);
  if (value <= 0xffffffff) return Tagged(0xce, value, 4);
  Tagged(0xcf, value, 8);
}

void PackWriter::Int(int64_t value) {
  if (value >= 0) return Uint(static_cast<uint64_t>(value));
  const auto bits = static_cast<uint64_t>(value);
  if (value >= -32) return Byte(static_cast<unsigned>(bits & 0xff));
  if (value >= std::numeric_limits<int8_t>::min()) return Tagged(0xd0, bits, 1);
  if (value >= std::numeric_limits<int16_t>::min()) return Tagged(0xd1, bits, 2);
  if (value >= std::numeric_limits<int32_t>::min()) return Tagged(0xd2, bits, 4);
  Tagged(0xd3, bits, 8);
}

void PackWriter::Double(double value) {
  Tagged(0xcb, std::bit_cast<uint64_t>(value), 8);
}

void PackWriter::String(std::string_view text) {
  if (text.size() < 32) {
    Byte(0xa0 | static_cast<unsigned>(text.size()));
  } else if (text.size() <= 0xff) {
    Tagged(0xd9, text.size(), 1);
  } else if (text.size() <= 0xffff) {
    Tagged(0xda, text.size(), 2);
  } else {
    Tagged(0xdb, text.size(), 4);
  }
  out_ += text;
}

void PackWriter::Array(size_t size) {
  if (size < 16) return Byte(0x90 | static_cast<unsigned>(size));
  if (size <= 0xffff) return Tagged(0xdc, size, 2);
  Tagged(0xdd, size, 4);
}

void PackWriter::Map(size_t size) {
  if (size < 16) return Byte(0x80 | static_cast<unsigned>(size));
  if (size <= 0xffff) return Tagged(0xde, size, 2);
  Tagged(0xdf, size, 4);
}

PackReader::Kind PackReader::Peek() const {
  if (rest_.empty()) return Kind::kOther;
  const auto tag = static_cast<unsigned char>(rest_[0]);
  if (tag < 0x80 || tag >= 0xe0) return Kind::kInt;
  if (tag < 0x90) return Kind::kMap;
  if (tag < 0xa0) return Kind::kArray;
  if (tag < 0xc0) return Kind::kString;
  if (tag == 0xc0) return Kind::kNil;
  if (tag == 0xc2 || tag == 0xc3) return Kind::kBool;
  if (tag == 0xca || tag == 0xcb) return Kind::kDouble;
  if (tag >= 0xcc && tag <= 0xd3) return Kind::kInt;
  if (tag >= 0xd9 && tag <= 0xdb) return Kind::kString;
  if (tag == 0xdc || tag == 0xdd) return Kind::kArray;
  if (tag == 0xde || tag == 0xdf) return Kind::kMap;
  return Kind::kOther;
}

bool PackReader::Take(int bytes, uint64_t& value) {
  if (rest_.size() < static_cast<size_t>(bytes)) return false;
  value = 0;
  for (int i = 0; i < bytes; ++i) {
    value = value << 8 | static_cast<unsigned char>(rest_[i]);
  }
  rest_.remove_prefix(bytes);
  return true;
}

bool PackReader::TakeSize(uint64_t size, size_t& out) {
  out = size;
  return size <= rest_.size();
}

bool PackReader::TakeNil() {
  if (Peek() != Kind::kNil) return false;
  rest_.remove_prefix(1);
  return true;
}

bool PackReader::Bool(bool& value) {
  if (Peek() != Kind::kBool) return false;
  value = static_cast<unsigned char>(rest_[0]) == 0xc3;
  rest_.remove_prefix(1);
  return true;
}

bool PackReader::Uint(uint64_t& value) {
  uint64_t tag = 0;
  if (!Take(1, tag)) return false;
  value = tag;
  if (tag < 0x80) return true;
  if (tag >= 0xcc && tag <= 0xcf) return Take(1 << (tag - 0xcc), value);
  return false;
}

bool PackReader::Int(int64_t& value) {
  if (rest_.empty()) return false;
  const auto tag = static_cast<unsigned char>(rest_[0]);
  uint64_t bits = 0;
  if (tag >= 0xe0) {
    rest_.remove_prefix(1);
    value = static_cast<int8_t>(tag);
    return true;
  }
  if (tag >= 0xd0 && tag <= 0xd3) {
    rest_.remove_prefix(1);
    const int bytes = 1 << (tag - 0xd0);
    if (!Take(bytes, bits)) return false;
    const int unused = 64 - bytes * 8;
    value = static_cast<int64_t>(bits << unused) >> unused;
    return true;
  }
  if (!Uint(bits)) return false;
  value = static_cast<int64_t>(bits);
  return bits <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
}

bool PackReader::Double(double& value) {
  uint64_t tag = 0;
  uint64_t bits = 0;
  if (!Take(1, tag) || (tag != 0xca && tag != 0xcb)) return false;
  if (!Take(tag == 0xca ? 4 : 8, bits)) return false;
  value = tag == 0xca ? std::bit_cast<float>(static_cast<uint32_t>(bits))
                      : std::bit_cast<double>(bits);
  return true;
}

bool PackReader::String(std::string& text) {
  uint64_t tag = 0;
  uint64_t size = 0;
  if (!Take(1, tag)) return false;
  if (tag >= 0xa0 && tag < 0xc0) {
    size = tag & 0x1f;
  } else if (tag < 0xd9 || tag > 0xdb || !Take(1 << (tag - 0xd9), size)) {
    return false;
  }
  if (size > rest_.size()) return false;
  text.assign(rest_.substr(0, size));
  rest_.remove_prefix(size);
  return true;
}

bool PackReader::Array(size_t& size) {
  uint64_t tag = 0;
  uint64_t count = 0;
  if (!Take(1, tag)) return false;
  if (tag >= 0x90 && tag < 0xa0) return TakeSize(tag & 0x0f, size);
  if (tag != 0xdc && tag != 0xdd) return false;
  return Take(tag == 0xdc ? 2 : 4, count) && TakeSize(count, size);
}

bool PackReader::Map(size_t& size) {
  uint64_t tag = 0;
  uint64_t count = 0;
  if (!Take(1, tag)) return false;
  if (tag >= 0x80 && tag < 0x90) return TakeSize(tag & 0x0f, size);
  if (tag != 0xde && tag != 0xdf) return false;
  return Take(tag == 0xde ? 2 : 4, count) && TakeSize(count, size);
}

}  // namespace hyperopt::internal
