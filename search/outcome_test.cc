#include "search/outcome.h"

#include <doctest/doctest.h>

#include <cmath>

#include "search/report_time.h"

namespace hyperopt {
namespace {

std::string DetailOf(const std::string& metric, const std::set<std::string>& seen) {
  ExitInfo info;
  info.exit_code = 0;
  return DecideOutcome(TrialRow(), info, ExecutorOptions(), metric, seen).detail;
}

TEST_SUITE_BEGIN("outcome");

TEST_CASE("a metric that never came: what was seen, and which of it was meant") {
  CHECK(DetailOf("loss", {}) == "`loss` never came; no report was seen");
  CHECK(DetailOf("loss", {"epoch", "lr"}) == "`loss` never came; seen: epoch, lr");
  const auto meant = [](const std::string& metric, const std::set<std::string>& seen) {
    const std::string detail = DetailOf(metric, seen);
    const size_t at = detail.find("did you mean ");
    return at == detail.npos ? "" : detail.substr(at + 13);
  };
  CHECK(meant("loss", {"eval_loss", "epoch"}) == "eval_loss?");
  CHECK(meant("loss", {"train/loss", "val/loss"}) == "val/loss?");
  CHECK(meant("val_loss", {"loss"}) == "loss?");
  CHECK(meant("acuracy", {"accuracy", "loss"}) == "accuracy?");
  CHECK(meant("loss", {"gloss", "x"}) == "gloss?");  // one letter off
  CHECK(meant("f1", {"auc"}).empty());
}

TEST_CASE("killed for memory is told apart from a signal, and tried again as a crash") {
  ExitInfo info;
  info.signal = 9;
  info.started = true;
  ExecutorOptions options;
  options.max_failures_crash = 1;
  options.max_failures_exit = 0;
  const auto decide = [&](int64_t failures) {
    TrialRow row;
    row.failures = static_cast<int32_t>(failures);
    return DecideOutcome(row, info, options, "loss", {});
  };
  CHECK(decide(1).reason == Reason::kSignal);
  info.host_memory = true;
  CHECK(decide(1).reason == Reason::kHostMemory);
  CHECK(decide(1).state == TrialState::kFailed);
  CHECK(decide(0).reason == Reason::kRetry);
  CHECK(decide(0).state == TrialState::kPending);
  CHECK(decide(0).own_fault);
  CHECK(decide(0).detail == "killed, most likely for host memory");
  // Where a leader says it for a worker of its own.
  info.signal.reset();
  info.exit_code = 1;
  CHECK(decide(0).reason == Reason::kRetry);
  info.host_memory = false;
  CHECK(decide(0).reason == Reason::kExitCode);
}

TEST_CASE("what was read and not understood, in words") {
  Oddities odd;
  CHECK(OddText(odd).empty());
  odd.not_json = 1;
  odd.first = "oops \"x\"";
  CHECK(OddText(odd) == "1 line was no report: oops \"x\"");
  odd.too_long = 2;
  const std::string words =
      "3 lines were no reports (1 of another form, 2 over 1 MiB); the first: oops "
      "\"x\"";
  CHECK(OddText(odd) == words);
  CHECK(OddText(OddFromJson(OddToJson(odd))) == words);
  Oddities file;
  file.not_json = 1;
  file.first = "read: no file matched `*.csv` in the trial's folder";
  CHECK(NeverCame("loss", {}, file) ==
        "`loss` never came; no report was seen; no file matched `*.csv` in the trial's "
        "folder");
  file.binary = 2;
  CHECK(NeverCame("loss", {"eval_loss"}, file) ==
        "`loss` never came; seen: eval_loss; no file matched `*.csv` in the trial's "
        "folder (2 more not understood); did you mean eval_loss?");
}

TEST_CASE("the time that a field says is in whole units") {
  CHECK(WholeTime(2.5) == 2);
  CHECK(WholeTime(2.9999999999) == 3);  // step / steps_per_epoch
  CHECK(WholeTime(2.999) == 2);
  CHECK(WholeTime(0) == 0);
  CHECK(WholeTime(-1) == -1);
  CHECK(WholeTime(NAN) == -1);
  CHECK(WholeTime(INFINITY) == -1);
  CHECK(WholeTime(1e300) == -1);
  CHECK(FieldOf(R"({"epoch":2.5})", "epoch") == 2.5);
  CHECK(std::isnan(*FieldOf(R"({"epoch":"NaN"})", "epoch")));
  CHECK_FALSE(FieldOf(R"({"loss":1})", "epoch"));
  CHECK(IsReportedTime("epoch"));
  CHECK_FALSE(IsReportedTime("training_iteration"));
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt
