#pragma once
// Everything a program needs to describe, train and use a network, and to run trainings from configuration files.

#include "lockstep/core/error.hpp"
#include "lockstep/data/dataset.hpp"
#include "lockstep/data/memory_dataset.hpp"
#include "lockstep/data/source.hpp"
#include "lockstep/model/model_file.hpp"
#include "lockstep/model/predictor.hpp"
#include "lockstep/model/preparation.hpp"
#include "lockstep/nn/network.hpp"
#include "lockstep/run/train_run.hpp"
#include "lockstep/train/trainer.hpp"
