// Compiled, never run: Members() of message_members.h names every member.
#include "executors/internal/message_members.h"

#include <cstddef>
#include <tuple>

namespace hyperopt {
namespace {

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
  [[maybe_unused]] const auto& [p1, p2, p3, p4] = stop;
  static_assert(kLists<Stop, 4>);
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
                                s15,
                                s16,
                                s17,
                                s18] = sweep;
  static_assert(kLists<SweepSpec, 18>);
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
                                l13,
                                l14] = launch;
  static_assert(kLists<Launch, 14>);
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
  [[maybe_unused]] const auto& [b1, b2, b3, b4, b5] = heartbeat;
  static_assert(kLists<Heartbeat, 5>);
  [[maybe_unused]] const auto& [y1, y2, y3, y4, y5, y6] = sweep.around;
  static_assert(kLists<Surroundings, 6>);
  [[maybe_unused]] const auto& [z1, z2, z3] = sweep.around.container;
  static_assert(kLists<Container, 3>);
  [[maybe_unused]] const auto& [m1, m2, m3, m4, m5, m6] = measured;
  static_assert(kLists<Measured, 6>);
  [[maybe_unused]] const auto& [x1, x2, x3, x4, x5, x6] = exited;
  static_assert(kLists<Exited, 6>);
  [[maybe_unused]] const auto& [w1, w2, w3, w4] = welcome;
  static_assert(kLists<Welcome, 4>);
  [[maybe_unused]] const auto& [a1, a2, a3, a4, a5] = answer;
  static_assert(kLists<Answer, 5>);
  [[maybe_unused]] const auto& [k1, k2, k3, k4, k5] = ack;
  static_assert(kLists<Ack, 5>);
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

}  // namespace
}  // namespace hyperopt
