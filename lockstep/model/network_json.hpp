#pragma once
// The JSON of model files: the check that all of it passes, and the description of a network, which a model file needs
// besides the weights:
//   {"input": [1,28,28], "precision": "float32",
//    "layers": [{"conv2d": {"out": 6, "kernel": [5,5], ...}}, {"relu": {}}, {"residual": {"body": [...], ...}}]}
// Every field of every layer is written; the initialisers are not (the weights are there).

#include <string>
#include <string_view>

#include "lockstep/nn/network.hpp"

namespace lockstep {

/// One line, the same text for the same network.
std::string network_to_json(const Network& network);

/// Error(checkpoint) that names the place ("lockstep.model: layers[3].conv2d.kernel: ...") when the text is not such a
/// description. Takes no memory for parameters, whatever sizes the text claims, but refuses more than 2^40 of them.
Network network_from_json(std::string_view text, std::string_view name);

/// Error(checkpoint), "<name>: byte <offset>: ...", unless the text is JSON that a tree can be made of without danger:
/// at most 16 MB, nested at most 64 deep, no key twice in an object. JSON that comes out of a file passes here first.
void check_json(std::string_view text, std::string_view name);

}  // namespace lockstep
