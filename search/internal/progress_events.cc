#include "search/internal/progress_events.h"

#include <nlohmann/json.hpp>

#include "search/internal/progress_words.h"
#include "trial/errors.h"
#include "trial/json.h"

namespace hyperopt::internal {
namespace {

// The detail's keys beside the event's own; what is no object is under "detail".
void Merge(const std::string& detail, OrderedJson* event) {
  if (detail.empty()) return;
  OrderedJson json;
  try {
    json = ParseJson(detail);
  } catch (const ConfigError&) {
    json = detail;
  }
  if (!json.is_object()) {
    (*event)["detail"] = std::move(json);
    return;
  }
  for (auto& [key, value] : json.items()) {
    if (!event->contains(key)) (*event)[key] = std::move(value);
  }
}

OrderedJson NumberOf(const Objective& objective) {
  if (objective.missing()) return nullptr;
  return NumberToJson(objective.AsDouble());
}

OrderedJson EventOf(const EventRow& row, const Controller& controller) {
  OrderedJson event = {{"event", row.kind}, {"time", row.wall}, {"number", row.number}};
  if (row.trial) event["trial"] = row.trial->value();
  Merge(row.detail, &event);
  if (row.kind == "ended" && row.trial) {
    const TrialRow& trial =
        controller.trials()[static_cast<size_t>(row.trial->value())];
    event["best"] = NumberOf(trial.best);
    event["best_step"] = trial.best_step;
    event["last"] = NumberOf(trial.last);
    if (!trial.detail.empty()) event["detail"] = trial.detail;
  }
  return event;
}

void PutBest(const BestSoFar& best,
             const Controller& controller,
             const std::filesystem::path& dir,
             OrderedJson* json) {
  (*json)["trial"] = best.trial.value();
  (*json)["value"] = NumberOf(best.value);
  (*json)["step"] = best.step;
  if (best.repeats > 0) (*json)["repeats"] = best.repeats;
  if (best.error) (*json)["error"] = NumberToJson(*best.error);
  const Params params = ParamsAtEnd(controller, best.trial, dir);
  if (!params.empty()) (*json)["params"] = ParamsToJson(params);
}

}  // namespace

std::string NoteEvent(std::string_view kind, std::string_view text) {
  return DumpJson({{"event", kind}, {"text", text}}) + "\n";
}

std::string ProgressEvents::OnTurn(std::span<const RecordChange> changes,
                                   const Controller& controller,
                                   Now now) {
  std::string lines;
  for (const RecordChange& change : changes) {
    if (const auto* event = std::get_if<AddEvent>(&change)) {
      lines += DumpJson(EventOf(event->row, controller)) + "\n";
    }
  }
  if (!controller.incumbent()) return lines;
  const BestSoFar best = BestOf(controller);
  if (best == best_) return lines;
  best_ = best;
  OrderedJson event = {{"event", "best"}, {"time", now.wall}};
  PutBest(best, controller, "", &event);
  return lines + DumpJson(event) + "\n";
}

std::string ProgressEvents::End(const SweepEnd& end,
                                const SweepStatus& status,
                                const Controller& controller,
                                const std::filesystem::path& dir,
                                Now now) const {
  OrderedJson event = {{"event", "end"},
                       {"time", now.wall},
                       {"code", static_cast<int>(end.code)},
                       {"why", end.why},
                       {"state", status.state},
                       {"counts", CountsToJson(status.counts)},
                       {"alive_s", status.alive_s},
                       {"dir", dir.string()},
                       {"best", nullptr}};
  if (status.best) PutBest(*status.best, controller, dir, &event["best"]);
  if (end.code == ExitCode::kNoTrialCompleted) {
    event["last_words"] = controller.last_words();
  }
  return DumpJson(event) + "\n";
}

}  // namespace hyperopt::internal
