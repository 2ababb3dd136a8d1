// What a sweep says while it runs, and what its controller answers.
#include "search/progress.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "search/format.h"
#include "search/internal/live_block.h"
#include "search/internal/patient_output.h"
#include "search/requests.h"
#include "search/status.h"
#include "search/testing/captured.h"
#include "search/testing/played_sweep.h"

namespace hyperopt {
namespace {

using testing::CommandFile;
using testing::PlayedSweep;
using testing::ScriptedTrial;

const std::string kFour = "  executor: {num_samples: 4, max_concurrent_trials: 2}\n";

ScriptedTrial Falling(TrialId id, const Params&) {
  return {
      {3.0 - static_cast<double>(id.value()), 2.5 - static_cast<double>(id.value())}};
}

ScriptedTrial Failing(TrialId, const Params&) {
  return {{}, 1, "Traceback\n  File x\nValueError: no such column\n"};
}

// All that a sweep of `script` writes in a mode.
std::string Shown(ProgressMode mode, testing::Script script, const std::string& file) {
  PlayedSweep sweep(file, std::move(script));
  std::FILE* out = std::tmpfile();
  Progress progress(mode, out, sweep.config());
  progress.Say("4 trials");
  sweep.hook = [&](auto changes, const Controller& controller, Now now) {
    progress.OnTurn(changes, controller, now);
  };
  sweep.PlayToEnd();
  progress.End(sweep.end(), sweep.controller(), "results/played", sweep.now());
  const std::string text = testing::TextOf(out);
  std::fclose(out);
  return text;
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST_CASE("mode: json before quiet, a block only on a terminal") {
  CHECK(ChooseMode(true, true, true) == ProgressMode::kJson);
  CHECK(ChooseMode(false, true, true) == ProgressMode::kQuiet);
  CHECK(ChooseMode(false, false, true) == ProgressMode::kTerminal);
  CHECK(ChooseMode(false, false, false) == ProgressMode::kPlain);
}

TEST_CASE("plain: a sweep from its first line to its last") {
  const std::vector<std::string> lines =
      Lines(Shown(ProgressMode::kPlain, Falling, CommandFile(kFour)));
  REQUIRE(lines.size() == 7);
  CHECK(lines[0] == "4 trials");
  CHECK(lines[1] == "joined: embedded on node1");
  CHECK(lines[2].starts_with("best: loss 2 (trial 1, step 1)  lr=0."));
  CHECK(lines[3].starts_with("done after "));
  CHECK(lines[3].ends_with(": 4 of 4 trials: 4 completed"));
  CHECK(lines[4] == "best: loss -0.5 (trial 3, step 2)");
  CHECK(lines[5].starts_with("  lr="));
  CHECK(lines[6].starts_with("  hyperopt report "));
}

TEST_CASE("plain: a failure that repeats is told once, with a count") {
  const std::string file = CommandFile(
      "  executor: {num_samples: 20, max_concurrent_trials: 2, max_initial_failures: "
      "50}\n");
  const std::vector<std::string> lines =
      Lines(Shown(ProgressMode::kPlain, Failing, file));
  int failures = 0, reasons = 0, counted = 0;
  for (const std::string& line : lines) {
    failures += line.find(" failed: exit code 1") != line.npos;
    reasons += line == "  | ValueError: no such column";
    counted += line == "  19 more failed like this";
  }
  CHECK(failures == 1);
  CHECK(reasons == 2);  // once beside the failure, once at the end
  CHECK(counted == 1);
  CHECK(lines.back() == "  | ValueError: no such column");
  CHECK(std::count(lines.begin(), lines.end(), "why: no trial completed") == 1);
}

TEST_CASE("plain: the first kinds of failure with their reasons, then only a count") {
  const std::string file = CommandFile(
      "  executor: {num_samples: 20, max_concurrent_trials: 1, max_initial_failures: "
      "50}\n");
  const auto failing = [](TrialId id, const Params&) {
    ScriptedTrial trial;
    trial.exit_code = static_cast<int>(id.value() / 3) + 1;  // three of each kind
    return trial;
  };
  const std::vector<std::string> lines =
      Lines(Shown(ProgressMode::kPlain, failing, file));
  const auto count = [&](const std::string& text) {
    return std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.find(text) != line.npos;
    });
  };
  CHECK(count(" failed: exit code ") == 5);
  CHECK(count("  2 more failed like this") == 5);
  CHECK(count("further failures are only counted") == 1);
}

TEST_CASE("plain: a thousand trials are a few lines") {
  const std::string file = CommandFile(
      "  search_alg: {type: random}\n  executor: {num_samples: 1000, "
      "max_concurrent_trials: 2}\n");
  const std::string text = Shown(ProgressMode::kPlain, Falling, file);
  const std::vector<std::string> lines = Lines(text);
  CHECK(lines.size() < 120);
  const auto bests = std::count_if(lines.begin(), lines.end(), [](const auto& line) {
    return line.starts_with("best: ");
  });
  CHECK(bests > 5);
  CHECK(text.find("1000 of 1000 trials") != text.npos);
}

TEST_CASE("json: every line is an object with its event") {
  const std::string text = Shown(ProgressMode::kJson, Falling, CommandFile(kFour));
  std::map<std::string, int> count;
  OrderedJson ended, best, end;
  for (const std::string& line : Lines(text)) {
    const OrderedJson event = OrderedJson::parse(line);
    ++count[event.at("event").get<std::string>()];
    if (event["event"] == "ended") ended = event;
    if (event["event"] == "best") best = event;
    if (event["event"] == "end") end = event;
  }
  CHECK(count["note"] == 1);
  CHECK(count["executor joined"] == 1);
  CHECK(count["launched"] == 4);
  CHECK(count["ended"] == 4);
  CHECK(count["end"] == 1);
  CHECK(ended["trial"] == 3);
  CHECK(ended["state"] == "completed");
  CHECK(ended["best"] == -0.5);
  CHECK(best["value"] == -0.5);
  CHECK(best["params"].contains("lr"));
  CHECK(end["code"] == 0);
  CHECK(end["counts"]["completed"] == 4);
  CHECK(end["best"]["trial"] == 3);
  CHECK(end["dir"] == "results/played");
}

TEST_CASE("quiet: one line") {
  const std::string text = Shown(ProgressMode::kQuiet, Falling, CommandFile(kFour));
  CHECK(text == "done: loss -0.5 (trial 3, step 2); 4 completed; results/played\n");
}

TEST_CASE("terminal: the block is erased before each line, and at the end") {
  const std::string text = Shown(ProgressMode::kTerminal, Falling, CommandFile(kFour));
  CHECK(text.find("\x1b[") != text.npos);
  CHECK(text.find("\x1b[?25l") == text.npos);  // the cursor is never hidden
  CHECK(text.ends_with("\n"));
  const size_t last_escape = text.rfind("\x1b[J");
  CHECK(text.find("done after", last_escape) != text.npos);
  CHECK(text.find("running  ", last_escape) == text.npos);
}

TEST_CASE("terminal: no line is wider than it, none breaks within a word") {
  const std::string text = Shown(
      ProgressMode::kTerminal, Failing, CommandFile("  executor: {num_samples: 4}\n"));
  for (const std::string& line : Lines(text)) {
    CAPTURE(line);
    CHECK(DisplayWidth(line.substr(line.rfind('\x1b') + 1)) <= 80);
  }
}

TEST_CASE("a stop is told of once, whoever asks and however often") {
  for (const bool by_signal : {true, false}) {
    CAPTURE(by_signal);
    PlayedSweep sweep(CommandFile(kFour), Falling);
    std::FILE* out = std::tmpfile();
    Progress progress(ProgressMode::kPlain, out, sweep.config());
    sweep.hook = [&](auto changes, const Controller& controller, Now now) {
      progress.OnTurn(changes, controller, now);
    };
    sweep.Step();
    for (int count = 1; count <= (by_signal ? 3 : 2); ++count) {
      if (by_signal) progress.OnInterrupt(count);
      sweep.Ask(StopAsked{count == 1 ? StopKind::kInterrupt : StopKind::kKill});
      if (!sweep.ended()) sweep.Step();
    }
    const std::string text = testing::TextOf(out);
    std::fclose(out);
    int stops = 0, kills = 0;
    for (const std::string& line : Lines(text)) {
      stops += line.starts_with("interrupted: ") || line.starts_with("stop asked: ");
      kills += line == "killing what runs";
    }
    CHECK(stops == 1);
    CHECK(kills == (by_signal ? 1 : 0));
  }
}

TEST_CASE("status: what runs is said of living sweeps only") {
  PlayedSweep sweep(CommandFile(kFour), Falling);
  sweep.Step();
  SweepStatus status = StatusOf(sweep.controller(), 1, 0, sweep.now());
  const auto says_running = [&] {
    bool says = false;
    for (const std::string& line : StatusBlock(status, 80)) {
      says = says || line.starts_with("running ");
    }
    return says;
  };
  CHECK(says_running());
  CHECK(StatusLine(status).find("; 2 running of at most 2; ") != std::string::npos);
  for (const char* state : {"finished", "failed", "interrupted", "killed"}) {
    status.state = state;
    CHECK_FALSE(says_running());
  }
}

TEST_CASE("explain: the next one, and those behind it") {
  PlayedSweep sweep(CommandFile(kFour), Falling);
  sweep.Step();
  const auto line = [&](int64_t trial) {
    return sweep.controller().Explain(TrialId(trial), sweep.now()).front();
  };
  CHECK(line(2) == "trial 2 is not proposed yet: it is the next");
  CHECK(line(3) == "trial 3 is not proposed yet: one is before it");
}

TEST_CASE("block: fits the terminal, counts wrapped lines after it was made narrower") {
  internal::LiveBlock block;
  CHECK(block.Draw({"12345678", "1234"}, {80, 24}) == "12345678\n1234\n");
  CHECK(block.Draw({"x"}, {4, 24}) == "\r\x1b[3A\x1b[Jx\n");
  CHECK(block.Above("event", {80, 24}) == "\r\x1b[1A\x1b[Jevent\n");
  CHECK(block.Erase({80, 24}).empty());
  // Never taller than the screen, or it could not be erased.
  CHECK(block.Draw({"a", "b", "c"}, {80, 3}) == "a\nb\n");

  PlayedSweep sweep(CommandFile(kFour), Falling);
  sweep.Step();
  const SweepStatus status = StatusOf(sweep.controller(), 1, 0, sweep.now());
  for (size_t width : {10, 40, 79}) {
    for (const std::string& line : StatusBlock(status, width)) {
      CHECK(DisplayWidth(line) <= width);
    }
  }
}

TEST_CASE("a reader that stands still never holds up the writer") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  internal::PatientOutput output(ends[1], 256 << 10);
  const std::string line(1000, 'x');
  int taken = 0;
  while (output.Write(line)) ++taken;  // would hang here if it blocked
  CHECK(taken > 100);
  CHECK_FALSE(output.idle());
  std::string got;
  std::vector<char> buffer(1 << 16);
  while (!output.idle()) {
    const ssize_t n = read(ends[0], buffer.data(), buffer.size());
    REQUIRE(n > 0);
    got.append(buffer.data(), static_cast<size_t>(n));
    output.Flush();
  }
  close(ends[1]);
  ssize_t n;
  while ((n = read(ends[0], buffer.data(), buffer.size())) > 0) {
    got.append(buffer.data(), static_cast<size_t>(n));
  }
  close(ends[0]);
  CHECK(got.size() == static_cast<size_t>(taken) * line.size());
}

TEST_CASE("status: through JSON and back") {
  PlayedSweep sweep(CommandFile(kFour), Falling);
  for (int i = 0; i < 2; ++i) sweep.Step();
  const SweepStatus status = StatusOf(sweep.controller(), 1, 0, sweep.now());
  CHECK(status.counts.running == 2);
  CHECK(status.best.has_value());
  const SweepStatus back = StatusFromJson(StatusToJson(status));
  CHECK(StatusToJson(back) == StatusToJson(status));
  CHECK(StatusLine(back) == StatusLine(status));
  // A newer controller may say more, and in other types.
  CHECK(StatusFromJson({{"counts", "many"}, {"eta_s", nullptr}}).counts.planned == 0);
}

TEST_CASE("status: why nothing more starts, zero counts left out") {
  PlayedSweep sweep(CommandFile(kFour), Falling);
  for (int i = 0; i < 2; ++i) sweep.Step();
  const SweepStatus status = StatusOf(sweep.controller(), 1, 0, sweep.now());
  CHECK(status.waits == "max_concurrent_trials is 2, and 2 are running");
  SweepCounts counts;
  counts.completed = 3;
  counts.failed = 1;
  CHECK(CountsText(counts) == "3 completed, 1 failed");
  CHECK(CountsText({}).empty());
}

TEST_CASE("requests: status, explain, stop") {
  PlayedSweep sweep(CommandFile(kFour), Falling);
  for (int i = 0; i < 2; ++i) sweep.Step();
  std::vector<ControllerEvent> events;
  const auto ask = [&](const std::string& request) {
    return OrderedJson::parse(
        AnswerRequest(request, sweep.controller(), sweep.now(), "", &events));
  };
  CHECK(ask(R"({"op":"status"})")["counts"]["running"] == 2);
  CHECK(ask(R"({"op":"explain","trial":0})")["lines"][0] == "trial 0 is running");
  CHECK(events.empty());
  CHECK(ask(R"({"op":"stop","kind":"interrupt"})")["stopping"] == true);
  CHECK(ask(R"({"op":"stop","kind":"drain"})")["stopping"] == true);
  REQUIRE(events.size() == 2);
  CHECK(std::get<StopAsked>(events[0]).kind == StopKind::kInterrupt);
  CHECK(std::get<StopAsked>(events[1]).kind == StopKind::kDrain);
}

TEST_CASE("requests: rubbish is answered, never thrown at") {
  PlayedSweep sweep(CommandFile(kFour), Falling);
  std::vector<ControllerEvent> events;
  for (const char* request : {"",
                              "{",
                              "[]",
                              "3",
                              "null",
                              "{}",
                              R"({"op":3})",
                              R"({"op":"dance"})",
                              R"({"op":"explain"})",
                              R"({"op":"explain","trial":"x"})",
                              R"({"op":"explain","trial":1.5})",
                              R"({"op":"stop"})",
                              R"({"op":"stop","kind":7})",
                              "\xff\xfe"}) {
    CAPTURE(request);
    const std::string answer =
        AnswerRequest(request, sweep.controller(), sweep.now(), "", &events);
    CHECK(OrderedJson::parse(answer).contains("error"));
  }
  CHECK(events.empty());
  const auto far = OrderedJson::parse(
      AnswerRequest(R"({"op":"explain","trial":-9223372036854775808})",
                    sweep.controller(),
                    sweep.now(),
                    "",
                    &events));
  CHECK(far["lines"].size() == 1);
}

}  // namespace
}  // namespace hyperopt
