#include "executors/codec.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "executors/internal/archive.h"
#include "executors/internal/message_members.h"
#include "trial/rng.h"

namespace hyperopt {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// ---- equality by members, with doubles by their bits ----

template <typename T>
bool Same(const T& a, const T& b);
bool Same(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}
template <typename T>
bool Same(const std::optional<T>& a, const std::optional<T>& b) {
  return a.has_value() == b.has_value() && (!a || Same(*a, *b));
}
template <typename T>
bool Same(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!Same(a[i], b[i])) return false;
  }
  return true;
}
bool Same(const ParamValue& a, const ParamValue& b) {
  const auto* x = std::get_if<double>(&a);
  const auto* y = std::get_if<double>(&b);
  return x != nullptr && y != nullptr ? Same(*x, *y) : a == b;
}
template <typename V>
bool Same(const std::map<std::string, V>& a, const std::map<std::string, V>& b) {
  if (a.size() != b.size()) return false;
  for (auto i = a.begin(), j = b.begin(); i != a.end(); ++i, ++j) {
    if (i->first != j->first || !Same(i->second, j->second)) return false;
  }
  return true;
}
template <typename T>
bool Same(const T& a, const T& b) {
  if constexpr (internal::Record<T>) {
    return std::apply(
        [&](auto... member) { return (Same(a.*member, b.*member) && ...); },
        Members(&a));
  } else {
    return a == b;
  }
}

template <typename... Ts>
bool SameMessage(const std::variant<Ts...>& a, const std::variant<Ts...>& b) {
  return a.index() == b.index() &&
         std::visit(
             [&](const auto& x) {
               return Same(x, std::get<std::decay_t<decltype(x)>>(b));
             },
             a);
}

// The number of members is written a second time here: a structured binding does not
// compile once a struct has another, so that nobody forgets Members().
template <typename T, size_t n>
constexpr bool kLists = std::tuple_size_v<decltype(Members((T*)nullptr))> == n;

[[maybe_unused]] void CountMembers(const SweepSpec& sweep,
                                   const Launch& launch,
                                   const ExitInfo& exit,
                                   const Hello& hello,
                                   const Heartbeat& heartbeat,
                                   const Measured& measured,
                                   const Exited& exited,
                                   const Welcome& welcome,
                                   const Answer& answer,
                                   const Ack& ack,
                                   const Resources& resources,
                                   const Oddities& oddities,
                                   const SourceOffset& offset,
                                   const ReportLine& line,
                                   const Timing& timing,
                                   const Holding& holding,
                                   const Stop& stop) {
  [[maybe_unused]] const auto& [g1, g2, g3] = holding;
  static_assert(kLists<Holding, 3>);
  [[maybe_unused]] const auto& [p1, p2, p3] = stop;
  static_assert(kLists<Stop, 3>);
  [[maybe_unused]] const auto& [s1,
                                s2,
                                s3,
                                s4,
                                s5,
                                s6,
                                s7,
                                s8,
                                s9,
                                s10,
                                s11,
                                s12,
                                s13,
                                s14,
                                s15] = sweep;
  static_assert(kLists<SweepSpec, 15>);
  [[maybe_unused]] const auto& [l1,
                                l2,
                                l3,
                                l4,
                                l5,
                                l6,
                                l7,
                                l8,
                                l9,
                                l10,
                                l11,
                                l12,
                                l13] = launch;
  static_assert(kLists<Launch, 13>);
  [[maybe_unused]] const auto& [e1,
                                e2,
                                e3,
                                e4,
                                e5,
                                e6,
                                e7,
                                e8,
                                e9,
                                e10,
                                e11,
                                e12,
                                e13] = exit;
  static_assert(kLists<ExitInfo, 13>);
  [[maybe_unused]] const auto& [h1, h2, h3, h4, h5, h6, h7, h8, h9, h10, h11, h12] =
      hello;
  static_assert(kLists<Hello, 12>);
  [[maybe_unused]] const auto& [b1, b2, b3, b4] = heartbeat;
  static_assert(kLists<Heartbeat, 4>);
  [[maybe_unused]] const auto& [m1, m2, m3, m4, m5, m6] = measured;
  static_assert(kLists<Measured, 6>);
  [[maybe_unused]] const auto& [x1, x2, x3, x4, x5, x6] = exited;
  static_assert(kLists<Exited, 6>);
  [[maybe_unused]] const auto& [w1, w2, w3, w4] = welcome;
  static_assert(kLists<Welcome, 4>);
  [[maybe_unused]] const auto& [a1, a2, a3, a4, a5] = answer;
  static_assert(kLists<Answer, 5>);
  [[maybe_unused]] const auto& [k1, k2, k3, k4] = ack;
  static_assert(kLists<Ack, 4>);
  [[maybe_unused]] const auto& [r1, r2, r3, r4] = resources;
  static_assert(kLists<Resources, 4>);
  [[maybe_unused]] const auto& [o1, o2, o3, o4, o5] = oddities;
  static_assert(kLists<Oddities, 5>);
  [[maybe_unused]] const auto& [f1, f2, f3, f4] = offset;
  static_assert(kLists<SourceOffset, 4>);
  [[maybe_unused]] const auto& [i1, i2, i3, i4] = line;
  static_assert(kLists<ReportLine, 4>);
  [[maybe_unused]] const auto& [t1, t2, t3, t4] = timing;
  static_assert(kLists<Timing, 4>);
}

// ---- one of each, every field set ----

const RunKey kKey{TrialId(1'234'567'890'123), RunId(3), Attempt(7)};
const SourceOffset kOffset{{"stdout", 2}, UINT64_MAX, 1ull << 63, 5'000'000'000};
const Oddities kOddities{1, 2, 3, 400, "first \xff\x01"};

SweepSpec FullSweep() {
  SweepSpec sweep;
  sweep.sweep_id = "0123456789abcdef";
  sweep.name = "digits";
  sweep.sweep_dir = "/a path/with spaces";
  sweep.config_dir = "/config";
  sweep.command = {"python3", "train.py", "${args}", ""};
  sweep.model = R"({"trainer":{"epochs":3}})";
  sweep.parameter_order = {"b", "a"};
  sweep.arg_names = {{"a", "alpha"}, {"b", std::nullopt}};
  sweep.workdir = "/work dir";
  sweep.env = {{"X", "${trial.id}"}};
  sweep.env_from = {{"TOKEN", "MY_TOKEN"}};
  sweep.keep_env = {"SLURM_JOB_ID", "OMPI_*"};
  sweep.read = {{ReadKind::kPatterns, {{"loss", "loss: (.*)"}, {"epoch", "e"}}, "", {}},
                {ReadKind::kCsv, {}, "logs/**/metrics.csv", {{"val_loss", "loss"}}}};
  sweep.stop_signal = 2;
  sweep.log_limit = 1LL << 40;
  return sweep;
}

std::vector<ToExecutor> FullToExecutor() {
  Launch launch;
  launch.key = kKey;
  launch.params = {{"null", std::monostate{}},
                   {"yes", true},
                   {"no", false},
                   {"int", INT64_MIN},
                   {"one", int64_t{1}},
                   {"one.0", 1.0},
                   {"nan", kNan},
                   {"inf", -kInf},
                   {"zero", -0.0},
                   {"text", std::string("a\0b", 3)},
                   {"list", Structured{"[1,2]"}},
                   {"", std::string()}};
  launch.seed = UINT64_MAX;
  launch.ranks = 2;
  launch.devices = {{"0", "GPU-1"}, {}};
  launch.device_share = Share::Of(0.25);
  launch.hide_gpus = true;
  launch.cpus_per_rank = Share::Micro(333'333);
  launch.budget = 81;
  launch.resume_from = "trials/1/0/1/checkpoints/9";
  launch.first_step = 9;
  launch.wall_limit_s = 0.5;
  launch.host_for_ranks = "10.0.0.1";
  const Answer answer{
      1'000'000, true, {{kKey, {kOffset, kOffset}, 3, 9}}, {kKey, kKey}, {RunKey{}}};
  return {Welcome{ExecutorId(5),
                  FullSweep(),
                  {0.5, 61, 31, 62},
                  {{kKey, {kOffset}}, {RunKey{}, {}}}},
          answer,
          launch,
          Stop{kKey, Reason::kTooManyLost, kInf},
          Shutdown{},
          Refused{"protocol 2, not 1"},
          HelloAgain{}};
}

std::vector<FromExecutor> FullFromExecutor() {
  Hello hello;
  hello.name = "node-1";
  hello.host = "host";
  hello.boot_id = "b";
  hello.pid = 4242;
  hello.born = INT64_MAX;
  hello.embedded = true;
  hello.id = ExecutorId(9);
  hello.sweep_id = "feed";
  hello.lost_policy = LostPolicy::kFinish;
  hello.resources = {Share::Of(1.5), 1LL << 40, {{"0"}, {"MIG-x"}}, {{"zone", "a"}}};
  hello.holdings = {{kKey, HoldState::kEnded, ""},
                    {RunKey{}, HoldState::kStarting, "device 0 is held"}};
  ExitInfo info{
      -1, 9, false, true, "no such program", Reason::kPruned, true, true, true};
  info.wall_s = kNan;
  info.peak_memory = 1LL << 33;
  info.ended_wall = 1.7e9;
  info.last_words = std::string(3000, 'x');
  const ReportLine with_step{
      77, INT64_MAX, {{"loss", kNan}, {"up", kInf}, {"down", -kInf}, {"z", -0.0}}, 1.5};
  const ReportLine empty{99, std::nullopt, {}, 0};
  return {hello,
          Heartbeat{ExecutorId(9), INT64_MAX, 12, {{kKey, HoldState::kStopping, ""}}},
          Measured{ExecutorId(9), kKey, kOffset, 50, {with_step, empty}, kOddities},
          Exited{ExecutorId(9), kKey, info, {kOffset}, kOddities, {1, 2, 40}}};
}

TEST_SUITE("codec") {
  TEST_CASE("every message comes back with every field") {
    for (const ToExecutor& message : FullToExecutor()) {
      const auto back = DecodeToExecutor(Encode(message));
      REQUIRE(back);
      CHECK(SameMessage(message, *back));
    }
    for (const FromExecutor& message : FullFromExecutor()) {
      const auto back = DecodeFromExecutor(Encode(message));
      REQUIRE(back);
      CHECK(SameMessage(message, *back));
    }
  }

  TEST_CASE("every message comes back with every field at its default") {
    const ToExecutor to[] = {
        Welcome{}, Answer{}, Launch{}, Stop{}, Shutdown{}, Refused{}, HelloAgain{}};
    for (const ToExecutor& message : to) {
      const auto back = DecodeToExecutor(Encode(message));
      REQUIRE(back);
      CHECK(SameMessage(message, *back));
    }
    const FromExecutor from[] = {Hello{}, Heartbeat{}, Measured{}, Exited{}};
    for (const FromExecutor& message : from) {
      const auto back = DecodeFromExecutor(Encode(message));
      REQUIRE(back);
      CHECK(SameMessage(message, *back));
    }
  }

  TEST_CASE("the comparison above sees a difference") {
    ReportLine a;
    ReportLine b;
    CHECK(Same(a, b));
    a.values["x"] = kNan;
    CHECK_FALSE(Same(a, b));
    b.values["x"] = kNan;
    CHECK(Same(a, b));
    b.step = 0;
    CHECK_FALSE(Same(a, b));
    CHECK_FALSE(Same(Params{{"x", 1.0}}, Params{{"x", int64_t{1}}}));
  }

  TEST_CASE("the bytes are MessagePack as others read it") {
    const std::string bytes = Encode(ToExecutor(FullToExecutor()[2]));
    const auto json = nlohmann::json::from_msgpack(bytes);
    CHECK(json[0] == 2);
    CHECK(json[1][0][0] == 1'234'567'890'123);
    CHECK(json[1][2] == UINT64_MAX);
    CHECK(std::isnan(json[1][1]["nan"].get<double>()));
    CHECK(json[1][1]["one.0"].is_number_float());
    CHECK(json[1][1]["one"].is_number_integer());
  }

  TEST_CASE("integers of every size") {
    for (int bit = 0; bit < 64; ++bit) {
      for (const int64_t off : {-1, 0, 1}) {
        const auto value = static_cast<int64_t>((uint64_t{1} << bit) + off);
        for (const int64_t signed_value :
             {value, static_cast<int64_t>(-(uint64_t)value)}) {
          Launch launch;
          launch.first_step = signed_value;
          launch.seed = static_cast<uint64_t>(signed_value);
          const auto back = DecodeToExecutor(Encode(ToExecutor(launch)));
          REQUIRE(back);
          CHECK(std::get<Launch>(*back).first_step == signed_value);
          CHECK(std::get<Launch>(*back).seed == static_cast<uint64_t>(signed_value));
        }
      }
    }
  }

  TEST_CASE("strings and lists of every size class") {
    for (const size_t size : {0, 15, 16, 31, 32, 255, 256, 65535, 65536, 70000}) {
      Refused refused{std::string(size, 'y')};
      const auto back = DecodeToExecutor(Encode(ToExecutor(refused)));
      REQUIRE(back);
      CHECK(std::get<Refused>(*back).why == refused.why);
      Answer answer;
      answer.ended.resize(size, kKey);
      const auto list = DecodeToExecutor(Encode(ToExecutor(answer)));
      REQUIRE(list);
      CHECK(std::get<Answer>(*list).ended == answer.ended);
    }
  }

  TEST_CASE("rubbish is no message") {
    CHECK_FALSE(DecodeToExecutor(""));
    CHECK_FALSE(DecodeFromExecutor(""));
    CHECK_FALSE(DecodeToExecutor("GET / HTTP/1.1\r\n\r\n"));
    CHECK_FALSE(DecodeFromExecutor(std::string(1000, '\xff')));
    // An array of four billion elements in five bytes.
    CHECK_FALSE(DecodeToExecutor(std::string("\x92\x01\xdd\xff\xff\xff\xff", 7)));
    // A thousand nested arrays.
    CHECK_FALSE(DecodeToExecutor(std::string(1000, '\x91')));
    // Unknown message, unknown reason, an id that does not fit its type.
    CHECK_FALSE(DecodeToExecutor("\x92\x07\x90"));
    CHECK_FALSE(
        DecodeToExecutor(Encode(ToExecutor(Stop{kKey, static_cast<Reason>(99), 1}))));
    CHECK(DecodeToExecutor("\x92\x05\x91\xa0"));
    CHECK_FALSE(DecodeToExecutor("\x92\x05\x91\xa0\xa0"));  // and something after it
  }

  TEST_CASE("no message cut short is one") {
    for (const FromExecutor& message : FullFromExecutor()) {
      const std::string bytes = Encode(message);
      for (size_t size = 0; size < bytes.size(); ++size) {
        CHECK_FALSE(DecodeFromExecutor(std::string_view(bytes).substr(0, size)));
      }
    }
  }

  TEST_CASE("whatever decodes encodes to something that decodes the same") {
    Rng rng(1, TrialId(0), "codec");
    for (const ToExecutor& message : FullToExecutor()) {
      const std::string whole = Encode(message);
      for (int i = 0; i < 2000; ++i) {
        std::string bytes = whole;
        bytes[rng.Below(bytes.size())] = static_cast<char>(rng.Below(256));
        const auto decoded = DecodeToExecutor(bytes);
        if (!decoded) continue;
        const auto again = DecodeToExecutor(Encode(*decoded));
        REQUIRE(again);
        CHECK(SameMessage(*decoded, *again));
      }
    }
  }

  TEST_CASE("a hello of another protocol says its number and no more") {
    Hello hello;
    hello.protocol = kProtocolVersion + 1;
    hello.name = "new";
    const auto back = DecodeFromExecutor(Encode(FromExecutor(hello)));
    REQUIRE(back);
    CHECK(std::get<Hello>(*back).protocol == kProtocolVersion + 1);
    // [0, [7, 1, 2]]: other fields than ours.
    const auto other = DecodeFromExecutor(std::string("\x92\x00\x93\x07\x01\x02", 6));
    REQUIRE(other);
    CHECK(std::get<Hello>(*other).protocol == 7);
  }

  TEST_CASE("a frame over 64 MiB is rubbish") {
    const std::string bytes =
        Encode(ToExecutor(Refused{std::string((64 << 20) + 1, 'x')}));
    CHECK_FALSE(DecodeToExecutor(bytes));
  }
}

}  // namespace
}  // namespace hyperopt
