// cpp_hash FOLDER THREADS BACKEND: the network "mlp" of conftest.py on FOLDER/x.npy and y.npy, trained in C++ as
// hash_test.py trains it in Python; under mpirun by all ranks together. Rank 0 prints the hash of the weights.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "lockstep/lockstep.hpp"
#include "lockstep/model/checkpoint.hpp"
#include "lockstep/parallel/launcher.hpp"
#include "lockstep/parallel/ranks.hpp"

int main(int argc, char** argv) {
  using namespace lockstep;
  try {
    if (argc != 4) throw Error(ErrorCode::usage, "cpp_hash FOLDER THREADS BACKEND");
    const std::string folder = argv[1];
    const auto backend = std::ranges::find(backend_names(), argv[3]);
    if (backend == backend_names().end()) throw Error(ErrorCode::usage, "unknown backend");
    Ranks ranks(connect_transport());
    const DataSplits data = load_data({.source = folder + "/x.npy", .labels = folder + "/y.npy"});
    Network net({6});
    net.add(Linear{.out = 17}).add(Tanh{}).add(Dropout{.p = 0.25}).add(Linear{.out = 3});
    net.initialise(11);
    TrainOptions options{.optimizer = Adam{.lr = 0.003}, .batch = 32, .seed = 11};
    options.backend = static_cast<Backend>(backend - backend_names().begin());
    options.threads = std::atoi(argv[2]);
    Trainer trainer(net, options, ranks);
    trainer.fit(*data.train, {.epochs = 3});
    if (ranks.leader()) std::printf("%s\n", weight_hash(net.values()).c_str());
  } catch (const Error& error) {
    std::fprintf(stderr, "cpp_hash: %s\n", error.what());
    return static_cast<int>(error.code());
  }
}
