#pragma once
// Finds room for words beside points, so that no two texts overlap.

#include <optional>
#include <string_view>
#include <vector>

#include "lockstep/lab/report/drawing.hpp"

namespace lockstep::report {

struct PlacedLabel {
  double x = 0, y = 0;  // of the text, anchored at its start
  bool far = false;     // not beside its point: a thin line should lead there
};

class LabelPlace {
 public:
  explicit LabelPlace(Box bounds) : bounds_(bounds) {}
  /// Nothing may be written here.
  void block(const Box& box) { blocked_.push_back(box); }
  /// Better not written over: a curve passes here.
  void discourage(const Drawing::Points& curve);
  /// A free place for the text near the point, and blocks it; nothing where there is no room within `reach` pixels.
  std::optional<PlacedLabel> place(double x, double y, std::string_view text, double reach = 90);
  /// Exactly here, if it is free.
  std::optional<PlacedLabel> place_at(double x, double y, std::string_view text);

 private:
  double cost(const Box& box) const;

  Box bounds_;
  std::vector<Box> blocked_;
  std::vector<std::pair<double, double>> curve_;
};

/// Moves the heights apart until neighbours keep `distance`, within [top, bottom], each as near to where it wants to be
/// as that allows. Keeps the order of the wishes.
std::vector<double> spread(std::vector<double> wanted, double distance, double top, double bottom);

}  // namespace lockstep::report
