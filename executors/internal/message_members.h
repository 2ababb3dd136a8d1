// The members of every message, in wire order. A change here raises kProtocolVersion.
#pragma once

#include <tuple>

#include "executors/messages.h"

namespace hyperopt {

constexpr LostPolicy LastOf(LostPolicy) { return LostPolicy::kFinish; }
constexpr HoldState LastOf(HoldState) { return HoldState::kEnded; }
constexpr ReadKind LastOf(ReadKind) { return ReadKind::kTensorboard; }
constexpr Engine LastOf(Engine) { return Engine::kPodman; }
constexpr Tracker LastOf(Tracker) { return Tracker::kMlflow; }
constexpr Reason LastOf(Reason) { return Reason::kTooManyLost; }

constexpr auto Members(const RunKey*) {
  return std::tuple(&RunKey::trial, &RunKey::run, &RunKey::attempt);
}
constexpr auto Members(const SourceId*) {
  return std::tuple(&SourceId::name, &SourceId::generation);
}
constexpr auto Members(const ReportLine*) {
  return std::tuple(&ReportLine::end_offset,
                    &ReportLine::step,
                    &ReportLine::values,
                    &ReportLine::elapsed_s);
}
constexpr auto Members(const Oddities*) {
  return std::tuple(&Oddities::not_json,
                    &Oddities::too_long,
                    &Oddities::binary,
                    &Oddities::no_number,
                    &Oddities::first);
}
constexpr auto Members(const SourceOffset*) {
  return std::tuple(&SourceOffset::source,
                    &SourceOffset::device,
                    &SourceOffset::inode,
                    &SourceOffset::offset);
}
constexpr auto Members(const ReadSource*) {
  return std::tuple(
      &ReadSource::kind, &ReadSource::patterns, &ReadSource::glob, &ReadSource::rename);
}
constexpr auto Members(const Device*) { return std::tuple(&Device::id); }
constexpr auto Members(const Resources*) {
  return std::tuple(
      &Resources::cpus, &Resources::memory, &Resources::devices, &Resources::labels);
}
constexpr auto Members(const Holding*) {
  return std::tuple(&Holding::key, &Holding::state, &Holding::why);
}
constexpr auto Members(const ExitInfo*) {
  return std::tuple(&ExitInfo::exit_code,
                    &ExitInfo::signal,
                    &ExitInfo::started,
                    &ExitInfo::lost,
                    &ExitInfo::error,
                    &ExitInfo::asked,
                    &ExitInfo::wall_limit,
                    &ExitInfo::host_memory,
                    &ExitInfo::device_memory,
                    &ExitInfo::wall_s,
                    &ExitInfo::peak_memory,
                    &ExitInfo::ended_wall,
                    &ExitInfo::last_words);
}

// ---- controller to executor ----

constexpr auto Members(const SweepSpec*) {
  return std::tuple(&SweepSpec::sweep_id,
                    &SweepSpec::name,
                    &SweepSpec::sweep_dir,
                    &SweepSpec::config_dir,
                    &SweepSpec::command,
                    &SweepSpec::model,
                    &SweepSpec::parameter_order,
                    &SweepSpec::arg_names,
                    &SweepSpec::workdir,
                    &SweepSpec::env,
                    &SweepSpec::env_from,
                    &SweepSpec::keep_env,
                    &SweepSpec::read,
                    &SweepSpec::stop_signal,
                    &SweepSpec::log_limit,
                    &SweepSpec::best_checkpoints,
                    &SweepSpec::last_checkpoints,
                    &SweepSpec::around);
}
constexpr auto Members(const Container*) {
  return std::tuple(&Container::engine, &Container::image, &Container::options);
}
constexpr auto Members(const Surroundings*) {
  return std::tuple(&Surroundings::setup,
                    &Surroundings::wrapper,
                    &Surroundings::container,
                    &Surroundings::tracker,
                    &Surroundings::pin_cpus,
                    &Surroundings::gpu_memory);
}
constexpr auto Members(const Timing*) {
  return std::tuple(&Timing::heartbeat_s,
                    &Timing::controller_lost_s,
                    &Timing::stop_grace_s,
                    &Timing::stuck_s);
}
constexpr auto Members(const ExpectedRun*) {
  return std::tuple(&ExpectedRun::key, &ExpectedRun::offsets);
}
constexpr auto Members(const Welcome*) {
  return std::tuple(
      &Welcome::id, &Welcome::sweep, &Welcome::timing, &Welcome::expected);
}
constexpr auto Members(const Ack*) {
  return std::tuple(
      &Ack::key, &Ack::offsets, &Ack::best_step, &Ack::last_step, &Ack::further_best);
}
constexpr auto Members(const Answer*) {
  return std::tuple(&Answer::heartbeat,
                    &Answer::held,
                    &Answer::acks,
                    &Answer::ended,
                    &Answer::unknown);
}
constexpr auto Members(const Launch*) {
  return std::tuple(&Launch::key,
                    &Launch::params,
                    &Launch::seed,
                    &Launch::ranks,
                    &Launch::devices,
                    &Launch::device_share,
                    &Launch::hide_gpus,
                    &Launch::cpus_per_rank,
                    &Launch::budget,
                    &Launch::resume_from,
                    &Launch::first_step,
                    &Launch::wall_limit_s,
                    &Launch::host_for_ranks,
                    &Launch::after);
}
constexpr auto Members(const Stop*) {
  return std::tuple(&Stop::key, &Stop::reason, &Stop::grace_s, &Stop::if_waiting);
}
constexpr auto Members(const Shutdown*) { return std::tuple(); }
constexpr auto Members(const Refused*) { return std::tuple(&Refused::why); }
constexpr auto Members(const HelloAgain*) { return std::tuple(); }

// ---- executor to controller ----

constexpr auto Members(const Hello*) {
  return std::tuple(&Hello::protocol,
                    &Hello::name,
                    &Hello::host,
                    &Hello::boot_id,
                    &Hello::pid,
                    &Hello::born,
                    &Hello::embedded,
                    &Hello::id,
                    &Hello::sweep_id,
                    &Hello::lost_policy,
                    &Hello::resources,
                    &Hello::holdings);
}
constexpr auto Members(const Heartbeat*) {
  return std::tuple(&Heartbeat::id,
                    &Heartbeat::number,
                    &Heartbeat::turn,
                    &Heartbeat::holdings,
                    &Heartbeat::devices);
}
constexpr auto Members(const DeviceNews*) {
  return std::tuple(&DeviceNews::free, &DeviceNews::words);
}
constexpr auto Members(const Measured*) {
  return std::tuple(&Measured::id,
                    &Measured::key,
                    &Measured::upto,
                    &Measured::from,
                    &Measured::lines,
                    &Measured::oddities);
}
constexpr auto Members(const Exited*) {
  return std::tuple(&Exited::id,
                    &Exited::key,
                    &Exited::info,
                    &Exited::offsets,
                    &Exited::oddities,
                    &Exited::checkpoints);
}

}  // namespace hyperopt
