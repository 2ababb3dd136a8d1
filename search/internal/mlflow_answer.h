// Reading what an MLflow server answers.
#pragma once

#include <nlohmann/json.hpp>

#include "trial/errors.h"

namespace hyperopt {

// What `read` returns, which takes it out of an answer. Throws EnvironmentError where
// the answer has another shape.
template <typename Read>
auto ReadMlflow(Read read) {
  try {
    return read();
  } catch (const nlohmann::json::exception&) {
    throw EnvironmentError(
        "what answers there is no MLflow server: its answer lacks what one says");
  }
}

}  // namespace hyperopt
