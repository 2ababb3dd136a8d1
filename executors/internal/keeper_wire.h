// Messages between executor and keeper as bytes: frames on a stream socket of one
// machine. A frame is u32 length (of what follows), u8 version, u8 index into the
// variant, fields in order. Numbers are little-endian and of fixed size, text and lists
// begin with a u32 count, an optional with u8.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "executors/keeper.h"

namespace hyperopt {

// Raised whenever a message of keeper.h changes: an executor may meet the keeper that
// an older build left behind.
inline constexpr uint8_t kKeeperWireVersion = 3;

// Appends the frame of `message`.
void AppendFrame(const ToKeeper& message, std::string* out);
void AppendFrame(const FromKeeper& message, std::string* out);

// Cuts a stream into frames. What is fed is kept until a frame is whole.
class FrameReader {
 public:
  void Feed(std::string_view bytes);
  // The body (without length) of the next whole frame, valid until the next Feed;
  // nullopt where there is none yet. After a length over 256 MiB there is never one
  // again and broken() is true.
  std::optional<std::string_view> Next();
  bool broken() const { return broken_; }

 private:
  std::string buffer_;
  size_t start_ = 0;
  bool broken_ = false;
};

// nullopt where the body is torn, of another version or no such message.
std::optional<ToKeeper> DecodeToKeeper(std::string_view body);
std::optional<FromKeeper> DecodeFromKeeper(std::string_view body);

}  // namespace hyperopt
