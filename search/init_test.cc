// Search files that hyperopt init writes: what is guessed, and that each is accepted.
#include <doctest/doctest.h>

#include "search/config.h"
#include "search/internal/init_command.h"
#include "search/internal/init_guess.h"
#include "search/internal/init_table.h"
#include "search/testing/config_text.h"
#include "trial/command.h"

namespace hyperopt {
namespace {

using testing::Contains;
using Words = std::vector<std::string>;

std::string TextOf(Words words) {
  internal::InitWords init;
  init.words = std::move(words);
  init.file = "search.yaml";
  init.path_from_file = [](const std::string& word) {
    return word == "train.py" || word == "data/x.csv" ? "../" + word : "";
  };
  return internal::SearchFileForWords(init);
}

// Each text must be a search file.
SearchConfig ConfigOf(Words words) {
  const std::string text = TextOf(std::move(words));
  CAPTURE(text);
  return testing::Parse(text);
}

// The guessed space of one option.
std::string SpaceOf(const std::string& name, const std::string& value) {
  return internal::GuessSpace(name, value).space;
}

TEST_SUITE_BEGIN("init");

TEST_CASE(
    "an option that comes again: its last value is searched, and nothing stays typed") {
  const Words words = {"python", "train.py", "--dup", "1", "--dup", "2", "--lr", "0.1"};
  const SearchConfig config = ConfigOf(words);
  CHECK(config.command ==
        Words{"python", "${config.dir}/../train.py", "${args:space}"});
  CHECK(config.space.Find("dup")->domain ==
        ConfigOf({"python", "train.py", "--dup", "2"}).space.Find("dup")->domain);
  CHECK(TextOf(words).find("# dup came more than once") != std::string::npos);
  // What is not searched stays as it was typed, each time.
  const Words fixed = {
      "python", "train.py", "--data", "a/b", "--data", "c/d", "--lr", "1"};
  CHECK(ConfigOf(fixed).command == Words{"python",
                                         "${config.dir}/../train.py",
                                         "--data",
                                         "a/b",
                                         "--data",
                                         "c/d",
                                         "${args:space}"});
}

TEST_CASE("the words that a newcomer types") {
  const SearchConfig config = ConfigOf({"python",
                                        "train.py",
                                        "--lr",
                                        "1e-3",
                                        "--layers",
                                        "3",
                                        "--optimizer",
                                        "adam",
                                        "--no-flag"});
  CHECK(config.command ==
        Words{"python", "${config.dir}/../train.py", "${args:space,noflags}"});
  CHECK(config.space.Find("lr")->domain ==
        Domain(FloatDomain{.lower = 1e-5, .upper = 0.1, .log = true}));
  CHECK(config.space.Find("layers")->domain ==
        Domain(IntDomain{.lower = 1, .upper = 6}));
  CHECK(config.space.Find("optimizer")->domain ==
        Domain(CategoricalDomain{{std::string("adam")}}));
  CHECK(config.space.Find("flag")->domain == Domain(CategoricalDomain{{true, false}}));
  CHECK(config.notes.empty());
}

TEST_CASE("the style that was typed") {
  const auto command = [](Words words) { return ConfigOf(std::move(words)).command; };
  CHECK(command({"p", "--a=1"}) == Words{"p", "${args}"});
  CHECK(command({"p", "--a-b=1"}) == Words{"p", "${args:dashes}"});
  CHECK(command({"p", "--a-b", "1"}) == Words{"p", "${args:space,dashes}"});
  CHECK(command({"p", "--a", "1", "--amp"}) == Words{"p", "${args:space,flags}"});
  CHECK(command({"p", "a=1", "b.c=x"}) == Words{"p", "${args:hydra}"});
  CHECK(command({"p", "-k", "1"}) == Words{"p", "-k", "${k}"});
}

TEST_CASE("names are kept as they are where they mix - and _") {
  const SearchConfig config = ConfigOf({"p", "--a-b=1", "--c_d=2"});
  CHECK(config.command == Words{"p", "${args}"});
  CHECK(config.space.Find("a-b") != nullptr);
  CHECK(config.space.Find("c_d") != nullptr);
}

TEST_CASE("Hydra: additions and lists of a multirun") {
  const SearchConfig config = ConfigOf(
      {"python", "train.py", "+model.depth=3", "optimizer=adam,sgd", "k=1,2.5"});
  CHECK(config.arg_names.at("model.depth") == "+model.depth");
  CHECK(config.space.Find("optimizer")->domain ==
        Domain(CategoricalDomain{{std::string("adam"), std::string("sgd")}}));
  CHECK(config.space.Find("k")->domain == Domain(CategoricalDomain{{int64_t{1}, 2.5}}));
  const SearchConfig group = ConfigOf({"p", "optimizer=adam", "optimizer.lr=0.1"});
  CHECK(group.arg_names.at("optimizer_group") == "optimizer");
  CHECK(group.space.Find("optimizer.lr") != nullptr);
}

TEST_CASE("what is no setting stays as it was typed, in its place") {
  const SearchConfig config = ConfigOf({"torchrun",
                                        "--nproc_per_node=2",
                                        "train.py",
                                        "fit",
                                        "data/x.csv",
                                        "--lr=0.1",
                                        "--epochs=20",
                                        "--seed=3",
                                        "--data=data/x.csv",
                                        "--out_dir=runs/1",
                                        "--shape=[1,2]",
                                        "--lr=0.2",
                                        "${x}",
                                        "--",
                                        "--z=1"});
  CHECK(config.command == Words{"torchrun",
                                "--nproc_per_node=2",
                                "${config.dir}/../train.py",
                                "fit",
                                "${config.dir}/../data/x.csv",
                                "--epochs=20",
                                "--seed=3",
                                "--data=${config.dir}/../data/x.csv",
                                "--out_dir=${trial.dir}/out",
                                "--shape=[1,2]",
                                "${args}",
                                "$${x}",
                                "--",
                                "--z=1"});
  CHECK(config.space.size() == 1);
  // The length of a run is proposed to the scheduler.
  CHECK(Contains(TextOf({"p", "--lr=1", "--epochs=20"}), "max_t: 20"));
}

TEST_CASE("an option's list of numbers stays together, a negative number is a value") {
  CHECK(ConfigOf({"p", "--lr", "1", "--betas", "0.9", "0.99"}).command ==
        Words{"p", "${args:space}", "--betas", "0.9", "0.99"});
  CHECK(ConfigOf({"p", "--x", "-1.5"}).command == Words{"p", "${args:space}"});
}

TEST_CASE("spaces by name and type") {
  CHECK(SpaceOf("lr", "0.1") == "{space: loguniform, lower: 0.001, upper: 1}");
  CHECK(SpaceOf("trainer.learning-rate", "3e-4") ==
        "{space: loguniform, lower: 3e-6, upper: 0.03}");
  CHECK(SpaceOf("weight_decay", "0") ==
        "{space: loguniform, lower: 1e-6, upper: 0.01}");
  CHECK(SpaceOf("dropout", "0.1") == "{space: float, lower: 0, upper: 0.5}");
  CHECK(SpaceOf("momentum", "0.9") == "{space: float, lower: 0.5, upper: 0.99}");
  CHECK(SpaceOf("batch_size", "32") ==
        "{space: choice, categories: [8, 16, 32, 64, 128]}");
  CHECK(SpaceOf("hidden", "100") == "{space: int, lower: 25, upper: 400, log: true}");
  CHECK(SpaceOf("x", "0") == "{space: int, lower: 0, upper: 4}");
  CHECK(SpaceOf("x", "-2.0") == "{space: float, lower: -4, upper: -1}");
  CHECK(SpaceOf("x", "5.0") == "{space: loguniform, lower: 0.5, upper: 50}");
  CHECK(SpaceOf("bias", "True") ==
        "{space: choice, categories: [\"True\", \"False\"]}");
  CHECK(internal::IsBetterFixed("num_workers", "4"));
  CHECK(internal::IsBetterFixed("model", "bert"));
  CHECK(internal::IsBetterFixed("init_from", "a/b.pt"));
  CHECK_FALSE(internal::IsBetterFixed("activation", "relu"));
}

TEST_CASE("any value becomes a file that is accepted") {
  for (const char* name : {"lr",
                           "weight_decay",
                           "dropout",
                           "momentum",
                           "batch_size",
                           "layers",
                           "hidden",
                           "heads",
                           "x",
                           "subsample",
                           "c",
                           "optimizer",
                           "a.b"}) {
    for (const char* value :
         {"0",    "1",     "-1",    "7",    "8",    "1000",
          "0.0",  "1.0",   "-0.5",  "1e-9", "1e30", "0.99",
          "true", "False", "adam",  "no",   "a b",  "it's",
          "#x",   "",      "None",  "1,2",  "inf",  "nan",
          "é",    "${x}",  "1e400", "0x10", "1_0",  "99999999999999",
          "[1]",  "{a}"}) {
      for (const char* form : {"--", ""}) {
        CAPTURE(std::string(name));
        CAPTURE(std::string(value));
        CHECK(ConfigOf({"p",
                        std::string(form) + "y=1.5",
                        std::string(form) + name + "=" + value})
                  .space.Find("y") != nullptr);
      }
    }
  }
}

TEST_CASE("nothing to search is said with the way out") {
  CHECK_THROWS_WITH_AS(TextOf({}), doctest::Contains("after --"), ConfigError);
  CHECK_THROWS_WITH_AS(
      TextOf({"./run.sh", "--epochs=3"}), doctest::Contains("no option"), ConfigError);
}

std::string TableText(const std::string& csv, const std::string& target) {
  internal::Problems problems("d.csv");
  const auto table = internal::ParseCsv(csv, 0, problems);
  REQUIRE(table);
  return internal::SearchFileForTable(
      {"d.csv", target, "search.yaml", "--dataset d.csv"}, *table);
}

std::string Rows(int count,
                 const std::string& target_of_even,
                 const std::string& of_odd) {
  std::string csv = "id,age,city,member,constant,y\n";
  for (int i = 0; i < count; ++i) {
    csv += "user" + std::to_string(i) + "," + std::to_string(20 + i % 50) + "," +
           (i % 3 == 0 ? "Oslo" : "Rome") + "," + (i % 2 == 0 ? "yes" : "no") + ",1," +
           (i % 2 == 0 ? target_of_even : of_odd) + "\n";
  }
  return csv;
}

TEST_CASE("a table: types of columns, and what can not be learned from") {
  const std::string text = TableText(Rows(200, "good", "bad"), "y");
  CAPTURE(text);
  const SearchConfig config = testing::Parse(text);
  CHECK(config.command.empty());
  CHECK(config.dataset == "/data/sweeps/d.csv");
  CHECK(Contains(text, "  - {name: age, type: number}  # 20 .. 69\n"));
  CHECK(Contains(text, "  - {name: city, type: category}  # 2 classes\n"));
  CHECK(Contains(text, "  - {name: member, type: binary}  # no, yes\n"));
  CHECK(Contains(text, "  # - {name: id, type: category}  # left out: 200 different"));
  CHECK(Contains(text, "  # - {name: constant, type: category}  # left out: always"));
  CHECK(Contains(text, "  - {name: \"y\", type: category}  # 2 classes\n"));
  CHECK(config.goal == Goal::kMaximize);
  CHECK(config.metric_field() == "validation.y.accuracy");
  for (const char* name :
       {"trainer.learning_rate", "trainer.batch_size", "combiner.num_fc_layers"}) {
    CHECK(config.space.Find(name) != nullptr);
  }
}

TEST_CASE("a table: what kind of target") {
  CHECK(Contains(TableText(Rows(50, "1", "0"), "y"), "type: binary}  # 0, 1"));
  CHECK(Contains(TableText(Rows(50, "1", "7"), "y"), "\"y\", type: category}"));
  const std::string number = TableText(Rows(50, "1.5", "7"), "y");
  CHECK(Contains(number, "\"y\", type: number}"));
  CHECK(testing::Parse(number).goal == Goal::kMinimize);
  CHECK(Contains(TableText(Rows(50, "1", ""), "member"), "member, type: binary}"));
  CHECK_THROWS_WITH_AS(TableText(Rows(50, "1", "0"), "aeg"),
                       doctest::Contains("did you mean age?"),
                       ConfigError);
  CHECK_THROWS_WITH_AS(TableText(Rows(50, "1", "0"), "constant"),
                       doctest::Contains("always the same"),
                       ConfigError);
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt
