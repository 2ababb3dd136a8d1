// The page of a report: the template, which is part of the program, with data in it.
#pragma once

#include <string>
#include <string_view>

namespace hyperopt {

// A whole HTML document that needs nothing else, from ReportJson's text.
// REQUIRES: there is no `<` in `json`.
std::string ReportPage(std::string_view json);

// The same page without data, which it asks its server for (live/dashboard.h), and what
// it is to know of that server: {"page": "sweep" or "index", "sweeps": so many,
// "changes": they are possible with a token, "asks": seeing wants the token as well}.
// REQUIRES: there is no `<` in `settings`.
std::string LivePage(std::string_view settings);

}  // namespace hyperopt
