// How CLI11's help is shown.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "search/internal/cli_words.h"

namespace hyperopt::internal {

class HelpText : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app,
                        std::string name,
                        CLI::AppFormatMode mode) const override {
    constexpr size_t kWidth = 80;
    return WrappedHelp(CLI::Formatter::make_help(app, std::move(name), mode), kWidth);
  }
  // "[DIR] TRIAL" of an option that says so itself, instead of "WORDS(1x)".
  std::string make_option_usage(const CLI::Option* option) const override {
    const std::string own = option->get_option_text();
    return own.empty() ? CLI::Formatter::make_option_usage(option) : own;
  }
  std::string make_option_name(const CLI::Option* option,
                               bool is_positional) const override {
    const std::string own = is_positional ? option->get_option_text() : "";
    return own.empty() ? CLI::Formatter::make_option_name(option, is_positional) : own;
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_positional() ? "" : CLI::Formatter::make_option_opts(option);
  }
};

}  // namespace hyperopt::internal
