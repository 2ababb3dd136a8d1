#include "trial/clock.h"

namespace hyperopt {

Now ReadClocks() {
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::steady_clock::now(),
          std::chrono::duration<double>(wall).count()};
}

}  // namespace hyperopt
