// Options of the command line that several subcommands share.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace hyperopt::internal {

// `what` is shown for the value in the help.
template <typename T>
CLI::Option* Add(CLI::App* app,
                 const std::string& names,
                 T* value,
                 const std::string& help,
                 const char* what = "") {
  CLI::Option* option = app->add_option(names, *value, help);
  if (what[0] != '\0') option->type_name(what);
  return option;
}

// A value that has a parser of its own; `expected` completes "X is not ...".
template <typename T>
CLI::Option* AddParsed(CLI::App* app,
                       const std::string& names,
                       const std::string& help,
                       const char* what,
                       std::optional<T>* value,
                       std::function<std::optional<T>(const std::string&)> parse,
                       const char* expected) {
  return app
      ->add_option_function<std::string>(
          names,
          [=](const std::string& text) {
            *value = parse(text);
            if (!*value) {
              throw CLI::ValidationError(
                  fmt::format("{}: {} is not {}", names, text, expected));
            }
          },
          help)
      ->type_name(what);
}

// A check for a whole number from `least` on: CLI11's own shows the range of a double.
inline CLI::Validator AtLeast(int64_t least) {
  return CLI::Validator(
      [least](std::string& text) -> std::string {
        int64_t number = 0;
        const char* end = text.data() + text.size();
        const auto [ptr, error] = std::from_chars(text.data(), end, number);
        if (error == std::errc() && ptr == end && number >= least) return "";
        return fmt::format("{} is not a whole number of {} or more", text, least);
      },
      "");
}

inline void AddDir(CLI::App* app, std::optional<std::filesystem::path>* dir) {
  Add(app, "DIR", dir, "The sweep's folder; absent: the newest under results/");
}

}  // namespace hyperopt::internal
