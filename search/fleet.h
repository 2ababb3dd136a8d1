// The executors as the controller knows them: what each offers, holds, and when it was
// heard.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "executors/messages.h"
#include "search/placement.h"
#include "trial/clock.h"
#include "trial/ids.h"
#include "trial/record.h"

namespace hyperopt {

struct Member {
  ExecutorId id;
  std::string peer;  // the connection it was last heard on; "" before its Hello
  std::string name;
  std::string host;
  std::string boot_id;
  int32_t pid = 0;
  int64_t born = 0;  // as its newest Hello says
  int64_t life = 0;  // counts its processes, as its Hellos tell them apart
  bool embedded = false;
  LostPolicy policy = LostPolicy::kStop;
  Offer offer;
  Time heard;
  bool present = false;  // said Hello in this life of the controller
  bool silent = false;
  bool put_aside = false;   // fails trials that others complete
  bool discarding = false;  // still holds runs that it was told to kill
  int64_t turn = 0;         // of its loop, as last told
  Time turn_changed;
  std::set<RunKey> runs;  // live runs that the record gives it
  // Fast failures in a row, of different trials; cleared by anything else.
  std::set<TrialId> fast_failures;
  bool others_completed = false;  // since the first of them
};

// Members by id. Keeps the books of what is taken; decides nothing.
class Fleet {
 public:
  // From the record: members that may come back, without an offer yet.
  void Restore(const ExecutorRow& row, Time now);
  // A Hello: the member it is (by its id, else by name and host), or a new one. Its
  // offer is set anew, with nothing taken.
  Member& Welcome(const Hello& hello, const std::string& peer, Time now);

  Member* Find(ExecutorId id);
  const Member* Find(ExecutorId id) const;
  Member* FindPeer(const std::string& peer);
  void Heard(Member* member, Time now);

  // Marks members silent that were not heard since `limit`; returns those that changed.
  std::vector<ExecutorId> JudgeSilence(Time limit);

  // Whether a place may be found on a member: it is present, not silent, not put aside,
  // and something was given back since it was last found full.
  std::optional<Placement> FindPlace(const ResourceRequest& request);
  // `gpu_memory` bytes of each of its devices are as good as taken until the executor
  // tells anew.
  void Take(const Placement& placement, int64_t gpu_memory = 0);
  void Seen(Member* member, std::vector<DeviceNews> devices);
  void GiveBack(const Placement& placement);
  void Reopen(ExecutorId id) { open_.insert(id); }

  std::vector<Offer> Offers() const;
  const std::map<ExecutorId, Member>& members() const { return members_; }
  std::map<ExecutorId, Member>& members() { return members_; }
  void Usability(Member* member);

 private:
  std::map<ExecutorId, Member> members_;
  std::map<std::string, ExecutorId> by_peer_;
  std::set<ExecutorId> open_;
  int64_t next_id_ = 1;
};

// RunRow::placement and back.
std::string PlacementToText(const Placement& placement);
std::optional<Placement> PlacementFromText(ExecutorId executor,
                                           const std::string& text);

}  // namespace hyperopt
