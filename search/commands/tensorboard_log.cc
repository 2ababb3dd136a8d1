// What the HParams tab reads is in tensorboard/plugins/hparams: api.proto,
// plugin_data.proto. Numbers in the comments are those of the fields.
#include "search/commands/tensorboard_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <cerrno>

#include "executors/event_file.h"
#include "trial/errors.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

// Protocol buffers' wire format, as far as it takes here.
class Message {
 public:
  Message& Integer(int field, uint64_t value) {
    Varint(static_cast<uint64_t>(field) << 3);
    Varint(value);
    return *this;
  }
  Message& Double(int field, double value) {
    Varint(static_cast<uint64_t>(field) << 3 | 1);
    Fixed(std::bit_cast<uint64_t>(value));
    return *this;
  }
  Message& Float(int field, float value) {
    Varint(static_cast<uint64_t>(field) << 3 | 5);
    Fixed(std::bit_cast<uint32_t>(value));
    return *this;
  }
  Message& Bytes(int field, std::string_view bytes) {
    Varint(static_cast<uint64_t>(field) << 3 | 2);
    Varint(bytes.size());
    text_ += bytes;
    return *this;
  }
  Message& Inner(int field, const Message& message) {
    return Bytes(field, message.text_);
  }
  const std::string& text() const { return text_; }

 private:
  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
  }
  template <typename Number>
  void Fixed(Number value) {
    for (size_t i = 0; i < sizeof(Number); ++i) {
      text_ += static_cast<char>(value >> (8 * i) & 0xff);
    }
  }

  std::string text_;
};

enum class HparamType { kString = 1, kBool = 2, kFloat = 3 };

// google.protobuf.Value: number 2, string 3, bool 4.
Message ValueMessage(const ParamValue& value) {
  Message message;
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    message.Double(2, static_cast<double>(*integer));
  } else if (const auto* number = std::get_if<double>(&value)) {
    message.Double(2, *number);
  } else if (const auto* truth = std::get_if<bool>(&value)) {
    message.Integer(4, *truth ? 1 : 0);
  } else {
    message.Bytes(3, ToWord(value));
  }
  return message;
}

bool IsNumber(const ParamValue& value) {
  return std::holds_alternative<int64_t>(value) ||
         std::holds_alternative<double>(value);
}

// Where a list mixes types, its values are told as texts: the tab wants one type.
HparamType TypeOf(const std::vector<ParamValue>& values) {
  bool numbers = true, truths = true;
  for (const ParamValue& value : values) {
    numbers = numbers && IsNumber(value);
    truths = truths && std::holds_alternative<bool>(value);
  }
  return numbers  ? HparamType::kFloat
         : truths ? HparamType::kBool
                  : HparamType::kString;
}

const std::vector<ParamValue>* ListOf(const Domain& domain) {
  if (const auto* list = std::get_if<CategoricalDomain>(&domain)) return &list->values;
  if (const auto* grid = std::get_if<GridDomain>(&domain)) return &grid->values;
  return nullptr;
}

HparamType TypeOf(const Domain& domain) {
  const std::vector<ParamValue>* list = ListOf(domain);
  return list != nullptr ? TypeOf(*list) : HparamType::kFloat;
}

Message TypedValue(const ParamValue& value, HparamType type) {
  const bool as_word =
      type == HparamType::kString && !std::holds_alternative<std::string>(value);
  return ValueMessage(as_word ? ParamValue(ToWord(value)) : value);
}

// HParamInfo: name 1, type 4, domain_discrete 5 (ListValue: values 1), domain_interval
// 6 (min 1, max 2).
Message HparamInfo(const Parameter& parameter) {
  const HparamType type = TypeOf(parameter.domain);
  Message info;
  info.Bytes(1, parameter.name).Integer(4, static_cast<uint64_t>(type));
  if (const std::vector<ParamValue>* list = ListOf(parameter.domain)) {
    Message values;
    for (const ParamValue& value : *list) values.Inner(1, TypedValue(value, type));
    info.Inner(5, values);
  } else if (const auto* real = std::get_if<FloatDomain>(&parameter.domain)) {
    info.Inner(6, Message().Double(1, real->lower).Double(2, real->upper));
  } else if (const auto* whole = std::get_if<IntDomain>(&parameter.domain)) {
    info.Inner(6,
               Message()
                   .Double(1, static_cast<double>(whole->lower))
                   .Double(2, static_cast<double>(whole->upper)));
  }
  return info;
}

// Event: wall_time 1, step 2, file_version 3, summary 5. Summary: value 1. Value: tag
// 1, simple_value 2, metadata 9.
std::string Event(double wall, int64_t step, const Message& value) {
  Message event;
  event.Double(1, wall);
  if (step != 0) event.Integer(2, static_cast<uint64_t>(step));
  event.Inner(5, Message().Inner(1, value));
  return EventRecord(event.text());
}

// SummaryMetadata: plugin_data 1 (name 1, content 2). The content is HParamsPluginData:
// version 1, and one of experiment 2, session_start_info 3, session_end_info 4.
std::string HparamsEvent(double wall, const char* tag, int kind, const Message& what) {
  const Message content = Message().Integer(1, 0).Inner(kind, what);
  const Message plugin = Message().Bytes(1, "hparams").Bytes(2, content.text());
  return Event(wall, 0, Message().Bytes(1, tag).Inner(9, Message().Inner(1, plugin)));
}

std::string FileBegin(double wall) {
  return EventRecord(Message().Double(1, wall).Bytes(3, "brain.Event:2").text());
}

// Experiment: description 1, time_created 3, hparam_infos 4, metric_infos 5 (name 1:
// group 1, tag 2), name 6.
std::string ExperimentFile(const LoggedSweep& sweep) {
  Message experiment;
  experiment.Bytes(6, sweep.name).Double(3, sweep.created);
  for (const Parameter& parameter : sweep.parameters) {
    experiment.Inner(4, HparamInfo(parameter));
  }
  experiment.Inner(5, Message().Inner(1, Message().Bytes(2, sweep.metric)));
  return FileBegin(sweep.created) +
         HparamsEvent(sweep.created, "_hparams_/experiment", 2, experiment);
}

// Status: unknown 0, success 1, failure 2, running 3.
uint64_t StatusOf(TrialState state) {
  switch (state) {
    case TrialState::kCompleted:
    case TrialState::kStopped:
      return 1;
    case TrialState::kFailed:
      return 2;
    case TrialState::kRunning:
      return 3;
    default:
      return 0;
  }
}

void MakeFolder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) ThrowFileError(folder, "can not be made", error.value());
}

void AppendTo(const fs::path& file, std::string_view text) {
  const UniqueFd fd(open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!fd) ThrowFileError(file, "can not be opened", errno);
  while (!text.empty()) {
    const ssize_t put = write(fd.get(), text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) ThrowFileError(file, "can not be written", errno);
    text.remove_prefix(static_cast<size_t>(put));
  }
}

// A record that was cut off in the middle is the beginning of its text too.
void BringTo(const fs::path& file, const std::string& text) {
  const std::optional<std::string> there = ReadFile(file);
  if (there && text.starts_with(*there)) {
    AppendTo(file, std::string_view(text).substr(there->size()));
  } else {
    WriteFileAtomically(file, text, Durability::kProcess);
  }
}

}  // namespace

TensorboardLog::TensorboardLog(LoggedSweep sweep, fs::path folder, Ends ends)
    : sweep_(std::move(sweep)),
      folder_(std::move(folder)),
      ends_(ends),
      file_name_(fmt::format("events.out.tfevents.{}.{}",
                             static_cast<int64_t>(sweep_.created),
                             sweep_.id)) {
  MakeFolder(folder_);
  BringTo(folder_ / file_name_, ExperimentFile(sweep_));
}

// SessionStartInfo: hparams 1 (key 1, value 2), group_name 4, start_time 5.
// SessionEndInfo: status 1, end_time 2.
std::string TensorboardLog::TrialFile(const LoggedTrial& trial) const {
  const TrialRow& row = trial.row;
  const double begin = row.started > 0 ? row.started : sweep_.created;
  Message start;
  for (const Parameter& parameter : sweep_.parameters) {
    const auto found = trial.params.find(parameter.name);
    if (found == trial.params.end()) continue;
    start.Inner(1,
                Message()
                    .Bytes(1, parameter.name)
                    .Inner(2, TypedValue(found->second, TypeOf(parameter.domain))));
  }
  start.Bytes(4, fmt::format("trial {}", row.id.value())).Double(5, begin);
  std::string file =
      FileBegin(begin) + HparamsEvent(begin, "_hparams_/session_start_info", 3, start);
  for (const LoggedValue& logged : trial.values) {
    file += Event(
        logged.wall,
        logged.step,
        Message().Bytes(1, logged.field).Float(2, static_cast<float>(logged.value)));
  }
  if (ends_ == Ends::kFinished && !IsFinished(row.state)) return file;
  const double end = row.ended > 0 ? row.ended : begin;
  const Message ending = Message().Integer(1, StatusOf(row.state)).Double(2, end);
  return file + HparamsEvent(end, "_hparams_/session_end_info", 4, ending);
}

void TensorboardLog::Put(const LoggedTrial& trial) {
  const fs::path own = folder_ / fmt::format("trial-{:05}", trial.row.id.value());
  MakeFolder(own);
  BringTo(own / file_name_, TrialFile(trial));
}

std::string TensorboardLog::Where() const {
  return "event files in " + folder_.string();
}

}  // namespace hyperopt
