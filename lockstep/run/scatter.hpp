#pragma once
// data.from = "rank0": rank 0 alone reads the data, the other ranks need no access to them.

#include "lockstep/data/source.hpp"
#include "lockstep/nn/network.hpp"
#include "lockstep/parallel/ranks.hpp"

namespace lockstep {

/// Sends all samples, labels and targets of rank 0's data (`own`) to every other rank, which keeps them in memory: a
/// shuffled batch may need any of them anywhere. They travel in the precision of the network, as rank 0 itself gathers
/// them, so all ranks train on the same bits. Rank 0 gets its own back. Error(integrity) where what arrives is not what
/// was sent. One rank: nothing happens.
DataSplits scatter_data(Ranks& ranks, const DataSplits& own, Precision precision);

/// Error(integrity) when the ranks do not agree on who reads the data: they would wait for each other.
void check_readers(Ranks& ranks, bool from_rank0);

}  // namespace lockstep
