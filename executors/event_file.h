// TensorBoard's event files as they are written; report_reader.h reads them.
#pragma once

#include <string>
#include <string_view>

namespace hyperopt {

// One record of such a file: its length, the length's checksum, the event, its
// checksum.
std::string EventRecord(std::string_view event);

}  // namespace hyperopt
