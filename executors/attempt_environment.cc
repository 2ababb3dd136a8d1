// What the ranks of a launch are told.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <functional>
#include <map>
#include <string_view>

#include "executors/attempt_folder.h"
#include "executors/container.h"
#include "executors/internal/tracker_env.h"
#include "trial/command.h"
#include "trial/errors.h"
#include "trial/fs.h"

namespace hyperopt {
namespace {

namespace fs = std::filesystem;

// Names to values; looked up by views of "NAME=value".
using Environment = std::map<std::string, std::string, std::less<>>;

// A variable with its name and its NUL; exec fails on a longer one (MAX_ARG_STRLEN).
constexpr size_t kLongestVariable = 128 << 10;

constexpr std::array<std::string_view, 8> kTorchrun = {"RANK",
                                                       "WORLD_SIZE",
                                                       "LOCAL_RANK",
                                                       "LOCAL_WORLD_SIZE",
                                                       "GROUP_RANK",
                                                       "MASTER_ADDR",
                                                       "MASTER_PORT",
                                                       "TORCHELASTIC_RUN_ID"};
// What a launcher tells the processes that it starts. A trial that read it would think
// itself one of them: an MPI library joins the executor's own job and hangs.
constexpr std::array<std::string_view, 3> kLaunchers = {"SLURM_", "OMPI_", "PMI"};

std::string_view NameOf(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

bool IsNamed(std::string_view name, const std::vector<std::string>& patterns) {
  const std::string variable(name);
  return std::any_of(
      patterns.begin(), patterns.end(), [&variable](const std::string& pattern) {
        return fnmatch(pattern.c_str(), variable.c_str(), 0) == 0;
      });
}

bool IsInherited(std::string_view name, const std::vector<std::string>& keep_env) {
  // Of an outer sweep: this trial has its own.
  if (name.starts_with("HYPEROPT_")) return false;
  if (std::find(kTorchrun.begin(), kTorchrun.end(), name) != kTorchrun.end()) {
    return false;
  }
  const bool is_launchers = std::any_of(
      kLaunchers.begin(), kLaunchers.end(), [name](std::string_view prefix) {
        return name.starts_with(prefix);
      });
  return !is_launchers || IsNamed(name, keep_env);
}

std::optional<std::string> Find(const std::vector<std::string>& env,
                                std::string_view name) {
  for (const std::string& variable : env) {
    if (variable.size() > name.size() && variable[name.size()] == '=' &&
        variable.starts_with(name)) {
      return variable.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

// What is left out here is in the file that $HYPEROPT_PARAMS names.
void AddParameters(const Params& params, Environment& env) {
  for (const auto& [name, value] : params) {
    std::string variable = ParameterVariable(name);
    std::string word = ToWord(value);
    const bool fits = variable.size() + word.size() + 2 <= kLongestVariable;
    if (fits && word.find('\0') == word.npos)
      env[std::move(variable)] = std::move(word);
  }
}

class RankMaker {
 public:
  RankMaker(const SweepSpec& sweep,
            const Launch& launch,
            const fs::path& dir,
            const std::vector<std::string>& base_env,
            int master_port,
            const std::vector<std::vector<int>>& cpus)
      : sweep_(sweep),
        launch_(launch),
        dir_(dir),
        base_env_(base_env),
        master_port_(master_port),
        cpus_(cpus) {
    values_.params = &launch.params;
    values_.names = {
        {"trial.id", std::to_string(launch.key.trial.value())},
        {"trial.dir", dir.native()},
        {"trial.attempt", std::to_string(launch.key.attempt.value())},
        {"trial.seed", std::to_string(launch.seed)},
        {"trial.budget", launch.budget ? std::to_string(*launch.budget) : ""},
        {"trial.params", InFolder(kParamsFile)},
        {"trial.config", InFolder(kConfigFile)},
        {"sweep.name", sweep.name},
        {"config.dir", sweep.config_dir}};
    values_.env = [this](std::string_view name) { return Find(base_env_, name); };
    values_.arg_names = &sweep.arg_names;
    common_ = CommonEnvironment();
  }

  RankSpec Make(int rank) const {
    RankSpec spec;
    Environment own = common_;
    AddRank(rank, own);
    spec.env = Join(own);
    spec.cwd = sweep_.workdir.empty() ? dir_.native() : sweep_.workdir;
    if (rank == 0) {
      spec.stdout_path = InFolder(kStdoutFile);
      spec.stderr_path = InFolder(kStderrFile);
    } else {
      spec.stdout_path = fmt::format("{}/stdout.{}.log", dir_.native(), rank);
      spec.stderr_path = fmt::format("{}/stderr.{}.log", dir_.native(), rank);
    }
    if (static_cast<size_t>(rank) < cpus_.size()) spec.cpus = cpus_[rank];
    spec.argv = ExpandCommand(sweep_.around.wrapper, values_);
    if (sweep_.around.container.engine != Engine::kNone) AddContainer(rank, own, spec);
    for (std::string& word : ExpandCommand(sweep_.command, values_)) {
      spec.argv.push_back(std::move(word));
    }
    return spec;
  }

 private:
  std::string InFolder(const char* name) const { return dir_.native() + "/" + name; }

  // In this order, the later wins: our defaults, the search file's words, the contract.
  Environment CommonEnvironment() const {
    Environment env;
    env["PYTHONUNBUFFERED"] = "1";
    env["OMP_NUM_THREADS"] = std::to_string(
        std::max<int64_t>(1, launch_.cpus_per_rank.micro() / Share::kWhole));
    AddTracker(
        sweep_,
        launch_,
        dir_.native(),
        [this](std::string_view name) { return Find(base_env_, name).has_value(); },
        env);
    for (const auto& [name, text] : sweep_.env) {
      env[name] = ExpandTemplate(text, values_);
    }
    for (const auto& [name, from] : sweep_.env_from) {
      auto value = Find(base_env_, from);
      if (!value) {
        throw ConfigError(fmt::format(
            "env.{}: the variable {} is not set where the executor was started",
            name,
            from));
      }
      env[name] = *std::move(value);
    }
    AddParameters(launch_.params, env);
    AddContract(env);
    return env;
  }

  void AddContract(Environment& env) const {
    env["HYPEROPT_CONTRACT"] = "1";
    env["HYPEROPT_SWEEP"] = sweep_.name;
    env["HYPEROPT_TRIAL"] = values_.names.at("trial.id");
    env["HYPEROPT_ATTEMPT"] = values_.names.at("trial.attempt");
    env["HYPEROPT_SEED"] = values_.names.at("trial.seed");
    env["HYPEROPT_TRIAL_DIR"] = dir_.native();
    env["HYPEROPT_CHECKPOINT_DIR"] = InFolder(kCheckpointFolder);
    env["HYPEROPT_PARAMS"] = values_.names.at("trial.params");
    env["HYPEROPT_CONFIG"] = values_.names.at("trial.config");
    if (launch_.budget) env["HYPEROPT_BUDGET"] = values_.names.at("trial.budget");
    if (!launch_.resume_from.empty()) {
      env["HYPEROPT_RESUME_FROM"] = (SweepDir() / launch_.resume_from).native();
    }
  }

  // <sweep>/trials/<trial>/<run>/<attempt>, as this host sees it.
  fs::path SweepDir() const {
    return dir_.parent_path().parent_path().parent_path().parent_path();
  }

  // Rank 0 reports; what another rank writes to the same variable goes nowhere, so that
  // a script that knows nothing of ranks does not report once each.
  void AddRank(int rank, Environment& env) const {
    env["HYPEROPT_REPORT"] = rank == 0 ? InFolder(kReportFile) : "/dev/null";
    const bool has_devices = static_cast<size_t>(rank) < launch_.devices.size() &&
                             !launch_.devices[rank].empty();
    if (has_devices || launch_.hide_gpus) {
      env["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
      env["CUDA_VISIBLE_DEVICES"] =
          has_devices ? fmt::format("{}", fmt::join(launch_.devices[rank], ",")) : "";
    }
    if (launch_.ranks < 2) return;
    env["RANK"] = env["LOCAL_RANK"] = std::to_string(rank);
    env["WORLD_SIZE"] = env["LOCAL_WORLD_SIZE"] = std::to_string(launch_.ranks);
    env["GROUP_RANK"] = "0";
    env["MASTER_ADDR"] = launch_.host_for_ranks;
    env["MASTER_PORT"] = std::to_string(master_port_);
    env["TORCHELASTIC_RUN_ID"] = TokenOf();
  }

  std::string TokenOf() const {
    return fmt::format("{}-{}-{}-{}",
                       sweep_.sweep_id,
                       launch_.key.trial.value(),
                       launch_.key.run.value(),
                       launch_.key.attempt.value());
  }

  // The whole `trials` folder: a trial may go on from another attempt's checkpoint.
  void AddContainer(int rank, const Environment& own, RankSpec& spec) const {
    ContainerRank inside;
    inside.token = fmt::format("{}-{}", TokenOf(), rank);
    inside.cwd = spec.cwd;
    inside.folders = {(SweepDir() / "trials").native(), spec.cwd};
    // An engine makes a folder that it is to show and that is not there.
    std::error_code absent;
    if (fs::is_directory(sweep_.config_dir, absent)) {
      inside.folders.push_back(sweep_.config_dir);
    }
    if (static_cast<size_t>(rank) < launch_.devices.size()) {
      inside.devices = launch_.devices[rank];
    }
    for (const auto& [name, value] : own) {
      const bool renumbered = name == "CUDA_VISIBLE_DEVICES" && !inside.devices.empty();
      if (!renumbered) inside.variables.push_back(name);
    }
    inside.variables.emplace_back("HYPEROPT_TOKEN");
    inside.cpus = spec.cpus;
    inside.host_network = launch_.ranks > 1;
    for (std::string& word : ContainerWords(sweep_.around.container, inside)) {
      spec.argv.push_back(std::move(word));
    }
    spec.cleanup = RemoveContainerWords(sweep_.around.container.engine, inside.token);
  }

  std::vector<std::string> Join(const Environment& own) const {
    std::vector<std::string> joined;
    joined.reserve(base_env_.size() + own.size());
    for (const std::string& variable : base_env_) {
      const std::string_view name = NameOf(variable);
      if (IsInherited(name, sweep_.keep_env) && own.find(name) == own.end()) {
        joined.push_back(variable);
      }
    }
    for (const auto& [name, value] : own) joined.push_back(name + "=" + value);
    return joined;
  }

  const SweepSpec& sweep_;
  const Launch& launch_;
  const fs::path& dir_;
  const std::vector<std::string>& base_env_;
  const int master_port_;
  const std::vector<std::vector<int>>& cpus_;
  TemplateValues values_;
  Environment common_;
};

}  // namespace

std::string ParameterVariable(std::string_view name) {
  std::string variable = "HYPEROPT_PARAM_";
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte < 0x80 && std::isalnum(byte) != 0;
    variable.push_back(plain ? static_cast<char>(std::toupper(byte)) : '_');
  }
  return variable;
}

std::vector<RankSpec> MakeRanks(const SweepSpec& sweep,
                                const Launch& launch,
                                const fs::path& dir,
                                const std::vector<std::string>& base_env,
                                int master_port,
                                const std::vector<std::vector<int>>& cpus) {
  const RankMaker maker(sweep, launch, dir, base_env, master_port, cpus);
  std::vector<RankSpec> ranks;
  for (int rank = 0; rank < launch.ranks; ++rank) ranks.push_back(maker.Make(rank));
  return ranks;
}

int FreePort() {
  const UniqueFd probe(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const bool found = probe && bind(probe.get(), generic, size) == 0 &&
                     getsockname(probe.get(), generic, &size) == 0;
  if (!found) ThrowFileError("127.0.0.1", "no free port", errno);
  return ntohs(address.sin_port);
}

}  // namespace hyperopt
