// What changed from one JSON value to another, so that a page that has the one can make
// the other of it without being sent it whole.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "trial/json.h"

namespace hyperopt {

// A delta is an object:
//   {"=": value}                       another value
//   {"o": {name: delta}, "-": [name]}  an object: members changed or new, members gone
//   {"n": length, "at": [index], "to": [value], "in": [index], "by": [delta]}
//                                      an array: its length from now on, elements
//                                      replaced or new, elements changed inside
// What is empty is left out; {} changes nothing. page/live.js has the other half.
OrderedJson DeltaOf(const OrderedJson& from, const OrderedJson& to);

}  // namespace hyperopt
