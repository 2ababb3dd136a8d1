// The page of a report: the template, which is part of the program, with data in it.
#pragma once

#include <string>
#include <string_view>

namespace hyperopt {

// A whole HTML document that needs nothing else, from ReportJson's text.
// REQUIRES: there is no `<` in `json`.
std::string ReportPage(std::string_view json);

}  // namespace hyperopt
