#pragma once
// What one rank of a run trains: configuration, network, trainer and data.

#include <string>

#include "lockstep/data/source.hpp"
#include "lockstep/model/model_file.hpp"
#include "lockstep/nn/network.hpp"
#include "lockstep/parallel/ranks.hpp"
#include "lockstep/run/train_run.hpp"

namespace lockstep {

struct Workload {
  /// Reads the configuration, makes network and trainer; the data are not loaded yet. Error(usage) names the line of
  /// what does not fit.
  Workload(const std::string& file, const RunOptions& options, Ranks& ranks);

  /// Loads the data and checks that network and trainer can use them.
  void load(RunObserver& observer);

  /// The data that the final weights are scored on: the test set; without a test and a validation set the training set,
  /// whose scores during training belong to earlier weights. Null: the last validation has scored the final weights.
  const Dataset* final_data() const;

  std::string backend_name() const;

  RunConfig config;
  Network network;
  Trainer trainer;
  DataSplits data{};
  ModelInfo info{};
};

/// data.from = "rank0": rank 0 alone reads the data and sends them to the other ranks. Sends all samples, labels and
/// targets of rank 0's data (`own`) to every other rank, which keeps them in memory: a shuffled batch may need any
/// sample on any rank. Values travel in the precision of the network, as rank 0 gathers them, so all ranks train on the
/// same bits. Returns `own` on rank 0. Error(integrity) when the data that arrive are not those that were sent. With
/// one rank nothing happens.
DataSplits scatter_data(Ranks& ranks, const DataSplits& own, Precision precision);

/// Error(integrity) when the ranks do not agree on who reads the data: they would wait for each other.
void check_readers(Ranks& ranks, bool from_rank0);

}  // namespace lockstep
