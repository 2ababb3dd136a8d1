#include "executors/internal/report_fixture.h"

namespace hyperopt::testing {

std::string Fixture(const std::string& name) {
  std::ifstream in(std::filesystem::path(HYPEROPT_EXECUTORS_TESTDATA) / name,
                   std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace hyperopt::testing
