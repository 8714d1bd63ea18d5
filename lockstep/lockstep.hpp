#pragma once
// Everything a program needs: describe a network, train it, save and load it, predict, run trainings from configuration
// files, alone or as one of several ranks. The headers named here are the public interface, of which `make docs` makes a
// page; what they include besides is installed with them and may change.

#include "lockstep/core/error.hpp"           // Error, ErrorCode
#include "lockstep/data/dataset.hpp"         // Dataset: samples of your own kind
#include "lockstep/data/memory_dataset.hpp"  // MemoryDataset: samples in memory
#include "lockstep/data/source.hpp"          // load_data: files, folders, generators
#include "lockstep/model/export.hpp"         // export_model: ONNX, NumPy, MATLAB, PyTorch
#include "lockstep/model/model_file.hpp"     // save_model, load_model
#include "lockstep/model/predictor.hpp"      // Predictor: answers in a loop
#include "lockstep/model/preparation.hpp"    // load_data_for: data as a model was trained on
#include "lockstep/nn/network.hpp"           // Network and its layers
#include "lockstep/run/rank_session.hpp"     // RankSession: ranks under mpirun or srun
#include "lockstep/run/train_run.hpp"        // train_run: a whole run, its directory and report
#include "lockstep/train/trainer.hpp"        // Trainer, TrainOptions, optimisers, schedules, metrics
