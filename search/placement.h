// What runs where. One gate decides: a pure function of a request and of what is free.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "executors/messages.h"
#include "trial/ids.h"
#include "trial/resources.h"

namespace hyperopt {

// What an executor has and what of it is taken. Free is total minus used; used never
// exceeds total, a device's used share never exceeds a whole.
struct Offer {
  ExecutorId executor;
  std::string name;  // for explanations
  Resources total;
  Share cpus_used;
  int64_t memory_used = 0;
  std::vector<Share> device_used;  // by index into total.devices
  bool usable = true;              // false: silent, put aside, leaving
  std::string unusable_why;
};

// Where one launch goes: all its ranks on one executor.
struct Placement {
  ExecutorId executor;
  // Of each rank: indices into total.devices, with the share taken of each (a whole, or
  // a part of exactly one).
  struct Rank {
    std::vector<int> devices;
    Share share;
  };
  std::vector<Rank> ranks;
  Share cpus;          // together
  int64_t memory = 0;  // together
};

// All ranks or none. Packs: a part of a device goes to the fullest device that still
// fits it (0.25 means four on each, never parts of two devices added up); whole devices
// are wholly free ones, lowest index first; of several executors the one with the least
// left over of what is scarce, ties by lower id. nullopt where it fits nowhere now.
std::optional<Placement> Place(const ResourceRequest& request,
                               std::span<const Offer> offers);

// Takes and gives back. REQUIRES: the placement fits / was taken before.
void Take(const Placement& placement, Offer* offer);
void GiveBack(const Placement& placement, Offer* offer);

// How many such trials fit an executor that runs nothing else (0: it can never run
// one).
int64_t Capacity(const ResourceRequest& request, const Resources& total);

// Why it does not fit, a line an executor: "node1: needs 2 GPUs, 1 of 4 is free" . Also
// says when it could never fit: "needs 8 CPUs, node1 has 2".
std::vector<std::string> WhyNot(const ResourceRequest& request,
                                std::span<const Offer> offers);

}  // namespace hyperopt
