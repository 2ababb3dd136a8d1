#include "search/commands/try.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "samplers/sampler.h"
#include "search/change_request.h"
#include "search/commands/text_width.h"
#include "search/commands/try_watch.h"
#include "search/format.h"
#include "search/model_check.h"
#include "search/run.h"
#include "trial/errors.h"
#include "trial/text.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

// Gone when the command ends, unless it is kept.
class TryFolder {
 public:
  TryFolder() {
    std::string name = (fs::temp_directory_path() / "hyperopt-try-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      ThrowFileError(fs::temp_directory_path(), "a folder can not be made", errno);
    }
    path_ = name;
  }
  ~TryFolder() {
    std::error_code ignored;
    if (!kept_) fs::remove_all(path_, ignored);
  }
  TryFolder(const TryFolder&) = delete;
  TryFolder& operator=(const TryFolder&) = delete;
  void Keep() { kept_ = true; }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  bool kept_ = false;
};

Params GivenParams(const SearchConfig& config, const std::string& text) {
  Params given;
  try {
    given = ParamsFromJsonText(text);
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format(
        "--params {}: {}; write a JSON object, as --params '{{\"lr\": 0.01}}'",
        text,
        error.what()));
  }
  std::vector<std::string> notes;
  given = CheckGiven(config.space, given, &notes);
  for (const std::string& note : notes) {
    std::fprintf(stderr, "hyperopt: note: %s\n", Printable(note).c_str());
  }
  return given;
}

Params ParamsOfTrial(const SearchConfig& config,
                     const std::optional<std::string>& given) {
  const auto sampler = MakeSampler(config.space, config.sampler);
  std::optional<Params> params = sampler->Suggest(TrialId(0), History{});
  if (!params) throw ConfigError("the search proposes nothing: there is none to try");
  if (given) {
    for (const auto& [name, value] : GivenParams(config, *given)) {
      (*params)[name] = value;
    }
  }
  return *std::move(params);
}

// A list of the one: whatever was given is in such a space. The seed stays, so that the
// trial sees what the sweep's first one does.
void SearchThese(const Params& params, SearchConfig* config) {
  std::vector<Parameter> parameters;
  for (const Parameter& parameter : config->space.parameters()) {
    const auto value = params.find(parameter.name);
    if (value == params.end()) continue;  // it takes no part
    parameters.push_back({parameter.name, CategoricalDomain{{value->second}}});
  }
  config->space = SearchSpace(std::move(parameters));
  SamplerOptions list;
  list.kind = SamplerKind::kList;
  list.seed = config->sampler.seed;
  list.rows = {params};
  list.num_samples = 1;
  config->sampler = std::move(list);
}

// As a sweep would run it, once: no second try, and what is done for a sweep's sake
// (hooks, tidying up) is not.
SearchConfig TryConfig(SearchConfig config, const Params& params) {
  SearchThese(params, &config);
  config.executor.num_samples = 1;
  config.executor.max_concurrent_trials.reset();
  config.executor.max_failures_exit = config.executor.max_failures_crash = 0;
  config.executor.max_initial_failures = std::numeric_limits<int32_t>::max();
  config.hooks = Hooks();
  config.keep.logs = KeepLogs::kAll;
  config.keep.folders = KeepFolders::kAll;
  return config;
}

int CodeOf(const TrialFacts& facts, bool was_to_stop) {
  bool good = facts.row.state == TrialState::kCompleted;
  if (was_to_stop && StopTook(facts)) {
    good = !WasKilled(facts) && facts.row.best.finite();
  }
  return good ? 0 : 1;
}

}  // namespace

std::optional<double> SecondsFromText(const std::string& text) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !(number >= 0) || number > 1e9) return std::nullopt;
  const std::string_view unit(end, text.data() + text.size() - end);
  if (unit.empty() || unit == "s") return number;
  if (unit == "ms") return number / 1000;
  if (unit == "m") return number * 60;
  if (unit == "h") return number * 3600;
  return std::nullopt;
}

int TryCommand(const TryOptions& options) {
  const SearchConfig config = LoadConfig(options.config);
  const Params params = ParamsOfTrial(config, options.params);
  if (config.command.empty()) RequireGoodModel(config, params);
  TryFolder folder;
  RunOptions run;
  run.config = TryConfig(config, params);
  run.dir = folder.path();
  run.progress = ProgressMode::kSilent;
  run.resources = options.resources;
  if (options.keep) folder.Keep();
  const ResourceRequest& resources = config.executor.resources;
  TryWatch watch(
      folder.path(), resources.ranks, !resources.hide_gpus, options.stop_after_s);
  const int code = RunSweep(std::move(run));
  watch.Finish();
  const TrialFacts facts = ReadTrial(folder.path(), TrialId(0));
  const Oddities odd = OddLines(OpenQuery(folder.path()).store());
  std::printf("\n");
  for (const std::string& line :
       TryReport(facts, odd, watch.device_memory(), TextWidth())) {
    std::printf("%s\n", line.c_str());
  }
  if (options.keep) {
    std::printf("kept        %s\n", QuoteShellWord(folder.path().string()).c_str());
  }
  const bool ran = code == static_cast<int>(ExitCode::kDone) ||
                   code == static_cast<int>(ExitCode::kNoTrialCompleted);
  return ran ? CodeOf(facts, options.stop_after_s.has_value()) : code;
}

}  // namespace hyperopt
