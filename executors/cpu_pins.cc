#include "executors/cpu_pins.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <tuple>
#include <utility>

#include "trial/errors.h"
#include "trial/fs.h"
#include "trial/text.h"

namespace hyperopt {
namespace {

// A number of /sys/devices/system/cpu/cpu<N>/topology; -1 where there is none.
int Topology(int cpu, const char* what) {
  int value = -1;
  try {
    const auto text =
        ReadFile(fmt::format("/sys/devices/system/cpu/cpu{}/topology/{}", cpu, what));
    if (!text) return value;
    const std::string_view digits = Trim(*text);
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
  } catch (const EnvironmentError&) {
  }
  return value;
}

}  // namespace

std::vector<int> AffinityOf(int pid) {
  std::vector<int> cpus;
  for (int most = 1024; most <= 1 << 20; most *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
        CPU_ALLOC(most), [](cpu_set_t* s) { CPU_FREE(s); });
    const size_t size = CPU_ALLOC_SIZE(most);
    if (!set || sched_getaffinity(pid, size, set.get()) != 0) continue;
    for (int cpu = 0; cpu < most; ++cpu) {
      if (CPU_ISSET_S(cpu, size, set.get())) cpus.push_back(cpu);
    }
    break;
  }
  return cpus;
}

std::vector<int> CpusToPin() {
  std::vector<std::tuple<int, int, int>> places;
  for (const int cpu : AffinityOf(0)) {
    places.emplace_back(
        Topology(cpu, "physical_package_id"), Topology(cpu, "core_id"), cpu);
  }
  std::sort(places.begin(), places.end());
  std::vector<int> cpus;
  for (const auto& place : places) cpus.push_back(std::get<2>(place));
  return cpus;
}

CpuPins::CpuPins(std::vector<int> cpus,
                 std::filesystem::path lease_root,
                 std::string who)
    : cpus_(std::move(cpus)),
      lease_root_(std::move(lease_root)),
      who_(std::move(who)) {}

bool CpuPins::IsTaken(int cpu) const {
  return std::any_of(taken_.begin(), taken_.end(), [cpu](const auto& run) {
    return std::any_of(run.second.begin(), run.second.end(), [cpu](const Held& held) {
      return held.cpu == cpu;
    });
  });
}

std::shared_ptr<DeviceLease> CpuPins::Lease(int cpu) const {
  auto lease = TryLease(lease_root_, fmt::format("cpu-{}", cpu), Share::Whole(1), who_);
  return lease ? std::make_shared<DeviceLease>(std::move(*lease)) : nullptr;
}

std::vector<std::vector<int>> CpuPins::Split(const std::vector<Held>& held, int ranks) {
  std::vector<std::vector<int>> by_rank(static_cast<size_t>(ranks));
  const size_t each = held.size() / by_rank.size();
  for (size_t i = 0; i < each * by_rank.size(); ++i) {
    by_rank[i / each].push_back(held[i].cpu);
  }
  return by_rank;
}

std::vector<std::vector<int>> CpuPins::Take(const RunKey& key,
                                            int ranks,
                                            Share cpus_per_rank) {
  std::vector<std::vector<int>> pinned(static_cast<size_t>(ranks));
  const int64_t each = cpus_per_rank.micro() / Share::kWhole;
  if (each < 1 || cpus_per_rank != Share::Whole(each)) return pinned;
  const int64_t need = each * ranks;
  if (need > std::ssize(cpus_)) return pinned;
  std::vector<Held> held;
  for (const int cpu : cpus_) {
    if (std::ssize(held) == need) break;
    if (IsTaken(cpu)) continue;
    if (auto lease = Lease(cpu)) held.push_back({cpu, std::move(lease)});
  }
  if (std::ssize(held) < need) return pinned;
  pinned = Split(held, ranks);
  taken_[key] = std::move(held);
  return pinned;
}

std::vector<std::vector<int>> CpuPins::TakeOver(const RunKey& key,
                                                const RunKey& before,
                                                int ranks) {
  const auto at = taken_.find(before);
  if (at == taken_.end())
    return std::vector<std::vector<int>>(static_cast<size_t>(ranks));
  taken_[key] = at->second;
  return Split(at->second, ranks);
}

std::vector<std::string> CpuPins::LeasesOf(const RunKey& key) const {
  std::vector<std::string> paths;
  const auto at = taken_.find(key);
  if (at == taken_.end()) return paths;
  for (const Held& held : at->second) {
    if (held.lease) paths.push_back(held.lease->path().native());
  }
  return paths;
}

void CpuPins::Adopt(const RunKey& key, const std::vector<int>& cpus) {
  // One that may run everywhere was not pinned.
  if (cpus.size() >= cpus_.size()) return;
  std::vector<Held>& held = taken_[key];
  for (const int cpu : cpus) {
    const bool ours = std::find(cpus_.begin(), cpus_.end(), cpu) != cpus_.end();
    if (ours && !IsTaken(cpu)) held.push_back({cpu, Lease(cpu)});
  }
}

}  // namespace hyperopt
