#include "trainer/internal/loop.h"

#include <fmt/format.h>

#include <cmath>

#include "trainer/batches.h"
#include "trainer/checkpoint.h"
#include "trainer/internal/evaluate.h"
#include "trainer/internal/optimizer.h"
#include "trial/errors.h"
#include "trial/ids.h"
#include "trial/rng.h"

namespace hyperopt {
namespace {

// Dropout masks are a function of (seed, epoch, rank), so that nothing of a generator
// has to be saved.
uint64_t EpochSeed(uint64_t seed, int64_t epoch, int rank) {
  return Rng(seed, TrialId(), fmt::format("epoch/{}/{}", epoch, rank)).Next() >> 1;
}

double LearningRate(const TrainerConfig& config, int ranks) {
  if (config.learning_rate_scaling == "linear") return config.learning_rate * ranks;
  if (config.learning_rate_scaling == "sqrt") {
    return config.learning_rate * std::sqrt(ranks);
  }
  return config.learning_rate;
}

torch::Tensor Matrix(const std::vector<float>& values,
                     int64_t rows,
                     torch::Device device) {
  const auto width = static_cast<int64_t>(values.size()) / rows;
  return torch::tensor(values).view({rows, width}).to(device);
}

// Adds the fields of one split; none where it has no rows.
void AddFields(const TrainJob& job,
               const std::string& split,
               const std::vector<Predictions>& predictions,
               ReportFields& fields) {
  double combined = 0;
  for (size_t i = 0; i < predictions.size(); ++i) {
    const OutputFeature& feature = job.config.outputs[i];
    const auto metrics =
        ComputeMetrics(feature, job.data.target_info[i], predictions[i]);
    for (const auto& [name, value] : metrics) {
      fields[fmt::format("{}.{}.{}", split, feature.name, name)] = value;
    }
    combined += feature.loss.weight * metrics.at("loss");
  }
  if (!predictions.empty()) fields[split + ".combined.loss"] = combined;
}

// The plain names: the combined loss, and each metric of the first output feature that
// has it; of the validation rows, or of the training rows where there are none.
void AddPlainFields(const TrainJob& job, ReportFields& fields) {
  const std::string split = job.data.split.validation.empty() ? "train" : "validation";
  ReportFields plain = {{"loss", fields.at(split + ".combined.loss")}};
  for (const OutputFeature& feature : job.config.outputs) {
    for (const auto& metric : MetricNames(FeatureTypeName(feature.type))) {
      plain.emplace(metric,
                    fields.at(fmt::format("{}.{}.{}", split, feature.name, metric)));
    }
  }
  fields.insert(plain.begin(), plain.end());
}

}  // namespace

Loop::Loop(const TrainJob& job, Strategy& strategy)
    : job_(job),
      strategy_(strategy),
      batch_size_(job.config.trainer.batch_size.value_or(AutoBatchSize(
          static_cast<int64_t>(job.data.split.train.size()), strategy.world_size()))),
      eval_batch_size_(job.config.trainer.eval_batch_size.value_or(batch_size_)),
      learning_rate_(LearningRate(job.config.trainer, strategy.world_size())) {
  torch::manual_seed(EpochSeed(job.seed, 0, 0));
  model_ = std::make_shared<Model>(job.config, job.data);
  model_->to(strategy.device());
  parameters_ = model_->parameters();
  optimizer_ = MakeOptimizer(job.config.trainer.optimizer, learning_rate_, parameters_);
  inputs_ = Matrix(job.data.inputs, job.data.rows, strategy.device());
  targets_ = Matrix(job.data.targets, job.data.rows, strategy.device());
  if (job.resume_from) Resume();
  strategy_.Attach(parameters_);
  Note(fmt::format("{} rank(s) on {}, batch {} x {}, learning rate {} ({} x {})",
                   strategy.world_size(),
                   strategy.device().str(),
                   batch_size_,
                   strategy.world_size(),
                   learning_rate_,
                   job.config.trainer.learning_rate,
                   job.config.trainer.learning_rate_scaling));
}

void Loop::Note(const std::string& line) const {
  if (strategy_.rank() == 0 && job_.on_note) job_.on_note(line);
}

void Loop::Resume() {
  state_ = LoadState(
      *job_.resume_from, *model_, *optimizer_, job_.config.trainer.optimizer.type);
  Note(fmt::format(
      "resumed from {} at epoch {}", job_.resume_from->string(), state_.step));
}

torch::Tensor Loop::Rows(const torch::Tensor& matrix,
                         const std::vector<int64_t>& rows) const {
  return matrix.index_select(0, torch::tensor(rows, torch::kLong).to(matrix.device()));
}

void Loop::TrainStep(const std::vector<int64_t>& rows,
                     int64_t global_rows,
                     PredictionCollector& collector) {
  const torch::Tensor targets = Rows(targets_, rows);
  const auto scores = model_->Forward(Rows(inputs_, rows));
  const auto losses = model_->Losses(scores, targets);
  // The ranks' gradients are averaged: scaled so, their mean is the gradient of the
  // mean loss over the rows of all ranks, however unevenly these are dealt out.
  const double scale =
      static_cast<double>(strategy_.world_size()) / static_cast<double>(global_rows);
  const torch::Tensor loss = model_->CombinedLoss(losses).sum() * scale;
  optimizer_->zero_grad();
  strategy_.BeforeBackward(loss);
  loss.backward();
  ClipGradients(job_.config.trainer, parameters_);
  optimizer_->step();
  collector.Add(scores, losses, targets);
}

std::optional<std::vector<Predictions>> Loop::TrainEpoch(int64_t epoch) {
  std::vector<int64_t> order = job_.data.split.train;
  if (job_.config.trainer.should_shuffle) {
    ShuffleRows(order, job_.seed, fmt::format("shuffle/{}", epoch));
  }
  const int ranks = strategy_.world_size();
  const BatchPlan plan(order, batch_size_, strategy_.rank(), ranks);
  torch::manual_seed(EpochSeed(job_.seed, epoch, strategy_.rank()));
  model_->train();
  PredictionCollector collector;
  for (int64_t step = 0; step < plan.steps(); ++step) {
    if (strategy_.AnyTrue(job_.stop)) return std::nullopt;
    const int64_t global_rows = plan.GlobalRows(step);
    // Batch norm has no variance over one row: such a last batch is left out.
    if (model_->has_batch_norm() && global_rows < 2 * ranks) continue;
    TrainStep(plan.Rows(step), global_rows, collector);
  }
  return collector.Gather(strategy_);
}

std::optional<std::vector<Predictions>> Loop::Evaluate(std::span<const int64_t> rows) {
  torch::NoGradGuard no_grad;
  model_->eval();
  const BatchPlan plan(
      rows, eval_batch_size_, strategy_.rank(), strategy_.world_size());
  PredictionCollector collector;
  for (int64_t step = 0; step < plan.steps(); ++step) {
    if (strategy_.AnyTrue(job_.stop)) return std::nullopt;
    const auto batch = plan.Rows(step);
    const torch::Tensor targets = Rows(targets_, batch);
    const auto scores = model_->Forward(Rows(inputs_, batch));
    collector.Add(scores, model_->Losses(scores, targets), targets);
  }
  return collector.Gather(strategy_);
}

std::optional<ReportFields> Loop::RunEpoch(int64_t epoch) {
  const auto trained = TrainEpoch(epoch);
  if (!trained) return std::nullopt;
  if (trained->empty()) {
    throw ConfigError(
        "trainer.batch_size: batch norm needs two rows a rank and the training rows "
        "are "
        "fewer");
  }
  // Running means of batch norm differ between the ranks; rank 0's are the model's.
  strategy_.Broadcast(model_->buffers());
  ReportFields fields;
  AddFields(job_, "train", *trained, fields);
  const std::pair<const char*, const std::vector<int64_t>*> splits[] = {
      {"validation", &job_.data.split.validation}, {"test", &job_.data.split.test}};
  for (const auto& [name, rows] : splits) {
    const auto predictions = Evaluate(*rows);
    if (!predictions) return std::nullopt;
    AddFields(job_, name, *predictions, fields);
  }
  AddPlainFields(job_, fields);
  return fields;
}

void Loop::NoteProgress(const ReportFields& fields) {
  const TrainerConfig& trainer = job_.config.trainer;
  const std::string split = job_.data.split.validation.empty() ? "train" : "validation";
  const double value = fields.at(fmt::format(
      "{}.{}.{}", split, trainer.validation_field, trainer.validation_metric));
  const double sign =
      GoalOfMetric(trainer.validation_metric) == MetricGoal::kMinimize ? 1 : -1;
  const bool better = std::isfinite(value) && (std::isnan(state_.best_value) ||
                                               sign * value < sign * state_.best_value);
  if (better) state_.best_value = value;
  state_.epochs_since_best = better ? 0 : state_.epochs_since_best + 1;
}

void Loop::Checkpoint() {
  if (!job_.checkpoint_dir || strategy_.rank() != 0) return;
  WriteCheckpoint(
      *job_.checkpoint_dir, state_.step, [&](const std::filesystem::path& folder) {
        SaveState(
            folder, *model_, *optimizer_, job_.config.trainer.optimizer.type, state_);
      });
}

TrainEnd Loop::Run() {
  const TrainerConfig& trainer = job_.config.trainer;
  const int64_t target = std::min(trainer.epochs, job_.budget.value_or(trainer.epochs));
  const bool report = strategy_.rank() == 0 && job_.on_epoch;
  // A kill between checkpoint and report loses the report; said twice it does no harm.
  // What another trial reported is not this one's.
  if (report && state_.step > 0 && state_.trial == job_.trial) {
    job_.on_epoch(state_.step, state_.report);
  }
  while (state_.step < target) {
    if (trainer.early_stop > 0 && state_.epochs_since_best >= trainer.early_stop) {
      return TrainEnd::kEarlyStopped;
    }
    const auto fields = RunEpoch(state_.step + 1);
    if (!fields) return TrainEnd::kStopRequested;
    ++state_.step;
    state_.trial = job_.trial;
    state_.report = *fields;
    NoteProgress(*fields);
    const bool diverged = !std::isfinite(fields->at("train.combined.loss"));
    // Nobody goes on from weights that are not numbers.
    if (!diverged) Checkpoint();
    if (report) job_.on_epoch(state_.step, *fields);
    if (diverged) return TrainEnd::kDiverged;
  }
  return target < trainer.epochs ? TrainEnd::kBudgetReached : TrainEnd::kEpochsDone;
}

}  // namespace hyperopt
