#include "trial/failpoint.h"

namespace hyperopt {

void Failpoint(const char* /*name*/) {}

bool Defective(const char* /*name*/) { return false; }

}  // namespace hyperopt
