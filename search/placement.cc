#include "search/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace hyperopt {
namespace {

constexpr Share kOne = Share::Whole(1);

// The devices of a request, in one of two units: whole devices, or parts of equal size.
struct DeviceNeed {
  int64_t count = 0;  // devices or parts, all ranks together
  Share part;         // of each; kOne for whole ones
  bool whole() const { return part == kOne; }
};

DeviceNeed NeedOf(const ResourceRequest& request) {
  const Share share = request.gpu_per_rank;
  assert(request.ranks >= 1 && share >= Share());
  if (share == Share()) return {};
  if (share < kOne) return {request.ranks, share};
  assert(share.micro() % Share::kWhole == 0);
  return {request.ranks * (share.micro() / Share::kWhole), kOne};
}

bool LacksMemory(const ResourceRequest& request, const Offer& offer, size_t device) {
  if (request.gpu_memory == 0) return false;
  if (device >= offer.device_news.size()) return true;  // it has not told yet
  const int64_t free = offer.device_news[device].free;
  return free >= 0 && free < request.gpu_memory;
}

bool AnyLacksMemory(const ResourceRequest& request, const Offer& offer) {
  for (size_t i = 0; i < offer.device_used.size(); ++i) {
    if (LacksMemory(request, offer, i)) return true;
  }
  return false;
}

// Devices that others fill count as wholly used.
Offer WithoutFilled(const ResourceRequest& request, const Offer& offer) {
  Offer rest = offer;
  for (size_t i = 0; i < rest.device_used.size(); ++i) {
    if (LacksMemory(request, offer, i)) rest.device_used[i] = kOne;
  }
  return rest;
}

Share FreeOf(const Offer& offer, size_t device) {
  return kOne - offer.device_used[device];
}

// How many of what is needed the devices have free: a part never spans two devices.
int64_t FreeUnits(const DeviceNeed& need, const Offer& offer) {
  int64_t units = 0;
  for (size_t i = 0; i < offer.device_used.size() && need.count > 0; ++i) {
    units += FreeOf(offer, i).micro() / need.part.micro();
  }
  return units;
}

Share FreeCpus(const Offer& offer) { return offer.total.cpus - offer.cpus_used; }

int64_t FreeMemory(const Offer& offer) {
  return offer.total.memory - offer.memory_used;
}

bool Fits(const ResourceRequest& request, const DeviceNeed& need, const Offer& offer) {
  return offer.usable && request.cpus <= FreeCpus(offer) &&
         (request.memory == 0 || request.memory <= FreeMemory(offer)) &&
         need.count <= FreeUnits(need, offer);
}

// The fullest device that still fits a part, the first of equally full ones.
int DeviceForPart(Share part, const std::vector<Share>& used) {
  int chosen = -1;
  for (int i = 0; i < static_cast<int>(used.size()); ++i) {
    if (kOne - used[i] < part) continue;
    if (chosen < 0 || used[i] > used[chosen]) chosen = i;
  }
  assert(chosen >= 0);
  return chosen;
}

Placement PlaceOn(const ResourceRequest& request,
                  const DeviceNeed& need,
                  const Offer& offer) {
  Placement placement;
  placement.executor = offer.executor;
  placement.cpus = request.cpus;
  placement.memory = request.memory;
  placement.ranks.resize(request.ranks);
  if (need.count == 0) return placement;
  std::vector<Share> used = offer.device_used;
  const int64_t each = need.count / request.ranks;
  for (Placement::Rank& rank : placement.ranks) {
    rank.share = need.part;
    for (int64_t i = 0; i < each; ++i) {
      const int device = DeviceForPart(need.part, used);
      used[device] += need.part;
      rank.devices.push_back(device);
    }
  }
  return placement;
}

// What an executor would have left, scarcest first; the least is the best fit. A part
// breaks into an idle device only where no shared one of any executor fits it.
struct LeftOver {
  int64_t broken = 0;  // idle devices that would be shared from now on
  int64_t idle = 0;    // devices
  Share free;          // of all devices
  Share cpus;
  int64_t memory = 0;
  auto operator<=>(const LeftOver&) const = default;
};

LeftOver LeftAfter(const ResourceRequest& request,
                   const DeviceNeed& need,
                   const Offer& offer) {
  LeftOver left;
  int64_t in_shared = 0;  // parts that shared devices have room for
  for (size_t i = 0; i < offer.device_used.size(); ++i) {
    const Share free = FreeOf(offer, i);
    left.free += free;
    if (free == kOne) {
      ++left.idle;
    } else if (need.count > 0) {
      in_shared += free.micro() / need.part.micro();
    }
  }
  if (need.count > 0) {
    const int64_t a_device = Share::kWhole / need.part.micro();
    const int64_t more = std::max<int64_t>(need.count - in_shared, 0);
    const int64_t taken = (more + a_device - 1) / a_device;
    left.idle -= taken;
    if (!need.whole()) left.broken = taken;
    left.free -= need.part * need.count;
  }
  left.cpus = FreeCpus(offer) - request.cpus;
  left.memory = FreeMemory(offer) - request.memory;
  return left;
}

Offer Idle(const Resources& total) {
  Offer offer;
  offer.total = total;
  offer.device_used.resize(total.devices.size());
  return offer;
}

// ---- words ----

std::string Counted(Share number, const char* thing) {
  return fmt::format(
      "{} {}{}", number.ToText(), thing, number == Share::Whole(1) ? "" : "s");
}

// "none of 4 is free", "1 of 4 is free", "2 of 4 are free"
std::string FreeOfTotal(Share free, Share total) {
  if (free <= Share()) return fmt::format("none of {} is free", total.ToText());
  return fmt::format("{} of {} {} free",
                     free.ToText(),
                     total.ToText(),
                     free == Share::Whole(1) ? "is" : "are");
}

struct Shortage {
  std::string words;
  bool for_ever = false;  // the executor as a whole is too small
};

std::optional<Shortage> ShortOfCpus(const ResourceRequest& request,
                                    const Offer& offer) {
  if (request.cpus <= FreeCpus(offer)) return std::nullopt;
  const Share total = offer.total.cpus;
  const std::string needs = "needs " + Counted(request.cpus, "CPU");
  if (request.cpus > total) {
    return Shortage{fmt::format("{}, {} has {}", needs, offer.name, total.ToText()),
                    true};
  }
  return Shortage{fmt::format("{}, {}", needs, FreeOfTotal(FreeCpus(offer), total))};
}

std::optional<Shortage> ShortOfMemory(const ResourceRequest& request,
                                      const Offer& offer) {
  if (request.memory == 0 || request.memory <= FreeMemory(offer)) return std::nullopt;
  const std::string total = SizeToText(offer.total.memory);
  const std::string needs =
      fmt::format("needs {} of memory", SizeToText(request.memory));
  if (request.memory > offer.total.memory) {
    return Shortage{fmt::format("{}, {} has {}", needs, offer.name, total), true};
  }
  const int64_t free = std::max<int64_t>(FreeMemory(offer), 0);
  return Shortage{fmt::format("{}, {} of {} are free", needs, SizeToText(free), total)};
}

std::string DeviceNeedWords(const ResourceRequest& request, const DeviceNeed& need) {
  const std::string ranks =
      request.ranks == 1 ? "" : fmt::format(" for {} ranks", request.ranks);
  if (need.whole()) {
    return "needs " + Counted(Share::Whole(need.count), "GPU") + ranks;
  }
  if (need.count == 1) return fmt::format("needs {} of one GPU", need.part.ToText());
  return fmt::format("needs {} times {} of one GPU", need.count, need.part.ToText()) +
         ranks;
}

// "needs 10 GiB of a GPU's memory: device 0 has 3 GiB of 80 GiB free; held by ..."
std::optional<Shortage> ShortOfDeviceMemory(const ResourceRequest& request,
                                            const DeviceNeed& need,
                                            const Offer& offer) {
  if (!AnyLacksMemory(request, offer)) return std::nullopt;
  if (need.count <= FreeUnits(need, WithoutFilled(request, offer))) return std::nullopt;
  std::string words =
      fmt::format("needs {} of a GPU's memory:", SizeToText(request.gpu_memory));
  const char* before = " ";
  for (size_t i = 0; i < offer.device_used.size(); ++i) {
    if (!LacksMemory(request, offer, i)) continue;
    words += fmt::format("{}device {} has {}",
                         std::exchange(before, "; "),
                         offer.total.devices[i].id,
                         i < offer.device_news.size() ? offer.device_news[i].words
                                                      : "not been looked at yet");
  }
  return Shortage{words};
}

std::optional<Shortage> ShortOfDevices(const ResourceRequest& request,
                                       const Offer& offer) {
  const DeviceNeed need = NeedOf(request);
  const int64_t free = FreeUnits(need, offer);
  if (need.count <= free) return ShortOfDeviceMemory(request, need, offer);
  const auto devices = static_cast<int64_t>(offer.total.devices.size());
  const std::string needs = DeviceNeedWords(request, need);
  if (need.count > FreeUnits(need, Idle(offer.total))) {
    const std::string has = devices == 0 ? "none" : fmt::format("{}", devices);
    return Shortage{fmt::format("{}, {} has {}", needs, offer.name, has), true};
  }
  if (need.whole()) {
    const std::string of = FreeOfTotal(Share::Whole(free), Share::Whole(devices));
    return Shortage{fmt::format("{}, {}", needs, of)};
  }
  if (need.count > 1) {
    return Shortage{fmt::format("{}, there is room for {}", needs, free)};
  }
  const Share least =
      *std::min_element(offer.device_used.begin(), offer.device_used.end());
  return Shortage{fmt::format(
      "{}, the emptiest of {} has {} free", needs, devices, (kOne - least).ToText())};
}

// Empty where the request fits.
std::string WhyNotOn(const ResourceRequest& request, const Offer& offer) {
  std::string now;
  std::string never;
  for (const auto& shortage : {ShortOfDevices(request, offer),
                               ShortOfCpus(request, offer),
                               ShortOfMemory(request, offer)}) {
    if (!shortage) continue;
    std::string& words = shortage->for_ever ? never : now;
    if (!words.empty()) words += "; ";
    words += shortage->words;
  }
  if (!never.empty()) return never;
  if (!offer.usable) {
    const std::string& why = offer.unusable_why;
    return fmt::format("{}: {}", offer.name, why.empty() ? "takes no trials" : why);
  }
  return now.empty() ? "" : fmt::format("{}: {}", offer.name, now);
}

}  // namespace

std::optional<Placement> Place(const ResourceRequest& request,
                               std::span<const Offer> offers) {
  const DeviceNeed need = NeedOf(request);
  const Offer* best = nullptr;
  LeftOver best_left;
  for (const Offer& offer : offers) {
    assert(offer.device_used.size() == offer.total.devices.size());
    std::optional<Offer> rest;
    if (AnyLacksMemory(request, offer)) rest = WithoutFilled(request, offer);
    const Offer& seen = rest ? *rest : offer;
    if (!Fits(request, need, seen)) continue;
    const LeftOver left = LeftAfter(request, need, seen);
    const bool better = best == nullptr || left < best_left ||
                        (left == best_left && offer.executor < best->executor);
    if (!better) continue;
    best = &offer;
    best_left = left;
  }
  if (best == nullptr) return std::nullopt;
  return PlaceOn(request, need, WithoutFilled(request, *best));
}

bool CanTake(const Placement& placement, const Offer& offer) {
  if (offer.cpus_used + placement.cpus > offer.total.cpus) return false;
  const bool counts_memory = placement.memory > 0;
  if (counts_memory && offer.memory_used + placement.memory > offer.total.memory) {
    return false;
  }
  std::vector<Share> used = offer.device_used;
  for (const Placement::Rank& rank : placement.ranks) {
    for (const int device : rank.devices) {
      if (device < 0 || device >= std::ssize(used)) return false;
      used[static_cast<size_t>(device)] += rank.share;
      if (used[static_cast<size_t>(device)] > kOne) return false;
    }
  }
  return true;
}

void Take(const Placement& placement, Offer* offer) {
  assert(placement.executor == offer->executor);
  offer->cpus_used += placement.cpus;
  offer->memory_used += placement.memory;
  assert(offer->cpus_used <= offer->total.cpus);
  assert(placement.memory == 0 || offer->memory_used <= offer->total.memory);
  for (const Placement::Rank& rank : placement.ranks) {
    for (const int device : rank.devices) {
      offer->device_used.at(device) += rank.share;
      assert(offer->device_used[device] <= kOne);
    }
  }
}

void GiveBack(const Placement& placement, Offer* offer) {
  assert(placement.executor == offer->executor);
  offer->cpus_used -= placement.cpus;
  offer->memory_used -= placement.memory;
  assert(offer->cpus_used >= Share() && offer->memory_used >= 0);
  for (const Placement::Rank& rank : placement.ranks) {
    for (const int device : rank.devices) {
      offer->device_used.at(device) -= rank.share;
      assert(offer->device_used[device] >= Share());
    }
  }
}

int64_t Capacity(const ResourceRequest& request, const Resources& total) {
  const DeviceNeed need = NeedOf(request);
  int64_t fit = std::numeric_limits<int64_t>::max();
  if (request.cpus > Share()) fit = total.cpus.micro() / request.cpus.micro();
  if (request.memory > 0) fit = std::min(fit, total.memory / request.memory);
  if (need.count > 0) fit = std::min(fit, FreeUnits(need, Idle(total)) / need.count);
  return fit;
}

std::vector<std::string> WhyNot(const ResourceRequest& request,
                                std::span<const Offer> offers) {
  if (offers.empty()) return {"no executor is connected"};
  std::vector<std::string> lines;
  for (const Offer& offer : offers) {
    std::string line = WhyNotOn(request, offer);
    if (!line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace hyperopt
