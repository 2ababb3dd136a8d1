#include "search/report/page.h"

#include <cassert>
#include <utility>

#include "search/report/internal/page_text.h"

namespace hyperopt {

namespace {

struct Filled {
  std::string_view data, live, connect;
};

// Each place stands once in the template, in this order.
std::string Fill(const Filled& with) {
  const std::pair<std::string_view, std::string_view> places[] = {
      {"@CONNECT@", with.connect}, {"@LIVE@", with.live}, {"@DATA@", with.data}};
  std::string_view page = internal::kPageText;
  std::string text;
  text.reserve(page.size() + with.data.size());
  for (const auto& [name, value] : places) {
    assert(value.find('<') == std::string_view::npos);
    const size_t place = page.find(name);
    assert(place != std::string_view::npos);
    text += page.substr(0, place);
    text += value;
    page.remove_prefix(place + name.size());
  }
  text += page;
  return text;
}

}  // namespace

std::string ReportPage(std::string_view json) {
  return Fill({.data = json, .live = "null", .connect = "'none'"});
}

std::string LivePage(std::string_view settings) {
  return Fill({.data = "null", .live = settings, .connect = "'self'"});
}

}  // namespace hyperopt
