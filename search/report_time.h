// The time that early stopping counts in, as reports tell it (scheduler.time_attr).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hyperopt {

// Whether `attr` is a field of the reports, not something that is counted for them
// (training_iteration, step).
bool IsReportedTime(std::string_view attr);

// A field of a recorded report (its values, JSON): NaN where it was not finite, nullopt
// where it is absent.
std::optional<double> FieldOf(const std::string& values, const std::string& name);

// Whole units that have passed; -1 where it is no time. A fraction of an epoch (2.5) is
// not yet the next one, but what falls short of it by rounding alone is.
int64_t WholeTime(double time);

}  // namespace hyperopt
