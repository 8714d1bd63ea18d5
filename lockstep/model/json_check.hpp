#pragma once

#include <string_view>

namespace lockstep {

/// Error(checkpoint), "<name>: byte <offset>: ...", unless the text is JSON that a tree can be made of without danger:
/// at most 16 MB, nested at most 64 deep, no key twice in an object. JSON that comes out of a file passes here first.
void check_json(std::string_view text, std::string_view name);

}  // namespace lockstep
