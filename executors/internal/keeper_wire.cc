#include "executors/internal/keeper_wire.h"

#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

namespace hyperopt {
namespace {

static_assert(std::endian::native == std::endian::little,
              "numbers are copied as they lie in memory");

constexpr uint32_t kMaxFrame = 256u << 20;

class Writer {
 public:
  static constexpr bool kReads = false;
  explicit Writer(std::string* out) : out_(out) {}

  template <typename T>
  void Raw(const T& value) {
    static_assert(std::is_arithmetic_v<T>);
    out_->append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void Text(const std::string& text) {
    Raw(static_cast<uint32_t>(text.size()));
    out_->append(text);
  }

 private:
  std::string* out_;
};

// After the first thing that does not fit, ok() is false and all values are zero.
class Reader {
 public:
  static constexpr bool kReads = true;
  explicit Reader(std::string_view in) : in_(in) {}

  template <typename T>
  void Raw(T& value) {
    static_assert(std::is_arithmetic_v<T>);
    value = T{};
    if (!Has(sizeof(value))) return;
    if constexpr (std::is_same_v<T, bool>) {
      value = in_[0] != 0;
    } else {
      std::memcpy(&value, in_.data(), sizeof(value));
    }
    in_.remove_prefix(sizeof(value));
  }
  void Text(std::string& text) {
    uint32_t size = 0;
    Raw(size);
    if (!Has(size)) return;
    text.assign(in_.substr(0, size));
    in_.remove_prefix(size);
  }
  // How many elements follow; each takes at least a byte, so a torn count can not make
  // the reader allocate more than it was sent.
  uint32_t Count() {
    uint32_t count = 0;
    Raw(count);
    return Has(count) ? count : 0;
  }
  bool ok() const { return ok_; }
  bool done() const { return ok_ && in_.empty(); }

 private:
  bool Has(size_t n) {
    if (n > in_.size()) ok_ = false;
    if (!ok_) in_ = {};
    return ok_;
  }

  std::string_view in_;
  bool ok_ = true;
};

// One list of fields a struct serves both directions.
template <typename A, typename... T>
void All(A& archive, T&... values);

template <typename A>
void Fields(A& a, RunKey& key) {
  int64_t trial = key.trial.value();
  int32_t run = key.run.value();
  int32_t attempt = key.attempt.value();
  All(a, trial, run, attempt);
  if constexpr (A::kReads) key = RunKey{TrialId(trial), RunId(run), Attempt(attempt)};
}
template <typename A>
void Fields(A& a, RankSpec& m) {
  All(a, m.argv, m.env, m.cwd, m.stdout_path, m.stderr_path, m.cpus, m.cleanup);
}
template <typename A>
void Fields(A& a, Holding& m) {
  All(a, m.key, m.state);
}
template <typename A>
void Fields(A& a, ExitInfo& m) {
  All(a, m.exit_code, m.signal, m.started, m.lost, m.error, m.asked, m.wall_limit);
  All(a, m.host_memory, m.device_memory, m.wall_s, m.peak_memory, m.ended_wall);
  All(a, m.last_words);
}
template <typename A>
void Fields(A& a, SpawnRun& m) {
  All(a, m.key, m.dir, m.token, m.ranks, m.after, m.leases, m.wall_limit_s);
  All(a, m.stop_signal);
  All(a, m.stop_grace_s);
}
template <typename A>
void Fields(A& a, StopRun& m) {
  All(a, m.key, m.reason, m.grace_s, m.if_waiting);
}
template <typename A>
void Fields(A& a, ReleaseRun& m) {
  All(a, m.key);
}
template <typename A>
void Fields(A& a, KeeperSettings& m) {
  All(a, m.executor_lost_s, m.stop_grace_s, m.policy);
}
template <typename A>
void Fields(A&, KeeperShutdown&) {}
template <typename A>
void Fields(A& a, RunStarted& m) {
  All(a, m.key, m.pids);
}
template <typename A>
void Fields(A& a, RunEnded& m) {
  All(a, m.key, m.info);
}
template <typename A>
void Fields(A& a, KeeperHello& m) {
  All(a, m.pid, m.sweep_id, m.holdings, m.dirs, m.running_s);
}

template <typename A, typename T>
void One(A& a, T& value) {
  if constexpr (std::is_enum_v<T>) {
    auto number = static_cast<int32_t>(value);
    a.Raw(number);
    if constexpr (A::kReads) value = static_cast<T>(number);
  } else if constexpr (std::is_arithmetic_v<T>) {
    a.Raw(value);
  } else {
    Fields(a, value);
  }
}
template <typename A>
void One(A& a, std::string& text) {
  a.Text(text);
}
template <typename A, typename T>
void One(A& a, std::optional<T>& value) {
  bool there = value.has_value();
  a.Raw(there);
  if (!there) return;
  if constexpr (A::kReads) value.emplace();
  All(a, *value);
}
template <typename A, typename T>
void One(A& a, std::vector<T>& list) {
  if constexpr (A::kReads) {
    const uint32_t count = a.Count();
    for (uint32_t i = 0; i < count && a.ok(); ++i) All(a, list.emplace_back());
  } else {
    a.Raw(static_cast<uint32_t>(list.size()));
    for (T& element : list) All(a, element);
  }
}
template <typename A, typename K, typename V>
void One(A& a, std::map<K, V>& map) {
  if constexpr (A::kReads) {
    const uint32_t count = a.Count();
    for (uint32_t i = 0; i < count && a.ok(); ++i) {
      K key;
      All(a, key);
      All(a, map[key]);
    }
  } else {
    a.Raw(static_cast<uint32_t>(map.size()));
    for (auto& [k, value] : map) {
      K key = k;
      All(a, key, value);
    }
  }
}
template <typename A, typename... T>
void All(A& archive, T&... values) {
  (One(archive, values), ...);
}

template <typename Variant>
void Append(const Variant& message, std::string* out) {
  const size_t start = out->size();
  out->append(sizeof(uint32_t), '\0');
  out->push_back(static_cast<char>(kKeeperWireVersion));
  out->push_back(static_cast<char>(message.index()));
  Writer writer(out);
  // The lists of fields are shared with the reader, which writes to them; the writer
  // only reads.
  std::visit(
      [&](const auto& m) { Fields(writer, const_cast<std::decay_t<decltype(m)>&>(m)); },
      message);
  const auto size = static_cast<uint32_t>(out->size() - start - sizeof(uint32_t));
  std::memcpy(out->data() + start, &size, sizeof(size));
}

template <typename Variant, size_t kIndex = 0>
std::optional<Variant> Decode(size_t index, Reader* reader) {
  if constexpr (kIndex < std::variant_size_v<Variant>) {
    if (index != kIndex) return Decode<Variant, kIndex + 1>(index, reader);
    std::variant_alternative_t<kIndex, Variant> message;
    Fields(*reader, message);
    if (reader->done()) return Variant(std::move(message));
  }
  return std::nullopt;
}

template <typename Variant>
std::optional<Variant> DecodeBody(std::string_view body) {
  if (body.size() < 2 || static_cast<uint8_t>(body[0]) != kKeeperWireVersion) {
    return std::nullopt;
  }
  Reader reader(body.substr(2));
  return Decode<Variant>(static_cast<uint8_t>(body[1]), &reader);
}

}  // namespace

void AppendFrame(const ToKeeper& message, std::string* out) { Append(message, out); }
void AppendFrame(const FromKeeper& message, std::string* out) { Append(message, out); }

std::optional<ToKeeper> DecodeToKeeper(std::string_view body) {
  return DecodeBody<ToKeeper>(body);
}
std::optional<FromKeeper> DecodeFromKeeper(std::string_view body) {
  return DecodeBody<FromKeeper>(body);
}

void FrameReader::Feed(std::string_view bytes) {
  buffer_.erase(0, start_);
  start_ = 0;
  buffer_.append(bytes);
}

std::optional<std::string_view> FrameReader::Next() {
  const std::string_view rest = std::string_view(buffer_).substr(start_);
  uint32_t size = 0;
  if (broken_ || rest.size() < sizeof(size)) return std::nullopt;
  std::memcpy(&size, rest.data(), sizeof(size));
  if (size > kMaxFrame) broken_ = true;
  if (broken_ || rest.size() - sizeof(size) < size) return std::nullopt;
  start_ += sizeof(size) + size;
  return rest.substr(sizeof(size), size);
}

}  // namespace hyperopt
