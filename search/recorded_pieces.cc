#include "search/recorded_pieces.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "trial/errors.h"
#include "trial/json.h"
#include "trial/state.h"

namespace hyperopt {
namespace {

std::optional<TrialId> TrialIn(const OrderedJson& json, const char* name) {
  if (!json.contains(name)) return std::nullopt;
  return TrialId(json.at(name).get<int64_t>());
}

std::optional<PieceEvent> PieceOf(const EventRow& event) {
  using Kind = PieceEvent::Kind;
  const bool ends = event.kind == "ended";
  const bool replaces = event.kind == "replaced";
  if (!event.trial || !(ends || replaces || event.kind == "promoted")) {
    return std::nullopt;
  }
  const OrderedJson json = ParseJson(event.detail);
  PieceEvent piece;
  piece.trial = *event.trial;
  if (ends) {
    const auto state = TrialStateFromString(json.at("state").get<std::string>());
    piece.kind = state == TrialState::kPaused ? Kind::kPaused : Kind::kEnded;
    if (!state || (piece.kind == Kind::kEnded && !IsFinished(*state))) {
      return std::nullopt;
    }
    return piece;
  }
  piece.kind = replaces ? Kind::kReplaced : Kind::kPromoted;
  piece.after = json.at("after").get<int64_t>();
  piece.more = json.value("more", false);
  piece.parent = TrialIn(json, replaces ? "parent" : "no_checkpoint_of");
  if (!replaces) return piece;
  piece.replaced = TrialId(json.at("replaced").get<int64_t>());
  piece.clone = {json.at("checkpoint").get<std::string>(),
                 json.at("step").get<int64_t>(),
                 json.at("done").get<int64_t>()};
  return piece;
}

}  // namespace

std::vector<PieceEvent> RecordedPieces(const TrialStore& store) {
  std::vector<PieceEvent> pieces;
  store.ForEachEvent(1, [&](const EventRow& event) {
    try {
      if (auto piece = PieceOf(event)) pieces.push_back(*std::move(piece));
    } catch (const std::exception& error) {
      throw EnvironmentError(fmt::format(
          "the record's event {} can not be read: {}", event.number, error.what()));
    }
    return true;
  });
  return pieces;
}

std::map<TrialId, CloneStart> RecordedClones(const TrialStore& store) {
  std::map<TrialId, CloneStart> clones;
  for (const PieceEvent& piece : RecordedPieces(store)) {
    if (piece.kind == PieceEvent::Kind::kReplaced) clones[piece.trial] = piece.clone;
  }
  return clones;
}

}  // namespace hyperopt
