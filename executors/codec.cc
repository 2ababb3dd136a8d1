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

}  // namespace hyperopt
