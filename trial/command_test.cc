#include "trial/command.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "trial/errors.h"

namespace hyperopt {
namespace {

using Words = std::vector<std::string>;

const Words& Names() {
  static const Words names = {"lr", "layers", "trainer.optimizer"};
  return names;
}

std::string Problem(const Words& words) {
  return ProblemWithCommand(words, Names()).value_or("");
}

TemplateValues ValuesOf(const Params& params) {
  TemplateValues values;
  values.params = &params;
  values.names["trial.id"] = "17";
  values.names["trial.dir"] = "/a b/17";
  values.env = [](std::string_view name) -> std::optional<std::string> {
    if (name == "HOME") return "/root";
    return std::nullopt;
  };
  return values;
}

TEST_SUITE_BEGIN("command");

TEST_CASE("places are filled in anywhere in a word") {
  const Params params = {{"lr", 1e-5}, {"layers", int64_t{3}}, {"name", "a b\"$x"}};
  const TemplateValues values = ValuesOf(params);
  CHECK(
      ExpandCommand(
          Words{
              "run", "--lr=${lr}", "${layers}x${layers}", "${name}", "${trial.dir}/m"},
          values) == Words{"run", "--lr=1.0e-05", "3x3", "a b\"$x", "/a b/17/m"});
  CHECK(ExpandTemplate("${env.HOME}/${trial.id}", values) == "/root/17");
  CHECK(ExpandTemplate("", values).empty());
}

TEST_CASE("a value is never read again as a template") {
  const Params params = {{"lr", "${layers}"}, {"layers", "$"}};
  CHECK(ExpandTemplate("${lr} ${layers}{lr}", ValuesOf(params)) == "${layers} ${lr}");
}

TEST_CASE("$${ is literal, and a lone dollar too") {
  const Params params = {{"lr", 0.5}};
  const TemplateValues values = ValuesOf(params);
  CHECK(ExpandTemplate("$${lr}", values) == "${lr}");
  CHECK(ExpandTemplate("$${${lr}}", values) == "${0.5}");
  CHECK(ExpandTemplate("${lr}$${lr}${lr}", values) == "0.5${lr}0.5");
  CHECK(ExpandTemplate("$HOME $$ $1 {lr} $", values) == "$HOME $$ $1 {lr} $");
  CHECK(ExpandTemplate("$${", values) == "${");
  CHECK(Problem({"run", "$${anything}"}).empty());
}

TEST_CASE("${args} becomes one word a parameter, in name order, numbers exact") {
  const Params params = {{"b", true},
                         {"a", 0.1},
                         {"list", Structured{"[1,2]"}},
                         {"none", std::monostate{}},
                         {"s", "x y"}};
  TemplateValues values = ValuesOf(params);
  CHECK(ExpandCommand(Words{"run", "${args}", "end"}, values) == Words{"run",
                                                                       "--a=0.1",
                                                                       "--b=true",
                                                                       "--list=[1,2]",
                                                                       "--none=null",
                                                                       "--s=x y",
                                                                       "end"});
  const std::map<std::string, std::optional<std::string>> arg_names = {
      {"a", "alpha"}, {"list", std::nullopt}, {"s", std::nullopt}};
  values.arg_names = &arg_names;
  CHECK(ExpandCommand(Words{"run", "${args}"}, values) ==
        Words{"run", "--alpha=0.1", "--b=true", "--none=null"});
}

TEST_CASE("a sound command has no problem") {
  CHECK(Problem({"python3", "train.py", "${args}"}).empty());
  CHECK(Problem({"run", "--lr=${lr}", "${trainer.optimizer}", "${trial.dir}"}).empty());
  CHECK(Problem({"run", "${env.HOME}", "${sweep.name}", "${config.dir}"}).empty());
}

TEST_CASE("an unknown place is named, with the near one") {
  CHECK(Problem({"run", "${layer}"}) ==
        "${layer} is neither a parameter nor a known name; did you mean ${layers}?");
  CHECK(Problem({"run", "${trial.dri}"}).find("${trial.dir}?") != std::string::npos);
  CHECK(Problem({"run", "${VAR:-x}"}).find("$${VAR:-x} stands for a literal") !=
        std::string::npos);
  CHECK_FALSE(Problem({"run", "${}"}).empty());
  CHECK_FALSE(Problem({"run", "${env.}"}).empty());
  CHECK_FALSE(Problem({"run", "${trial.dir"}).empty());
  CHECK_FALSE(Problem({"run", "${lr} ${"}).empty());
}

TEST_CASE("a command needs a program") {
  CHECK_FALSE(Problem({}).empty());
  CHECK_FALSE(Problem({"", "x"}).empty());
  CHECK_FALSE(Problem({"${args}"}).empty());
}

TEST_CASE("${args} must be a word of its own, and its styles are known ones") {
  CHECK(Problem({"run", "x ${args}"}).find("a whole word") != std::string::npos);
  CHECK(Problem({"run", "${args}${args}"}).find("a whole word") != std::string::npos);
  CHECK(Problem({"run", "--x=${args:hydra}"}).find("a whole word") !=
        std::string::npos);
  CHECK(ProblemWithTemplate("${args}", Names()).has_value());
  CHECK(ProblemWithTemplate("${args:space}", Names()).has_value());
  for (const char* word : {"${args:hydra}",
                           "${args:space}",
                           "${args:dashes}",
                           "${args:flags}",
                           "${args:space,dashes,noflags}",
                           "${args:space, dashes}"}) {
    CAPTURE(std::string(word));
    CHECK(Problem({"run", word}).empty());
  }
  CHECK(Problem({"run", "${args:hidra}"}) ==
        "${args:hidra}: hidra is no style (did you mean hydra?); there are hydra, "
        "space, dashes, flags, noflags");
  CHECK(Problem({"run", "${args:}"}).find("nothing is no style") != std::string::npos);
  CHECK(Problem({"run", "${args:space,}"}).find("no style") != std::string::npos);
  CHECK(Problem({"run", "${args:hydra,space}"}).find("no other style") !=
        std::string::npos);
  CHECK(Problem({"run", "${args:flags,noflags}"}).find("choose one") !=
        std::string::npos);
  CHECK_FALSE(Problem({"${args:space}"}).empty());
}

// The words of `style` for these parameters, without the program.
Words ArgsIn(const std::string& style, const Params& params) {
  Words words = ExpandCommand(Words{"run", style}, ValuesOf(params));
  words.erase(words.begin());
  return words;
}

TEST_CASE("styles of ${args}, each alone and combined") {
  const Params params = {
      {"batch_size", int64_t{32}}, {"bias", false}, {"use_amp", true}, {"x", "a b"}};
  CHECK(
      ArgsIn("${args:space}", params) ==
      Words{
          "--batch_size", "32", "--bias", "false", "--use_amp", "true", "--x", "a b"});
  CHECK(ArgsIn("${args:dashes}", params) ==
        Words{"--batch-size=32", "--bias=false", "--use-amp=true", "--x=a b"});
  CHECK(ArgsIn("${args:flags}", params) ==
        Words{"--batch_size=32", "--use_amp", "--x=a b"});
  CHECK(ArgsIn("${args:noflags}", params) ==
        Words{"--batch_size=32", "--no-bias", "--use_amp", "--x=a b"});
  CHECK(ArgsIn("${args:space,dashes,noflags}", params) ==
        Words{"--batch-size", "32", "--no-bias", "--use-amp", "--x", "a b"});
  CHECK(ArgsIn("${args:hydra}", params) ==
        Words{"batch_size=32", "bias=false", "use_amp=true", "x='a b'"});
}

TEST_CASE("after a blank a negative number has no exponent, and reads back exactly") {
  const Params params = {{"a", -1e-5}, {"b", -1.5e10}, {"c", 1e-5}, {"d", -0.1}};
  CHECK(
      ArgsIn("${args:space}", params) ==
      Words{
          "--a", "-0.00001", "--b", "-15000000000.0", "--c", "1.0e-05", "--d", "-0.1"});
  for (const double value : {-5e-324, -1.0 / 3, -1.7976931348623157e308}) {
    const Words words = ArgsIn("${args:space}", {{"x", value}});
    CHECK(words[1].find('e') == std::string::npos);
    CHECK(std::strtod(words[1].c_str(), nullptr) == value);
  }
}

TEST_CASE("hydra: texts are quoted where they would be read as something else") {
  const auto hydra = [](const ParamValue& value) {
    return ArgsIn("${args:hydra}", {{"k", value}}).at(0);
  };
  CHECK(hydra("adam") == "k=adam");
  CHECK(hydra("db/mysql-8.x_1") == "k=db/mysql-8.x_1");
  CHECK(hydra("") == "k=''");
  CHECK(hydra("true") == "k='true'");
  CHECK(hydra("NULL") == "k='NULL'");
  CHECK(hydra("inf") == "k='inf'");
  CHECK(hydra("1e3") == "k='1e3'");
  CHECK(hydra("a,b") == "k='a,b'");
  CHECK(hydra("a=b") == "k='a=b'");
  CHECK(hydra("it's") == R"(k='it\'s')");
  CHECK(hydra(R"(a\)") == R"(k='a\\')");
  CHECK(hydra(R"(a\b)") == R"(k='a\b')");
  CHECK(hydra(R"(a\'b)") == R"(k='a\\\'b')");
  CHECK(hydra("${x}") == R"(k='\${x}')");
  CHECK(hydra(R"(\${x})") == R"(k='\\\${x}')");
  CHECK(hydra("é") == "k='é'");
  CHECK(hydra(1e-5) == "k=1.0e-05");
  CHECK(hydra(true) == "k=true");
  CHECK(hydra(std::monostate{}) == "k=null");
  CHECK(hydra(Structured{R"([1,2.0,"a b",[true,null]])"}) ==
        "k=[1,2.0,'a b',[true,null]]");
  CHECK(hydra(Structured{R"({"a":{"b c":"x"},"d":[]})"}) == R"(k={a:{b\ c:x},d:[]})");
  CHECK_THROWS_WITH_AS(hydra(Structured{R"({"it's":1})"}),
                       doctest::Contains("$HYPEROPT_PARAMS"),
                       ConfigError);
}

TEST_CASE("a parameter inside a shell's script is refused with the way out") {
  for (const Words& words : {Words{"sh", "-c", "train ${lr}"},
                             Words{"/bin/bash", "-ec", "train ${lr}"},
                             Words{"bash", "-euo", "pipefail", "-c", "x ${lr}"},
                             Words{"bash", "--norc", "-c", "x ${lr}"},
                             Words{"bash", "-c", "-e", "x ${lr}"},
                             Words{"bash", "-c", "--", "x ${lr}"},
                             Words{"env", "A=1", "dash", "-c", "x ${lr}"},
                             Words{"srun", "-n1", "zsh", "-c", "x '${lr}'"}}) {
    CAPTURE(words[0]);
    CHECK(Problem(words).find("\"$1\"") != std::string::npos);
  }
}

TEST_CASE("what a shell does not run as its script is fine") {
  CHECK(Problem({"sh", "-c", "train \"$1\"", "sh", "${lr}"}).empty());
  CHECK(Problem({"sh", "-c", "cd $${HOME}; pwd"}).empty());
  CHECK(Problem({"sh", "train.sh", "${lr}"}).empty());
  CHECK(Problem({"sh", "train.sh", "-c", "${lr}"}).empty());
  CHECK(Problem({"bash", "-o", "pipefail", "x.sh", "-c", "${lr}"}).empty());
  CHECK(Problem({"python3", "-c", "print('${lr}')"}).empty());
  CHECK(Problem({"sh", "-c"}).empty());
}

TEST_CASE("a word beyond what a program takes fails and names the way out") {
  const Params fits = {{"x", std::string(128 * 1024 - 1, 'a')}};
  CHECK(ExpandCommand(Words{"run", "${x}"}, ValuesOf(fits))[1].size() == 131071);
  const Params params = {{"x", std::string(128 * 1024, 'a')}};
  const TemplateValues values = ValuesOf(params);
  for (const char* word : {"${x}", "${args}"}) {
    CHECK_THROWS_WITH_AS(ExpandCommand(Words{"run", word}, values),
                         doctest::Contains("$HYPEROPT_PARAMS"),
                         ConfigError);
  }
}

TEST_CASE("a NUL byte reaches no program") {
  const Params params = {{"x", std::string("a\0b", 3)}};
  CHECK_THROWS_AS(ExpandTemplate("${x}", ValuesOf(params)), ConfigError);
  CHECK_FALSE(Problem({"run", std::string("a\0b", 3)}).empty());
}

TEST_CASE("what has no value fails at its name") {
  const Params params;
  const TemplateValues values = ValuesOf(params);
  CHECK_THROWS_WITH_AS(ExpandTemplate("${env.NO_SUCH}", values),
                       doctest::Contains("NO_SUCH is not set"),
                       ConfigError);
  CHECK_THROWS_AS(ExpandTemplate("${lr}", values), ConfigError);
  CHECK(ExpandTemplate("[${trial.budget}]", values) == "[]");
}

TEST_CASE("parameters that the words never mention") {
  CHECK(UnusedParameters(Words{"run", "${lr}"}, Names()) ==
        Words{"layers", "trainer.optimizer"});
  CHECK(UnusedParameters(Words{"run", "$${lr}"}, Names()) ==
        Words{"layers", "lr", "trainer.optimizer"});
  CHECK(UnusedParameters(Words{"run", "${args}"}, Names()).empty());
  CHECK(UnusedParameters(Words{"run", "${args:space}"}, Names()).empty());
  const ArgNames left_out = {{"lr", std::nullopt}, {"layers", "depth"}};
  CHECK(UnusedParameters(Words{"run", "${args}"}, Names(), left_out) == Words{"lr"});
  CHECK(UnusedParameters(Words{"${lr}", "${args}"}, Names(), left_out).empty());
}

TEST_SUITE_END();

}  // namespace
}  // namespace hyperopt
