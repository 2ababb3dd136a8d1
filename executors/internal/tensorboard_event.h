// The part of TensorBoard's event that holds numbers (tensorflow/core/util/event.proto,
// framework/summary.proto and framework/tensor.proto), read from its bytes.
#pragma once

#include <optional>
#include <string_view>

#include "trial/measurement.h"

namespace hyperopt::internal {

// The scalars of one event with its step, which is 0 where the event has none. nullopt
// where it holds none (a graph, an image, a file's version). Sets `*damaged` where the
// bytes are no event.
std::optional<ReportLine> ScalarsOfEvent(std::string_view event, bool* damaged);

}  // namespace hyperopt::internal
