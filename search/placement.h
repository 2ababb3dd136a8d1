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
  // As the executor last told, by the same index; empty where it has not told yet. Only
  // requests for memory of devices look at it, and wait for it.
  std::vector<DeviceNews> device_news;
  bool usable = true;  // false: silent, put aside, leaving
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

// All ranks or none, on one executor; a request that fits somewhere is placed.
// - A part of a device goes to the fullest device that still fits it: 0.25 means four
// on
//   each, never parts of two devices added up. An idle device is broken into only where
//   no shared one fits, of all executors.
// - Whole devices are wholly idle ones, lowest index first.
// - Of several executors it is the one with the least left over of what is scarce: idle
//   devices, then free shares of devices, CPUs, memory; ties by lower id. So a trial
//   without GPUs goes where there are none, and large gangs find room.
// - A device with less free memory than the request names is passed over.
// REQUIRES: gpu_per_rank is below 1 or a whole number; device_used has one entry a
// device. nullopt where it fits nowhere now.
std::optional<Placement> Place(const ResourceRequest& request,
                               std::span<const Offer> offers);

// Whether what an earlier life of the executor gave is there to be taken: it may have
// come back with less, or with other devices.
bool CanTake(const Placement& placement, const Offer& offer);

// Takes and gives back. REQUIRES: the placement fits / was taken before.
void Take(const Placement& placement, Offer* offer);
void GiveBack(const Placement& placement, Offer* offer);

// How many such trials fit an executor that runs nothing else (0: it can never run
// one): as often as Place and Take succeed on it. INT64_MAX for a request of nothing.
int64_t Capacity(const ResourceRequest& request, const Resources& total);

// Why it does not fit, a line an executor that it does not fit:
//   "node1: needs 2 GPUs, 1 of 4 is free; needs 8 CPUs, 3 of 16 are free"
//   "needs 8 CPUs, node1 has 2"       it can never fit there
//   "node1: silent for 12 s"          its unusable_why
//   "no executor is connected"        where there are no offers
// Empty where it fits all of them.
std::vector<std::string> WhyNot(const ResourceRequest& request,
                                std::span<const Offer> offers);

}  // namespace hyperopt
