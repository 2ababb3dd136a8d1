// `--json`: one object a line for each event of a sweep (search/README.md lists them).
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "search/config.h"
#include "search/controller.h"
#include "search/status.h"

namespace hyperopt::internal {

std::string NoteEvent(std::string_view kind, std::string_view text);

class ProgressEvents {
 public:
  // `config` must outlive it.
  explicit ProgressEvents(const SearchConfig& config) : config_(config) {}

  // The lines of one turn, "" where nothing happened.
  std::string OnTurn(std::span<const RecordChange> changes,
                     const Controller& controller,
                     Now now);
  std::string End(const SweepEnd& end,
                  const SweepStatus& status,
                  const Controller& controller,
                  const std::filesystem::path& dir,
                  Now now) const;

 private:
  std::optional<BestSoFar> best_;
  const SearchConfig& config_;
};

}  // namespace hyperopt::internal
