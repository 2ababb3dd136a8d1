#include "search/report/page.h"

#include <cassert>

#include "search/report/internal/page_text.h"

namespace hyperopt {

std::string ReportPage(std::string_view json) {
  assert(json.find('<') == std::string_view::npos);
  constexpr std::string_view kPlace = "@DATA@";
  const std::string_view page = internal::kPageText;
  const size_t place = page.find(kPlace);
  assert(place != std::string_view::npos);
  std::string text;
  text.reserve(page.size() + json.size());
  text += page.substr(0, place);
  text += json;
  text += page.substr(place + kPlace.size());
  return text;
}

}  // namespace hyperopt
