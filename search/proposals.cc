#include "search/proposals.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "search/live_settings.h"
#include "trial/errors.h"
#include "trial/json.h"

namespace hyperopt {
namespace {

Era EraFromJson(const OrderedJson& json) {
  Era era;
  era.first = json.at("first").get<int64_t>();
  era.offset = json.at("offset").get<int64_t>();
  era.skipped = json.at("skipped").get<std::set<int64_t>>();
  era.resolved_before = json.at("before").get<std::string>();
  return era;
}

}  // namespace

ProposalCursor::ProposalCursor(Era era) : era_(std::move(era)), next_(era_.offset) {
  SkipDone();
}

void ProposalCursor::Take() {
  ++next_;
  SkipDone();
}

void ProposalCursor::SkipDone() {
  while (era_.skipped.contains(next_)) ++next_;
}

int64_t ProposalCursor::Left(int64_t count) const {
  if (count <= next_) return 0;
  const auto from = era_.skipped.lower_bound(next_);
  const auto to = era_.skipped.lower_bound(count);
  return count - next_ - std::distance(from, to);
}

ProposalCursor CursorAfter(const Era& era, const std::vector<TrialRow>& trials) {
  int64_t proposed = 0;
  for (size_t i = static_cast<size_t>(era.first); i < trials.size(); ++i) {
    if (IsProposed(trials[i])) ++proposed;
  }
  return CursorAfter(era, proposed);
}

ProposalCursor CursorAfter(const Era& era, int64_t proposed) {
  ProposalCursor cursor(era);
  for (int64_t i = 0; i < proposed; ++i) cursor.Take();
  return cursor;
}

std::vector<Era> ErasOf(const SweepRow& sweep) {
  std::vector<Era> eras(1);
  for (const auto& [name, text] : SettingsBelow(sweep.settings, kLiveEra)) {
    try {
      eras.push_back(EraFromJson(ParseJson(text)));
    } catch (const std::exception& error) {
      throw EnvironmentError(
          fmt::format("the record's {} can not be read: {}", name, error.what()));
    }
  }
  return eras;
}

Era CurrentEra(const SweepRow& sweep) { return ErasOf(sweep).back(); }

void AppendEra(const Era& era, SweepRow* sweep) {
  const size_t number = ErasOf(*sweep).size();
  const OrderedJson json = {{"first", era.first},
                            {"offset", era.offset},
                            {"skipped", era.skipped},
                            {"before", era.resolved_before}};
  sweep->settings[fmt::format("{}{:04}", kLiveEra, number)] = DumpJson(json);
}

}  // namespace hyperopt
