#pragma once
// The pages of a training run: curves, epochs, phases, layers.

#include "lockstep/lab/report/document.hpp"
#include "lockstep/model/model_file.hpp"
#include "lockstep/run/history.hpp"

namespace lockstep {

/// Summary, curves, time and model; `model` null: the run has none yet.
report::Document history_document(const RunHistory& history, const Model* model);

}  // namespace lockstep
