#include "trainer/internal/weights.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "trainer/train.h"
#include "trial/errors.h"
#include "trial/fs.h"
#include "trial/json.h"

namespace hyperopt {
namespace {

namespace stdfs = std::filesystem;
using Tensors = std::vector<std::pair<std::string, torch::Tensor>>;

constexpr int kFormat = 1;

Tensors AllTensors(const torch::nn::Module& module) {
  Tensors tensors;
  for (const auto& item : module.named_parameters()) {
    tensors.emplace_back(item.key(), item.value());
  }
  for (const auto& item : module.named_buffers()) {
    tensors.emplace_back(item.key(), item.value());
  }
  return tensors;
}

void WriteBytes(const stdfs::path& path, const char* data, size_t size) {
  std::ofstream file(path, std::ios::binary);
  file.write(data, static_cast<std::streamsize>(size));
  file.close();
  if (!file) ThrowFileError(path, "write the checkpoint", errno);
}

std::string ReadBytes(const stdfs::path& path) {
  auto bytes = ReadFile(path);
  if (!bytes) throw EnvironmentError(path.string() + ": not in the checkpoint");
  return std::move(*bytes);
}

c10::Dict<std::string, torch::Tensor> ReadModel(const stdfs::path& path) {
  const std::string bytes = ReadBytes(path);
  try {
    const auto value =
        torch::pickle_load(std::vector<char>(bytes.begin(), bytes.end()));
    return c10::impl::toTypedDict<std::string, torch::Tensor>(value.toGenericDict());
  } catch (const std::exception&) {
    throw EnvironmentError(path.string() + ": does not load as a model");
  }
}

void LoadModel(const stdfs::path& path, torch::nn::Module& model) {
  const auto saved = ReadModel(path);
  torch::NoGradGuard no_grad;
  const Tensors tensors = AllTensors(model);
  if (saved.size() != tensors.size()) {
    throw EnvironmentError(path.string() + ": holds a model of another shape");
  }
  for (auto [name, tensor] : tensors) {
    const auto found = saved.find(name);
    if (found == saved.end() || found->value().sizes() != tensor.sizes()) {
      throw EnvironmentError(fmt::format(
          "{}: holds a model of another shape (at {})", path.string(), name));
    }
    tensor.copy_(found->value());
  }
}

void LoadOptimizer(const stdfs::path& path, torch::optim::Optimizer& optimizer) {
  std::vector<std::unique_ptr<torch::optim::OptimizerOptions>> options;
  for (const auto& group : optimizer.param_groups()) {
    options.push_back(group.options().clone());
  }
  try {
    torch::load(optimizer, path.string());
  } catch (const std::exception&) {
    throw EnvironmentError(path.string() + ": does not load as the optimizer's state");
  }
  // A clone trains on with a learning rate of its own.
  for (size_t i = 0; i < options.size(); ++i) {
    optimizer.param_groups()[i].set_options(std::move(options[i]));
  }
}

OrderedJson StateJson(const LoopState& state, const std::string& optimizer_type) {
  OrderedJson report = OrderedJson::object();
  for (const auto& [name, value] : state.report) report[name] = NumberToJson(value);
  return {{"format", kFormat},
          {"step", state.step},
          {"optimizer", optimizer_type},
          {"best_value", NumberToJson(state.best_value)},
          {"epochs_since_best", state.epochs_since_best},
          {"trial", state.trial},
          {"report", report}};
}

double NumberFrom(const OrderedJson& json) {
  if (json.is_number()) return json.get<double>();
  if (json == "Infinity") return INFINITY;
  if (json == "-Infinity") return -INFINITY;
  return NAN;
}

}  // namespace

void SaveState(const stdfs::path& folder,
               const torch::nn::Module& model,
               const torch::optim::Optimizer& optimizer,
               const std::string& optimizer_type,
               const LoopState& state) {
  c10::Dict<std::string, torch::Tensor> tensors;
  for (const auto& [name, tensor] : AllTensors(model)) {
    tensors.insert(name, tensor.detach().cpu());
  }
  const std::vector<char> bytes = torch::pickle_save(tensors);
  WriteBytes(folder / "model.pt", bytes.data(), bytes.size());
  std::ostringstream stream;
  torch::save(optimizer, stream);
  const std::string optimizer_bytes = stream.str();
  WriteBytes(folder / "optimizer.pt", optimizer_bytes.data(), optimizer_bytes.size());
  const std::string json = DumpJson(StateJson(state, optimizer_type), 1);
  WriteBytes(folder / "state.json", json.data(), json.size());
}

LoopState LoadState(const stdfs::path& folder,
                    torch::nn::Module& model,
                    torch::optim::Optimizer& optimizer,
                    const std::string& optimizer_type) {
  const stdfs::path path = folder / "state.json";
  LoopState state;
  std::string saved_type;
  try {
    const OrderedJson json = ParseJson(ReadBytes(path));
    if (json.at("format") != kFormat) throw EnvironmentError("another format");
    state.step = json.at("step").get<int64_t>();
    state.best_value = NumberFrom(json.at("best_value"));
    state.epochs_since_best = json.at("epochs_since_best").get<int64_t>();
    state.trial = json.at("trial").get<std::string>();
    for (const auto& [name, value] : json.at("report").items()) {
      state.report[name] = NumberFrom(value);
    }
    saved_type = json.at("optimizer").get<std::string>();
  } catch (const std::exception& error) {
    throw EnvironmentError(fmt::format(
        "{}: is no checkpoint of this program: {}", path.string(), error.what()));
  }
  LoadModel(folder / "model.pt", model);
  if (saved_type == optimizer_type) LoadOptimizer(folder / "optimizer.pt", optimizer);
  return state;
}

std::vector<float> ReadCheckpointWeights(const stdfs::path& checkpoint) {
  std::vector<float> weights;
  for (const auto& item : ReadModel(checkpoint / "model.pt")) {
    const torch::Tensor flat =
        item.value().to(torch::kCPU, torch::kFloat).contiguous().view(-1);
    weights.insert(
        weights.end(), flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel());
  }
  return weights;
}

}  // namespace hyperopt
