#pragma once
// The keys of [data] that decide what a network sees of a sample and of its target: the preparation. A model file
// carries them all, and eval, predict and Predictor apply them. Keys that say which samples there are (source, limit,
// split, ...) are no part of it.

#include "lockstep/data/source.hpp"

namespace lockstep {

/// visit("scale", &DataConfig::scale) for every such key. A new key of the preparation is one line here.
template <class Visit>
void for_each_preparation_key(const Visit& visit) {
  visit("x_key", &DataConfig::x_key);
  visit("y_key", &DataConfig::y_key);
  visit("header", &DataConfig::header);
  visit("label_column", &DataConfig::label_column);
  visit("label_rule", &DataConfig::label_rule);
  visit("regression", &DataConfig::regression);
  visit("shape", &DataConfig::shape);
  visit("layout", &DataConfig::layout);
  visit("transpose", &DataConfig::transpose);
  visit("resize", &DataConfig::resize);
  visit("scale", &DataConfig::scale);
  visit("standardise", &DataConfig::standardise);
  visit("one_hot", &DataConfig::one_hot);
  visit("classes", &DataConfig::classes);
}

}  // namespace lockstep
