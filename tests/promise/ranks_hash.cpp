// ranks_hash [THREADS [STAGES [MEMBERS]]]: one rank of an MPI run. Trains the networks of the promise together with the
// others. Rank 0 prints, for each network, its name, whether every rank got what one process alone gets ("same" or
// "different"), and the hash.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "lockstep/parallel/launcher.hpp"
#include "lockstep/parallel/ranks.hpp"
#include "tests/promise/networks.hpp"

namespace {

using namespace lockstep;

/// Error(integrity) when a rank has another hash.
std::string hash_of_all(const std::string& own, Ranks& ranks) {
  for (const std::string& hash : ranks.all_gather(own, "hash"))
    if (hash != own) throw Error(ErrorCode::integrity, "the ranks have different weights");
  return own;
}

struct RunOnData {
  PromiseRun run;
  DataSplits data;
};

std::vector<RunOnData> all_runs() {
  std::vector<RunOnData> all;
  for (const PromiseRun& run : promise_runs()) all.push_back({run, promise_data(run)});
  all.push_back({recurrent_run(), sequence_data()});
  all.push_back({text_run(), text_data()});
  all.push_back({windows_run(), text_data(50, false)});
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Ranks ranks(connect_transport());
    if (ranks.leader()) std::printf("%s, %d ranks\n", ranks.transport().describe().c_str(), ranks.size());
    for (auto& [run, data] : all_runs()) {
      run.options.threads = argc > 1 ? std::atoi(argv[1]) : 1;
      int stages = argc > 2 ? std::atoi(argv[2]) : 1, members = argc > 3 ? std::atoi(argv[3]) : 1;
      if (batch_wide_layers(run.network.plans()) > 0) stages = members = 1;  // it needs whole layers
      run.options.parallel = {.tensor = members, .pipeline = stages};
      std::string hash = training_hash(run, *data.train, *data.test, &ranks);
      // Of a network in parts rank 0 alone has everything.
      if (stages * members == 1) hash = hash_of_all(hash, ranks);
      run.options.threads = 1;
      run.options.parallel = {};
      const bool same = hash == training_hash(run, *data.train, *data.test);
      if (ranks.leader()) std::printf("%s %s %s\n", run.name.c_str(), same ? "same" : "different", hash.c_str());
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "ranks_hash: %s\n", error.what());
    return static_cast<int>(error.code());
  }
}
