#pragma once
// data.from = "rank0": rank 0 alone reads the data and sends them to the other ranks.

#include "lockstep/data/source.hpp"
#include "lockstep/nn/network.hpp"
#include "lockstep/parallel/ranks.hpp"

namespace lockstep {

/// Sends all samples, labels and targets of rank 0's data (`own`) to every other rank, which keeps them in memory: a
/// shuffled batch may need any sample on any rank. Values travel in the precision of the network, as rank 0 gathers
/// them, so all ranks train on the same bits. Returns `own` on rank 0. Error(integrity) when the data that arrive are
/// not those that were sent. With one rank nothing happens.
DataSplits scatter_data(Ranks& ranks, const DataSplits& own, Precision precision);

/// Error(integrity) when the ranks do not agree on who reads the data: they would wait for each other.
void check_readers(Ranks& ranks, bool from_rank0);

}  // namespace lockstep
