#include "executors/codec.h"

#include "executors/internal/archive.h"
#include "executors/internal/message_members.h"

namespace hyperopt {
namespace internal {

void Write(PackWriter& out, const ParamValue& value) {
  if (const auto* b = std::get_if<bool>(&value)) return out.Bool(*b);
  if (const auto* i = std::get_if<int64_t>(&value)) return out.Int(*i);
  if (const auto* d = std::get_if<double>(&value)) return out.Double(*d);
  if (const auto* s = std::get_if<std::string>(&value)) return out.String(*s);
  if (const auto* s = std::get_if<Structured>(&value)) {
    out.Array(1);  // tells a list's text from a string
    return out.String(s->json);
  }
  out.Nil();
}

bool Read(PackReader& in, ParamValue& value) {
  size_t size = 0;
  switch (in.Peek()) {
    case PackReader::Kind::kNil:
      value = std::monostate{};
      return in.TakeNil();
    case PackReader::Kind::kBool:
      return in.Bool(value.emplace<bool>());
    case PackReader::Kind::kInt:
      return in.Int(value.emplace<int64_t>());
    case PackReader::Kind::kDouble:
      return in.Double(value.emplace<double>());
    case PackReader::Kind::kString:
      return in.String(value.emplace<std::string>());
    case PackReader::Kind::kArray:
      return in.Array(size) && size == 1 && in.String(value.emplace<Structured>().json);
    case PackReader::Kind::kMap:
    case PackReader::Kind::kOther:
      break;
  }
  return false;
}

}  // namespace internal

namespace {

constexpr size_t kLargestFrame = 64 << 20;
constexpr char kJoined = '\xc1';

// A Hello of another protocol may hold other fields, and must be read far enough to be
// refused with its number: [0, [protocol, ...]].
std::optional<Hello> HelloOfOtherVersion(std::string_view bytes) {
  internal::PackReader in(bytes);
  size_t size = 0;
  uint64_t index = 0;
  Hello hello;
  const bool is_hello = in.Array(size) && size == 2 && in.Uint(index) && index == 0 &&
                        in.Array(size) && size > 0 &&
                        internal::Read(in, hello.protocol);
  if (!is_hello || hello.protocol == kProtocolVersion) return std::nullopt;
  return hello;
}

}  // namespace

std::string Encode(const ToExecutor& message) { return internal::Pack(message); }
std::string Encode(const FromExecutor& message) { return internal::Pack(message); }

std::optional<ToExecutor> DecodeToExecutor(std::string_view bytes) {
  if (bytes.size() > kLargestFrame) return std::nullopt;
  return internal::Unpack<ToExecutor>(bytes);
}

std::optional<FromExecutor> DecodeFromExecutor(std::string_view bytes) {
  if (bytes.size() > kLargestFrame) return std::nullopt;
  if (const auto hello = HelloOfOtherVersion(bytes)) return *hello;
  return internal::Unpack<FromExecutor>(bytes);
}

// A joined frame begins with the one byte that no MessagePack text begins with; then
// each message after its length, 4 bytes, little endian.
std::string JoinFrames(const std::vector<std::string>& frames) {
  if (frames.size() == 1) return frames.front();
  std::string joined(1, kJoined);
  for (const std::string& frame : frames) {
    const auto size = static_cast<uint32_t>(frame.size());
    for (int shift = 0; shift < 32; shift += 8) {
      joined += static_cast<char>(size >> shift & 0xff);
    }
    joined += frame;
  }
  return joined;
}

std::vector<std::string_view> SplitFrames(std::string_view bytes) {
  if (bytes.empty() || bytes[0] != kJoined) return {bytes};
  bytes.remove_prefix(1);
  std::vector<std::string_view> frames;
  while (!bytes.empty()) {
    if (bytes.size() < 4) return {};
    uint32_t size = 0;
    for (int i = 3; i >= 0; --i) {
      size = size << 8 | static_cast<unsigned char>(bytes[static_cast<size_t>(i)]);
    }
    bytes.remove_prefix(4);
    if (size > bytes.size()) return {};
    frames.push_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  return frames;
}

}  // namespace hyperopt
