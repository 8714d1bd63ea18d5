// One training shared by the processes that a launcher starts, each with its own trainer:
//   LOCKSTEP_MPI_DIR=$HOME/lockstep/lib/lockstep mpirun -n 4 example_ranks
// (the folder with the part for MPI that `make install` put there; the program lockstep finds it by itself.)
// Alone, and on any number of ranks, it prints the same weights.

#include <cstdio>

#include <lockstep/lockstep.hpp>

int main() {
  using namespace lockstep;
  const auto say = [](const std::string& line) { std::fprintf(stderr, "ranks: %s\n", line.c_str()); };
  try {
    run_as_rank(
        [](Ranks& ranks) {
          // Every rank makes the same data and the same network.
          const DataSplits data = load_data({.source = "circles", .count = 512});
          Network net({2});
          net.add(Linear{.out = 24}).add(Relu{}).add(Linear{.out = 2});
          TrainOptions options{.optimizer = Adam{.lr = 0.02}, .batch = 64};
          options.threads = threads_of_rank(ranks.transport());
          Trainer trainer(net, options, ranks);  // fit is a step that all ranks take together
          trainer.fit(*data.train, {.epochs = 10});
          if (ranks.leader())
            std::printf("%d rank%s, weights %s\n", ranks.size(), ranks.size() == 1 ? "" : "s",
                        short_hash(weight_hash(net.values())).c_str());
        },
        say);
  } catch (const ReportedByRank0&) {  // rank 0 says it
  } catch (const Error& error) {
    say(error.what());
    return static_cast<int>(error.code());
  }
}
