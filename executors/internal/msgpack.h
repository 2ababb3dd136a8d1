// The part of MessagePack that our messages need, written and read without a tree in
// between: a message is built of a handful of fields, and a sweep of short trials sends
// thousands a second.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hyperopt::internal {

// Appends values; every number in its shortest form, doubles always as 64 bits, so that
// NaN (with its bits) and infinity stay what they are.
class PackWriter {
 public:
  PackWriter() { out_.reserve(256); }

  void Nil() { Byte(0xc0); }
  void Bool(bool value) { Byte(value ? 0xc3 : 0xc2); }
  void Int(int64_t value);
  void Uint(uint64_t value);
  void Double(double value);
  void String(std::string_view text);
  void Array(size_t size);
  void Map(size_t size);

  std::string Take() { return std::move(out_); }

 private:
  void Byte(unsigned value) { out_.push_back(static_cast<char>(value)); }
  // The tag, then the low `bytes` bytes of `value`, the highest first.
  void Tagged(unsigned tag, uint64_t value, int bytes);

  std::string out_;
};

// Reads what PackWriter writes and any other encoding of the same values. Each reader
// returns false where something else stands there, or the bytes end; whatever was read
// until then is rubbish and the whole message with it. Never reads out of bounds, never
// throws but for memory.
class PackReader {
 public:
  explicit PackReader(std::string_view bytes) : rest_(bytes) {}

  // True and past it where a nil comes next.
  bool TakeNil();
  bool Bool(bool& value);
  bool Int(int64_t& value);
  bool Uint(uint64_t& value);
  bool Double(double& value);
  bool String(std::string& text);
  // The number of elements that follow. Never more than there are bytes left, so that a
  // header alone can not ask for memory.
  bool Array(size_t& size);
  bool Map(size_t& size);

  // What kind of value comes next.
  enum class Kind { kNil, kBool, kInt, kDouble, kString, kArray, kMap, kOther };
  Kind Peek() const;
  bool at_end() const { return rest_.empty(); }

 private:
  bool Take(int bytes, uint64_t& value);
  bool TakeSize(uint64_t size, size_t& out);

  std::string_view rest_;
};

}  // namespace hyperopt::internal
