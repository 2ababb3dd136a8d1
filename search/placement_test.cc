#include "search/placement.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <iostream>
#include <limits>

namespace hyperopt {
namespace {

using Lines = std::vector<std::string>;

Offer Node(int64_t id, int64_t cpus, int64_t memory, int devices) {
  Offer offer;
  offer.executor = ExecutorId(id);
  offer.name = "node" + std::to_string(id);
  offer.total.cpus = Share::Whole(cpus);
  offer.total.memory = memory;
  for (int i = 0; i < devices; ++i) {
    offer.total.devices.push_back({std::to_string(i)});
  }
  offer.device_used.resize(devices);
  return offer;
}

ResourceRequest Gpu(double share, int ranks = 1) {
  ResourceRequest request;
  request.ranks = ranks;
  request.cpus = Share();
  request.gpu_per_rank = Share::Of(share);
  return request;
}

// Places and takes; the devices of all ranks, empty where it did not fit.
std::vector<int> PlaceOne(const ResourceRequest& request, std::vector<Offer>* offers) {
  const auto placement = Place(request, *offers);
  if (!placement) return {};
  std::vector<int> devices;
  for (Offer& offer : *offers) {
    if (offer.executor == placement->executor) Take(*placement, &offer);
  }
  for (const auto& rank : placement->ranks) {
    devices.insert(devices.end(), rank.devices.begin(), rank.devices.end());
  }
  return devices;
}

TEST_SUITE_BEGIN("placement");

TEST_CASE("a quarter of a GPU: four on each") {
  std::vector<Offer> offers{Node(1, 4, 0, 2)};
  std::vector<int> devices;
  for (int i = 0; i < 8; ++i) devices.push_back(PlaceOne(Gpu(0.25), &offers).at(0));
  CHECK(devices == std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1});
  CHECK(PlaceOne(Gpu(0.25), &offers).empty());
  CHECK(Capacity(Gpu(0.25), offers[0].total) == 8);
}

// Ray counted 0.15 against the sum of eight GPUs and started 53.
TEST_CASE("0.15 of a GPU: six on each, not 53 on eight") {
  std::vector<Offer> offers{Node(1, 4, 0, 8)};
  int placed = 0;
  while (!PlaceOne(Gpu(0.15), &offers).empty()) ++placed;
  CHECK(placed == 48);
  CHECK(Capacity(Gpu(0.15), offers[0].total) == 48);
  CHECK(Capacity(Gpu(0.6), offers[0].total) == 8);
}

TEST_CASE(
    "a third of a GPU: three on each, though three of 0.333333 are less than one") {
  CHECK(Capacity(Gpu(1.0 / 3), Node(1, 1, 0, 1).total) == 3);
  CHECK(Capacity(Gpu(0.1), Node(1, 1, 0, 1).total) == 10);
}

TEST_CASE("a part fills a shared device before it breaks into an idle one") {
  std::vector<Offer> offers{Node(1, 4, 0, 3)};
  offers[0].device_used = {Share(), Share::Of(0.25), Share::Of(0.5)};
  CHECK(PlaceOne(Gpu(0.5), &offers) == std::vector<int>{2});
  CHECK(PlaceOne(Gpu(0.5), &offers) == std::vector<int>{1});
  CHECK(PlaceOne(Gpu(0.5), &offers) == std::vector<int>{0});
}

TEST_CASE("and so it does over several executors") {
  std::vector<Offer> offers{Node(1, 4, 0, 1), Node(2, 4, 0, 2)};
  offers[1].device_used[1] = Share::Of(0.5);
  CHECK(Place(Gpu(0.5), offers)->executor == ExecutorId(2));
}

// Ray put two trials on one GPU while another was idle.
TEST_CASE("whole devices are idle ones, each given once") {
  std::vector<Offer> offers{Node(1, 4, 0, 4)};
  offers[0].device_used[1] = Share::Of(0.01);
  CHECK(PlaceOne(Gpu(1), &offers) == std::vector<int>{0});
  CHECK(PlaceOne(Gpu(2), &offers) == std::vector<int>{2, 3});
  CHECK(PlaceOne(Gpu(1), &offers).empty());
}

TEST_CASE("a gang gets all its ranks on one executor, or none") {
  std::vector<Offer> offers{Node(1, 8, 0, 3), Node(2, 8, 0, 3)};
  CHECK_FALSE(Place(Gpu(1, 4), offers));  // six are free, but not four of one
  const auto placement = Place(Gpu(1, 3), offers);
  REQUIRE(placement);
  REQUIRE(placement->ranks.size() == 3);
  CHECK(placement->ranks[2].devices == std::vector<int>{2});
  CHECK(placement->ranks[2].share == Share::Whole(1));
  std::vector<Offer> wide{Node(1, 8, 0, 32)};
  CHECK(PlaceOne(Gpu(4, 8), &wide).size() == 32);
}

TEST_CASE("CPUs and memory are the trial's total, whatever its ranks") {
  std::vector<Offer> offers{Node(1, 4, 100, 0)};
  ResourceRequest request;
  request.ranks = 4;
  request.cpus = Share::Of(1.5);
  request.memory = 40;
  CHECK(Capacity(request, offers[0].total) == 2);
  const auto placement = Place(request, offers);
  REQUIRE(placement);
  CHECK(placement->cpus == Share::Of(1.5));
  CHECK(placement->memory == 40);
  CHECK(placement->ranks.size() == 4);
  CHECK(placement->ranks[0].devices.empty());
  Take(*placement, &offers[0]);
  CHECK(offers[0].cpus_used == Share::Of(1.5));
  CHECK(offers[0].memory_used == 40);
  GiveBack(*placement, &offers[0]);
  CHECK(offers[0].cpus_used == Share());
  CHECK(offers[0].memory_used == 0);
}

TEST_CASE("memory that is not asked for does not count") {
  ResourceRequest request;
  CHECK(Place(request, std::vector<Offer>{Node(1, 1, 0, 0)}));
  request.memory = 1;
  CHECK_FALSE(Place(request, std::vector<Offer>{Node(1, 1, 0, 0)}));
}

TEST_CASE("a request of nothing always fits") {
  ResourceRequest nothing;
  nothing.cpus = Share();
  CHECK(Capacity(nothing, Node(1, 0, 0, 0).total) ==
        std::numeric_limits<int64_t>::max());
  CHECK(Place(nothing, std::vector<Offer>{Node(1, 0, 0, 0)}));
}

TEST_CASE("the best fit of several executors") {
  const ResourceRequest cpu;
  // Without GPUs it goes where there are none.
  CHECK(Place(cpu, std::vector<Offer>{Node(1, 2, 0, 4), Node(2, 64, 0, 0)})->executor ==
        ExecutorId(2));
  // One GPU leaves the large node to large trials.
  CHECK(
      Place(Gpu(1), std::vector<Offer>{Node(1, 8, 0, 4), Node(2, 8, 0, 1)})->executor ==
      ExecutorId(2));
  CHECK(Place(cpu, std::vector<Offer>{Node(1, 8, 0, 0), Node(2, 2, 0, 0)})->executor ==
        ExecutorId(2));
  CHECK(Place(cpu, std::vector<Offer>{Node(2, 8, 9, 0), Node(1, 8, 9, 0)})->executor ==
        ExecutorId(1));
}

TEST_CASE("an executor that is not usable gets nothing") {
  std::vector<Offer> offers{Node(1, 8, 0, 0)};
  offers[0].usable = false;
  CHECK_FALSE(Place(ResourceRequest{}, offers));
  CHECK(WhyNot(ResourceRequest{}, offers) == Lines{"node1: takes no trials"});
  offers[0].unusable_why = "silent for 12 s";
  CHECK(WhyNot(ResourceRequest{}, offers) == Lines{"node1: silent for 12 s"});
}

TEST_CASE("why not, for now: what it needs and what of it is free") {
  std::vector<Offer> offers{Node(1, 16, int64_t{16} << 30, 4)};
  offers[0].device_used = {Share::Whole(1), Share::Whole(1), Share::Whole(1), Share()};
  offers[0].cpus_used = Share::Whole(13);
  ResourceRequest request = Gpu(2);
  CHECK(WhyNot(request, offers) == Lines{"node1: needs 2 GPUs, 1 of 4 is free"});
  request.cpus = Share::Whole(8);
  CHECK(WhyNot(request, offers) ==
        Lines{"node1: needs 2 GPUs, 1 of 4 is free; needs 8 CPUs, 3 of 16 are free"});
  offers[0].device_used[3] = Share::Of(0.75);
  request = Gpu(1);
  CHECK(WhyNot(request, offers) == Lines{"node1: needs 1 GPU, none of 4 is free"});
  CHECK(WhyNot(Gpu(0.5), offers) ==
        Lines{"node1: needs 0.5 of one GPU, the emptiest of 4 has 0.25 free"});
  CHECK(WhyNot(Gpu(0.25, 2), offers) ==
        Lines{"node1: needs 2 times 0.25 of one GPU for 2 ranks, there is room for 1"});
  ResourceRequest memory;
  memory.memory = int64_t{8} << 30;
  offers[0].memory_used = int64_t{13} << 30;
  CHECK(WhyNot(memory, offers) ==
        Lines{"node1: needs 8 GiB of memory, 3 GiB of 16 GiB are free"});
}

TEST_CASE("why not, for ever: what it needs and what there is") {
  const std::vector<Offer> offers{Node(1, 2, int64_t{4} << 30, 2), Node(2, 8, 0, 0)};
  ResourceRequest request;
  request.cpus = Share::Whole(16);
  CHECK(WhyNot(request, offers) ==
        Lines{"needs 16 CPUs, node1 has 2", "needs 16 CPUs, node2 has 8"});
  CHECK(WhyNot(Gpu(2, 4), offers) == Lines{"needs 8 GPUs for 4 ranks, node1 has 2",
                                           "needs 8 GPUs for 4 ranks, node2 has none"});
  CHECK(WhyNot(Gpu(0.5), offers) == Lines{"needs 0.5 of one GPU, node2 has none"});
  request.cpus = Share::Whole(1);
  request.memory = int64_t{8} << 30;
  CHECK(WhyNot(request, offers) == Lines{"needs 8 GiB of memory, node1 has 4 GiB",
                                         "needs 8 GiB of memory, node2 has 0 B"});
  CHECK(WhyNot(request, {}) == Lines{"no executor is connected"});
}

// ---- properties ----

// The same cases in every run.
template <typename Property>
bool Holds(Property property) {
  rc::detail::TestParams params;
  params.seed = 20240607;
  params.maxSuccess = 500;
  const auto result =
      rc::detail::checkTestable(property, rc::detail::TestMetadata(), params);
  const bool holds = result.template is<rc::detail::SuccessResult>();
  if (!holds) rc::detail::printResultMessage(result, std::cerr);
  return holds;
}

ResourceRequest AnyRequest() {
  ResourceRequest request;
  request.ranks = *rc::gen::inRange(1, 5);
  request.cpus = Share::Micro(*rc::gen::inRange<int64_t>(0, 5'000'000));
  request.memory = *rc::gen::element<int64_t>(0, 0, 7, 30);
  const bool part = *rc::gen::arbitrary<bool>();
  request.gpu_per_rank =
      part ? Share::Micro(*rc::gen::inRange<int64_t>(50'000, 1'000'000))
           : Share::Whole(*rc::gen::inRange(0, 4));
  return request;
}

Offer AnyNode(int64_t id) {
  Offer offer = Node(id,
                     *rc::gen::inRange<int64_t>(0, 17),
                     *rc::gen::inRange<int64_t>(0, 100),
                     *rc::gen::inRange(0, 7));
  offer.usable = *rc::gen::inRange(0, 8) > 0;
  return offer;
}

std::vector<Offer> AnyNodes() {
  std::vector<Offer> offers;
  const int count = *rc::gen::inRange(1, 5);
  for (int i = 0; i < count; ++i) offers.push_back(AnyNode(i + 1));
  return offers;
}

bool Sound(const Offer& offer) {
  const auto in_range = [](Share used) {
    return used >= Share() && used <= Share::Whole(1);
  };
  return offer.cpus_used >= Share() && offer.cpus_used <= offer.total.cpus &&
         offer.memory_used >= 0 &&
         (offer.memory_used == 0 || offer.memory_used <= offer.total.memory) &&
         std::all_of(offer.device_used.begin(), offer.device_used.end(), in_range);
}

// A placement gives the request exactly: every rank, each with its devices, each of
// those once where they are whole.
bool GivesAll(const ResourceRequest& request, const Placement& placement) {
  if (static_cast<int>(placement.ranks.size()) != request.ranks) return false;
  if (placement.cpus != request.cpus || placement.memory != request.memory)
    return false;
  std::vector<int> whole;
  for (const auto& rank : placement.ranks) {
    const Share share = request.gpu_per_rank;
    const bool part = share > Share() && share < Share::Whole(1);
    const Share given = rank.share * static_cast<int64_t>(rank.devices.size());
    if (given != share) return false;
    if (part && rank.devices.size() != 1) return false;
    if (!part) whole.insert(whole.end(), rank.devices.begin(), rank.devices.end());
  }
  std::sort(whole.begin(), whole.end());
  return std::adjacent_find(whole.begin(), whole.end()) == whole.end();
}

// Whether it fits, told without the code under test: by trying all ways to give each
// rank its devices, which for equal parts is to count.
bool FitsSomewhere(const ResourceRequest& request, const std::vector<Offer>& offers) {
  for (const Offer& offer : offers) {
    if (!offer.usable) continue;
    if ((offer.total.cpus - offer.cpus_used) < request.cpus) continue;
    if (request.memory > 0 && offer.total.memory - offer.memory_used < request.memory) {
      continue;
    }
    int ranks_left = request.ranks;
    int64_t whole_left = request.gpu_per_rank.micro() / Share::kWhole * request.ranks;
    const bool part = request.gpu_per_rank < Share::Whole(1);
    for (Share used : offer.device_used) {
      while (part && request.gpu_per_rank > Share() && ranks_left > 0 &&
             used + request.gpu_per_rank <= Share::Whole(1)) {
        used += request.gpu_per_rank;
        --ranks_left;
      }
      if (!part && used == Share()) --whole_left;
    }
    const bool devices =
        request.gpu_per_rank == Share() || (part ? ranks_left == 0 : whole_left <= 0);
    if (devices) return true;
  }
  return false;
}

struct Held {
  Placement placement;
  size_t node = 0;
};

TEST_CASE(
    "property: nothing is oversubscribed, what fits is placed, all is given back") {
  CHECK(Holds([] {
    std::vector<Offer> offers = AnyNodes();
    const std::vector<Offer> empty = offers;
    std::vector<Held> held;
    const int moves = *rc::gen::inRange(1, 30);
    for (int move = 0; move < moves; ++move) {
      if (!held.empty() && *rc::gen::inRange(0, 3) == 0) {
        const auto which = *rc::gen::inRange<size_t>(0, held.size());
        GiveBack(held[which].placement, &offers[held[which].node]);
        held.erase(held.begin() + static_cast<int64_t>(which));
        continue;
      }
      const ResourceRequest request = AnyRequest();
      const auto placement = Place(request, offers);
      RC_ASSERT(placement.has_value() == FitsSomewhere(request, offers));
      const Lines why = WhyNot(request, offers);
      if (!placement) RC_ASSERT(why.size() == offers.size());
      if (!placement) continue;
      RC_ASSERT(why.size() < offers.size());
      RC_ASSERT(GivesAll(request, *placement));
      const auto node = static_cast<size_t>(placement->executor.value() - 1);
      RC_ASSERT(offers.at(node).usable);
      Take(*placement, &offers[node]);
      RC_ASSERT(Sound(offers[node]));
      held.push_back({*placement, node});
    }
    for (const Held& one : held) GiveBack(one.placement, &offers[one.node]);
    for (size_t i = 0; i < offers.size(); ++i) {
      RC_ASSERT(offers[i].cpus_used == empty[i].cpus_used);
      RC_ASSERT(offers[i].memory_used == empty[i].memory_used);
      RC_ASSERT(offers[i].device_used == empty[i].device_used);
    }
  }));
}

TEST_CASE("property: the capacity is the number of trials that are placed") {
  CHECK(Holds([] {
    ResourceRequest request = AnyRequest();
    request.cpus += Share::Of(0.25);  // so that it ends
    Offer node = AnyNode(1);
    node.usable = true;
    const int64_t capacity = Capacity(request, node.total);
    int64_t placed = 0;
    while (const auto placement = Place(request, std::vector<Offer>{node})) {
      Take(*placement, &node);
      ++placed;
    }
    RC_ASSERT(placed == capacity);
  }));
}

TEST_CASE("property: a placement does not hang on the order of the offers") {
  CHECK(Holds([] {
    std::vector<Offer> offers = AnyNodes();
    const ResourceRequest request = AnyRequest();
    const auto one = Place(request, offers);
    std::reverse(offers.begin(), offers.end());
    const auto other = Place(request, offers);
    RC_ASSERT(one.has_value() == other.has_value());
    if (one) RC_ASSERT(one->executor == other->executor);
  }));
}

TEST_CASE("a device with too little free memory is passed over, and named") {
  constexpr int64_t kGiB = int64_t{1} << 30;
  ResourceRequest request = Gpu(0.5);
  request.gpu_memory = 10 * kGiB;
  std::vector<Offer> offers{Node(1, 4, 0, 3)};
  offers[0].device_news = {{3 * kGiB, "3 GiB of 80 GiB free; held by x (pid 4, al)"},
                           {10 * kGiB, ""},
                           {-1, ""}};
  CHECK(PlaceOne(request, &offers) == std::vector<int>{1});
  CHECK(offers[0].device_used[0] == Share());
  offers[0].device_news[1].free = 0;
  CHECK(PlaceOne(request, &offers) == std::vector<int>{2});  // not known: not looked at
  offers[0].device_news[2].free = 0;
  offers[0].device_news[1].words = offers[0].device_news[2].words = "none";
  CHECK(PlaceOne(request, &offers).empty());
  CHECK(
      WhyNot(request, offers) ==
      Lines{"node1: needs 10 GiB of a GPU's memory: device 0 has 3 GiB of 80 GiB free; "
            "held by x (pid 4, al); device 1 has none; device 2 has none"});
  // Who asks for no memory is not kept from it.
  CHECK(PlaceOne(Gpu(0.5), &offers).size() == 1);
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt
