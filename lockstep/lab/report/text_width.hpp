#pragma once
// How wide a text will be, without a browser to ask: the widths of DejaVu Sans, the widest of the fonts that a page
// falls back on, so that what fits here fits everywhere.

#include <string>
#include <string_view>

namespace lockstep::report {

/// In pixels, for a font of `size` pixels.
double text_width(std::string_view text, double size);

/// The text, or as much of it as fits with "…" behind it.
std::string fit_text(std::string_view text, double size, double width);

}  // namespace lockstep::report
