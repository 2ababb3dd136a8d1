#include "search/fleet.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "trial/errors.h"
#include "trial/json.h"

namespace hyperopt {
namespace {

// Of a very large fleet that is mostly idle only the first so many are compared for the
// best fit: packing matters where places are scarce, and then few are open.
constexpr size_t kCompared = 64;

// As explanations call it.
std::string ShownName(const Member& member) {
  return member.embedded ? "this machine" : member.name + " on " + member.host;
}

}  // namespace

void Fleet::Restore(const ExecutorRow& row, Time now) {
  Member& member = members_[row.id];
  member.id = row.id;
  member.name = row.name;
  member.host = row.host;
  member.boot_id = row.boot_id;
  member.embedded = row.embedded;
  // Not in the record; the patient one of the two for whoever is away.
  member.policy = row.embedded ? LostPolicy::kStop : LostPolicy::kFinish;
  member.heard = member.turn_changed = now;
  member.offer.executor = row.id;
  member.offer.name = ShownName(member);
  member.offer.usable = false;
  member.offer.unusable_why = "not connected";
  next_id_ = std::max(next_id_, row.id.value() + 1);
}

Member& Fleet::Welcome(const Hello& hello, const std::string& peer, Time now) {
  Member* member = hello.id ? Find(*hello.id) : nullptr;
  if (member != nullptr && (member->name != hello.name || member->host != hello.host ||
                            member->embedded != hello.embedded)) {
    member = nullptr;  // an id of another sweep's
  }
  if (member == nullptr) {
    for (auto& [id, known] : members_) {
      const bool same = known.name == hello.name && known.host == hello.host &&
                        known.embedded == hello.embedded;
      if (same) member = &known;
    }
  }
  if (member == nullptr) {
    const ExecutorId id(next_id_++);
    member = &members_[id];
    member->id = id;
  }
  if (!member->peer.empty()) by_peer_.erase(member->peer);
  by_peer_[peer] = member->id;
  member->peer = peer;
  member->name = hello.name;
  member->host = hello.host;
  member->boot_id = hello.boot_id;
  member->pid = hello.pid;
  member->born = hello.born;
  member->embedded = hello.embedded;
  member->policy = hello.lost_policy;
  member->present = true;
  member->turn_changed = now;
  member->offer = Offer{};
  member->offer.executor = member->id;
  member->offer.name = ShownName(*member);
  member->offer.total = hello.resources;
  member->offer.device_used.resize(hello.resources.devices.size());
  Heard(member, now);
  return *member;
}

Member* Fleet::Find(ExecutorId id) {
  const auto it = members_.find(id);
  return it == members_.end() ? nullptr : &it->second;
}

const Member* Fleet::Find(ExecutorId id) const {
  const auto it = members_.find(id);
  return it == members_.end() ? nullptr : &it->second;
}

Member* Fleet::FindPeer(const std::string& peer) {
  const auto it = by_peer_.find(peer);
  return it == by_peer_.end() ? nullptr : Find(it->second);
}

void Fleet::Heard(Member* member, Time now) {
  member->heard = now;
  member->silent = false;
  Usability(member);
}

void Fleet::Usability(Member* member) {
  const bool was = member->offer.usable;
  member->offer.usable =
      member->present && !member->silent && !member->put_aside && !member->discarding;
  member->offer.unusable_why = !member->present    ? "not connected"
                               : member->silent    ? "not heard from"
                               : member->put_aside ? "put aside after fast failures"
                               : member->discarding
                                   ? "ending runs that went on elsewhere"
                                   : "";
  if (member->offer.usable && !was) open_.insert(member->id);
  if (!member->offer.usable) open_.erase(member->id);
}

std::vector<ExecutorId> Fleet::JudgeSilence(Time limit) {
  std::vector<ExecutorId> changed;
  for (auto& [id, member] : members_) {
    if (!member.present || member.silent || member.heard >= limit) continue;
    member.silent = true;
    Usability(&member);
    changed.push_back(id);
  }
  return changed;
}

std::optional<Placement> Fleet::FindPlace(const ResourceRequest& request) {
  while (!open_.empty()) {
    std::optional<Placement> found;
    if (open_.size() == 1) {
      found = Place(request, std::span(&Find(*open_.begin())->offer, 1));
    } else {
      std::vector<Offer> offers;
      for (ExecutorId id : open_) {
        if (offers.size() == kCompared) break;
        offers.push_back(Find(id)->offer);
      }
      found = Place(request, offers);
    }
    if (found) return found;
    // None of those compared has room: they stay closed until something is given back.
    const size_t closed = std::min(open_.size(), kCompared);
    open_.erase(open_.begin(), std::next(open_.begin(), static_cast<long>(closed)));
  }
  return std::nullopt;
}

void Fleet::Take(const Placement& placement, int64_t gpu_memory) {
  Member* member = Find(placement.executor);
  if (member == nullptr) return;
  hyperopt::Take(placement, &member->offer);
  for (const Placement::Rank& rank : placement.ranks) {
    for (const int device : rank.devices) {
      const auto at = static_cast<size_t>(device);
      if (at >= member->offer.device_news.size()) continue;
      int64_t& free = member->offer.device_news[at].free;
      if (free >= 0) free = std::max<int64_t>(free - gpu_memory, 0);
    }
  }
}

void Fleet::Seen(Member* member, std::vector<DeviceNews> devices) {
  const size_t offered = member->offer.total.devices.size();
  if (!devices.empty() && devices.size() != offered) return;  // an offer that is gone
  const std::vector<DeviceNews>& old = member->offer.device_news;
  bool more = devices.size() != old.size();
  for (size_t i = 0; !more && i < devices.size(); ++i) {
    more = devices[i].free < 0 || devices[i].free > old[i].free;
  }
  member->offer.device_news = std::move(devices);
  if (more && member->offer.usable) open_.insert(member->id);
}

void Fleet::GiveBack(const Placement& placement) {
  Member* member = Find(placement.executor);
  if (member == nullptr || !member->present) return;
  hyperopt::GiveBack(placement, &member->offer);
  if (member->offer.usable) open_.insert(member->id);
}

std::vector<Offer> Fleet::Offers() const {
  std::vector<Offer> offers;
  for (const auto& [id, member] : members_) {
    if (member.present) offers.push_back(member.offer);
  }
  return offers;
}

std::string PlacementToText(const Placement& placement) {
  std::string text = "{\"cpus\":" + std::to_string(placement.cpus.micro()) +
                     ",\"memory\":" + std::to_string(placement.memory) + ",\"ranks\":[";
  for (size_t i = 0; i < placement.ranks.size(); ++i) {
    const Placement::Rank& rank = placement.ranks[i];
    if (i > 0) text += ",";
    text += "{\"share\":" + std::to_string(rank.share.micro()) + ",\"devices\":[";
    for (size_t k = 0; k < rank.devices.size(); ++k) {
      if (k > 0) text += ",";
      text += std::to_string(rank.devices[k]);
    }
    text += "]}";
  }
  return text + "]}";
}

std::optional<Placement> PlacementFromText(ExecutorId executor,
                                           const std::string& text) {
  if (text.empty()) return std::nullopt;
  try {
    const OrderedJson json = ParseJson(text);
    Placement placement;
    placement.executor = executor;
    placement.cpus = Share::Micro(json.at("cpus").get<int64_t>());
    placement.memory = json.at("memory").get<int64_t>();
    for (const auto& rank : json.at("ranks")) {
      placement.ranks.push_back({rank.at("devices").get<std::vector<int>>(),
                                 Share::Micro(rank.at("share").get<int64_t>())});
    }
    return placement;
  } catch (const ConfigError&) {
    return std::nullopt;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace hyperopt
