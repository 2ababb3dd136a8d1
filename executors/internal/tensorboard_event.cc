#include "executors/internal/tensorboard_event.h"

#include <bit>
#include <cstring>
#include <functional>
#include <string>

#include "executors/internal/utf8.h"

namespace hyperopt::internal {
namespace {

// One field of a protocol buffer: a number, or bytes.
struct Field {
  int number = 0;
  uint64_t integer = 0;    // varint, and the bits of fixed ones
  std::string_view bytes;  // length-delimited
  bool is_bytes = false;
};

class Message {
 public:
  explicit Message(std::string_view rest) : rest_(rest) {}

  // The next field; nullopt at the end, and where the bytes are damaged.
  std::optional<Field> Next() {
    if (rest_.empty()) return std::nullopt;
    Field field;
    uint64_t key = 0;
    sound_ = Varint(key) && Value(key & 7, field);
    if (!sound_) return std::nullopt;
    field.number = static_cast<int>(key >> 3);
    return field;
  }
  bool sound() const { return sound_; }

  bool Varint(uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_[0]);
      rest_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

 private:
  bool Fixed(size_t size, uint64_t& value) {
    if (rest_.size() < size) return false;
    std::memcpy(&value, rest_.data(), size);
    rest_.remove_prefix(size);
    return true;
  }
  bool Value(uint64_t wire_type, Field& field) {
    switch (wire_type) {
      case 0:
        return Varint(field.integer);
      case 1:
        return Fixed(8, field.integer);
      case 5:
        return Fixed(4, field.integer);
      case 2:
        break;
      default:
        return false;
    }
    uint64_t size = 0;
    if (!Varint(size) || size > rest_.size()) return false;
    field.is_bytes = true;
    field.bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }

  std::string_view rest_;
  bool sound_ = true;
};

double FloatOf(uint64_t bits) {
  return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)));
}
double DoubleOf(uint64_t bits) { return std::bit_cast<double>(bits); }
double IntegerOf(uint64_t bits) {
  return static_cast<double>(static_cast<int64_t>(bits));
}

// Element types of a tensor, by their number in types.proto, and how their bytes read.
struct ElementType {
  uint64_t number;
  size_t size;
  int list;  // the field of TensorProto that may hold its values
  double (*read)(uint64_t bits);
};
constexpr ElementType kTypes[] = {
    {1, 4, 5, FloatOf},
    {2, 8, 6, DoubleOf},
    {3,
     4,
     7,
     [](uint64_t bits) {
       return static_cast<double>(static_cast<int32_t>(static_cast<uint32_t>(bits)));
     }},
    {9, 8, 10, IntegerOf},
};

const ElementType* TypeOf(uint64_t number) {
  for (const ElementType& type : kTypes) {
    if (type.number == number) return &type;
  }
  return nullptr;
}

// A list's field: one number as it is, or packed ones, of which there must be one.
std::optional<double> Only(const Field& field, const ElementType& type) {
  if (!field.is_bytes) return type.read(field.integer);
  uint64_t bits = 0;
  if (type.list == 7 || type.list == 10) {
    Message packed(field.bytes);
    if (!packed.Varint(bits) || packed.Next()) return std::nullopt;
  } else {
    if (field.bytes.size() != type.size) return std::nullopt;
    std::memcpy(&bits, field.bytes.data(), type.size);
  }
  return type.read(bits);
}

std::optional<double> ScalarOfTensor(std::string_view bytes) {
  // The type is field 1 and comes first in practice, but need not.
  const ElementType* type = nullptr;
  Message types(bytes);
  while (const auto field = types.Next()) {
    if (field->number == 1) type = TypeOf(field->integer);
  }
  if (type == nullptr) return std::nullopt;
  std::optional<double> value;
  Message message(bytes);
  while (const auto field = message.Next()) {
    if (field->number == type->list) value = Only(*field, *type);
    if (field->number != 4 || field->bytes.size() != type->size) continue;
    uint64_t bits = 0;  // tensor_content
    std::memcpy(&bits, field->bytes.data(), type->size);
    value = type->read(bits);
  }
  return value;
}

void AddValue(std::string_view bytes, ReportLine& report) {
  std::string_view tag;
  std::optional<double> value;
  Message message(bytes);
  while (const auto field = message.Next()) {
    if (field->number == 1 && field->is_bytes) tag = field->bytes;
    if (field->number == 2 && !field->is_bytes) value = FloatOf(field->integer);
    if (field->number == 8 && field->is_bytes) value = ScalarOfTensor(field->bytes);
  }
  if (!tag.empty() && value && IsText(tag)) {
    report.values.insert_or_assign(std::string(tag), *value);
  }
}

}  // namespace

std::optional<ReportLine> ScalarsOfEvent(std::string_view event, bool* damaged) {
  ReportLine report;
  report.step = 0;
  std::string_view summary;
  Message message(event);
  while (const auto field = message.Next()) {
    if (field->number == 2 && !field->is_bytes) {
      report.step = static_cast<int64_t>(field->integer);
    }
    if (field->number == 5 && field->is_bytes) summary = field->bytes;
  }
  Message values(summary);
  while (const auto field = values.Next()) {
    if (field->number == 1 && field->is_bytes) AddValue(field->bytes, report);
  }
  *damaged = !message.sound() || !values.sound();
  if (report.values.empty()) return std::nullopt;
  return report;
}

}  // namespace hyperopt::internal
