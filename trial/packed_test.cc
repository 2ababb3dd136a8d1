#include "trial/packed.h"

#include <doctest/doctest.h>

namespace hyperopt {

TEST_SUITE_BEGIN("packed");

TEST_CASE("what was packed comes back, whatever it is") {
  std::string binary;
  for (int i = 0; i < 3000; ++i) binary += static_cast<char>(i * i % 251);
  for (const std::string& text :
       {std::string(), std::string("a"), std::string(1 << 20, 'x'), binary}) {
    const std::string packed = Pack(text);
    CHECK(packed.size() <= text.size());
    CHECK(Unpack(packed, static_cast<int64_t>(text.size())) == text);
  }
  CHECK(Pack(std::string(1 << 20, 'x')).size() < 10'000);
}

TEST_CASE("what is no packed file is told from one") {
  const std::string packed = Pack(std::string(1000, 'x'));
  CHECK_FALSE(Unpack(packed, 999).has_value());
  CHECK_FALSE(Unpack(packed, 1001).has_value());
  CHECK_FALSE(Unpack(packed, -1).has_value());
  CHECK_FALSE(Unpack("no zlib at all", 1000).has_value());
  CHECK_FALSE(Unpack(packed.substr(0, packed.size() / 2), 1000).has_value());
}

TEST_SUITE_END();

}  // namespace hyperopt
