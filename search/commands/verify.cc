#include "search/commands/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "samplers/sampler.h"
#include "search/change_request.h"
#include "search/commands/sweep_dir.h"
#include "search/commands/verify_repeats.h"
#include "search/commands/verify_verdicts.h"
#include "search/format.h"
#include "search/mutation.h"
#include "search/proposals.h"
#include "search/recorded_pieces.h"
#include "search/replay.h"
#include "search/seen_history.h"
#include "trial/errors.h"

namespace hyperopt {
namespace {

constexpr size_t kParamsAtOnce = 1000;

class Verifier {
 public:
  Verifier(const RecordedSweep& sweep, size_t most) : sweep_(sweep), most_(most) {
    if (sweep.config.scheduler.pieces()) clones_ = RecordedClones(*sweep.store);
  }

  std::vector<std::string> Run() {
    CheckProposals();
    CheckVerdicts();
    for (const TrialRow& row : sweep_.record.trials) CheckTrial(row);
    if (differences_ > most_) {
      lines_.push_back(fmt::format("... and {} more", differences_ - most_));
    }
    return std::move(lines_);
  }

 private:
  template <typename... Args>
  void Differ(TrialId id, fmt::format_string<Args...> format, Args&&... args) {
    if (++differences_ > most_) return;
    lines_.push_back(fmt::format("trial {}: ", id.value()) +
                     fmt::format(format, std::forward<Args>(args)...));
  }

  // The trials from era.first up to `end` were proposed by `config`.
  void CheckProposals();
  void CheckEra(const Era& era, int64_t end, const SearchConfig& config);
  void AddEarlier(int64_t first, SeenHistory* seen) const;
  std::unique_ptr<Sampler> FreshSampler(const SearchConfig& config) const;
  void CheckGivenParams(TrialId id, const SearchConfig& config, const Params& recorded);
  void CheckParams(TrialId id, const Params& expected, const Params& recorded);
  void CheckVerdicts();
  void CheckCopy(const TrialRow& row, const SearchConfig& config, const Params& params);
  void CheckTrial(const TrialRow& row);
  void CheckRungs(const TrialRow& row, const ReplayedTrial& replayed);

  const RecordedSweep& sweep_;
  const size_t most_;
  size_t differences_ = 0;
  std::vector<std::string> lines_;
  std::map<TrialId, std::vector<const RungRow*>> rungs_of_;
  std::map<TrialId, CloneStart> clones_;
};

// The plan may have been made smaller since: it is large enough for every trial.
std::unique_ptr<Sampler> Verifier::FreshSampler(const SearchConfig& config) const {
  const int64_t trials = std::ssize(sweep_.record.trials);
  SamplerOptions options = config.sampler;
  options.num_samples += sweep_.record.sweep.extra_trials;
  std::unique_ptr<Sampler> sampler = MakeSampler(config.space, options);
  const auto count = [&] { return sampler->TrialCount().value_or(trials); };
  // A list has no more than its rows, however many trials came before it.
  for (int64_t last = -1; count() < trials && count() > last;) {
    last = count();
    options.num_samples *= 2;
    sampler = MakeSampler(config.space, options);
  }
  return sampler;
}

// An amended sweep has a search file an era; each but the newest is kept with the era
// after it.
void Verifier::CheckProposals() {
  const std::vector<Era> eras = ErasOf(sweep_.record.sweep);
  for (size_t i = 0; i < eras.size(); ++i) {
    if (i + 1 == eras.size()) {
      CheckEra(eras[i], std::ssize(sweep_.record.trials), sweep_.config);
    } else {
      SweepRow row = sweep_.record.sweep;
      row.resolved = eras[i + 1].resolved_before;
      CheckEra(eras[i], eras[i + 1].first, ConfigOfRecord(row));
    }
  }
}

void Verifier::CheckEra(const Era& era, int64_t last, const SearchConfig& config) {
  if (config.repeats > 1) {
    CheckRepeats(
        sweep_, config, era.first, last, [&](TrialId id, const std::string& text) {
          Differ(id, "{}", text);
        });
  }
  const std::unique_ptr<Sampler> sampler = FreshSampler(config);
  const std::vector<TrialRow>& trials = sweep_.record.trials;
  ProposalCursor cursor(era);
  std::optional<SeenHistory> seen;
  if (sampler->needs_history()) {
    seen.emplace(*sweep_.store, trials, config);
    AddEarlier(era.first, &*seen);
  }
  std::vector<TrialId> ids;
  const size_t stop = static_cast<size_t>(last);
  for (size_t begin = static_cast<size_t>(era.first); begin < stop;
       begin += kParamsAtOnce) {
    ids.clear();
    const size_t end = std::min(stop, begin + kParamsAtOnce);
    for (size_t i = begin; i < end; ++i) ids.push_back(trials[i].id);
    const std::vector<Params> recorded = sweep_.store->LoadParams(ids);
    for (size_t i = 0; i < ids.size(); ++i) {
      const TrialRow& row = trials[begin + i];
      if (IsGiven(row)) {
        CheckGivenParams(ids[i], config, recorded[i]);
        if (seen) seen->Add(ids[i], recorded[i]);
        continue;
      }
      if (row.parent && config.repeats > 1) continue;  // CheckRepeats
      if (row.parent) {
        CheckCopy(row, config, recorded[i]);
        if (seen) seen->Add(ids[i], recorded[i]);
        continue;
      }
      const History none;
      const std::optional<Params> expected = sampler->Suggest(
          TrialId(cursor.next()), seen ? seen->Before(row.history) : none);
      if (seen) seen->Add(ids[i], recorded[i]);
      cursor.Take();
      if (!expected) {
        Differ(ids[i], "the sampler proposes no such trial");
      } else {
        CheckParams(ids[i], *expected, recorded[i]);
      }
    }
  }
}

// The trials of the eras before: those that were still open.
void Verifier::AddEarlier(int64_t first, SeenHistory* seen) const {
  std::vector<TrialId> ids;
  for (int64_t i = 0; i < first; ++i) ids.push_back(TrialId(i));
  const std::vector<Params> params = sweep_.store->LoadParams(ids);
  for (size_t i = 0; i < ids.size(); ++i) {
    const bool repeats =
        sweep_.config.repeats > 1 && sweep_.record.trials[i].parent.has_value();
    if (!repeats) seen->Add(ids[i], params[i]);
  }
}

// Given by hand: any values, of the search's parameters, all of them.
void Verifier::CheckGivenParams(TrialId id,
                                const SearchConfig& config,
                                const Params& recorded) {
  for (const Parameter& parameter : config.space.parameters()) {
    if (recorded.contains(parameter.name)) continue;
    if (!config.space.TakesPart(parameter, recorded)) continue;
    Differ(id, "was given by hand, and {} is not recorded", parameter.name);
  }
  for (const auto& [name, value] : recorded) {
    if (config.space.Find(name) == nullptr) {
      Differ(id, "was given by hand, and the search has no {}", name);
    }
  }
}

// A copy's parameters are its parent's, changed.
void Verifier::CheckCopy(const TrialRow& row,
                         const SearchConfig& config,
                         const Params& params) {
  const std::vector<TrialId> parent = {*row.parent};
  CheckParams(row.id,
              Mutate(config.space,
                     config.scheduler.pbt,
                     sweep_.store->LoadParams(parent).front(),
                     config.sampler.seed,
                     row.id),
              params);
}

void Verifier::CheckParams(TrialId id, const Params& expected, const Params& recorded) {
  if (expected == recorded) return;
  for (const auto& [name, value] : expected) {
    const auto found = recorded.find(name);
    if (found == recorded.end()) {
      Differ(id, "{} is not recorded, proposed was {}", name, ToJsonText(value));
    } else if (found->second != value) {
      Differ(id,
             "{} is recorded as {}, proposed was {}",
             name,
             ToJsonText(found->second),
             ToJsonText(value));
    }
  }
  for (const auto& [name, value] : recorded) {
    if (!expected.contains(name)) Differ(id, "{} was never proposed", name);
  }
}

void Verifier::CheckVerdicts() {
  for (const RungRow& row : sweep_.record.rungs) rungs_of_[row.trial].push_back(&row);
  for (const WrongVerdict& wrong : WrongVerdicts(sweep_)) {
    Differ(wrong.trial, "{}", wrong.text);
  }
}

void Verifier::CheckTrial(const TrialRow& row) {
  const std::vector<ReportRow> reports = sweep_.store->LoadReports(row.id);
  const std::vector<RunRow> runs = sweep_.store->LoadRuns(row.id);
  const auto clone = clones_.find(row.id);
  const ReplayedTrial replayed =
      ReplayReports(reports,
                    runs,
                    sweep_.config,
                    clone == clones_.end() ? CloneStart{} : clone->second);
  if (row.reports != replayed.reports) {
    Differ(row.id,
           "{} reports are counted, {} are recorded",
           row.reports,
           replayed.reports);
  }
  const auto check = [&](const char* what,
                         const Objective& recorded,
                         int64_t step,
                         const Objective& expected,
                         int64_t expected_step) {
    if (recorded == expected && step == expected_step) return;
    Differ(row.id,
           "the {} value is {} at step {}, its reports say {} at step {}",
           what,
           NumberText(recorded),
           step,
           NumberText(expected),
           expected_step);
  };
  check("best", row.best, row.best_step, replayed.best, replayed.best_step);
  check("last", row.last, row.last_step, replayed.last, replayed.last_step);
  CheckRungs(row, replayed);
}

// Each entry is of the first judged report at or past its level. Where trials wait at a
// rung, what the attempt that brought one there says further is not judged.
void Verifier::CheckRungs(const TrialRow& row, const ReplayedTrial& replayed) {
  const bool waits = sweep_.config.scheduler.pieces();
  int32_t over = 0;  // attempts that have brought it to a rung
  bool stopped = false;
  for (const RungRow* rung : rungs_of_[row.id]) {
    stopped = stopped || rung->stopped;
    // A copy is entered with what its parent had reached.
    if (rung->value.missing() || (rung->late && row.parent)) continue;
    const JudgedReport* first = nullptr;
    for (const JudgedReport& report : replayed.judged) {
      if (report.attempt <= over || report.time < rung->level) continue;
      first = &report;
      if (waits && !rung->late) over = report.attempt;
      break;
    }
    if (first != nullptr && first->time == rung->time && first->value == rung->value) {
      continue;
    }
    Differ(row.id,
           "rung {} holds {} at {}, its reports say {}",
           rung->rung,
           NumberText(rung->value),
           rung->time,
           first == nullptr
               ? "that it was never reached"
               : fmt::format("{} at {}", NumberText(first->value), first->time));
  }
  if (row.reason == Reason::kPruned && !stopped) {
    Differ(row.id, "it was stopped early, and no rung says so");
  }
  if (stopped && row.state == TrialState::kCompleted) {
    Differ(row.id, "a rung stopped it, and it is recorded as completed");
  }
}

}  // namespace

std::vector<std::string> VerifySweep(const RecordedSweep& sweep, size_t most) {
  return Verifier(sweep, most).Run();
}

int VerifyCommand(const VerifyOptions& options) {
  const RecordedSweep sweep = ReadSweep(SweepDirOf(options.dir));
  const std::vector<std::string> lines = VerifySweep(sweep);
  for (const std::string& line : lines) std::printf("%s\n", Printable(line).c_str());
  if (!lines.empty()) {
    std::printf("%s: the record is not what its own history demands\n",
                sweep.dir.c_str());
    return 1;
  }
  const auto given = std::ranges::count_if(sweep.record.trials, IsGiven);
  const auto proposed = std::ranges::count_if(sweep.record.trials, IsProposed);
  const auto copies = std::ssize(sweep.record.trials) - given - proposed;
  std::printf("%s: %td proposals and %zu rung verdicts are as they must be%s%s\n",
              sweep.dir.c_str(),
              proposed,
              sweep.record.rungs.size(),
              copies == 0
                  ? ""
                  : fmt::format(", and {} {}",
                                copies,
                                sweep.config.repeats > 1 ? "repeats" : "changed copies")
                        .c_str(),
              given == 0 ? "" : fmt::format("; {} given by hand", given).c_str());
  return 0;
}

}  // namespace hyperopt
