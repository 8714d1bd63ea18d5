// step_counters [--naive] CONFIG...: what one step of each configuration's network asks of a GPU, counted by the
// emulator, as JSON: launches and copies, and of every kernel the blocks, the sectors of global memory and the passes
// of shared memory. --naive: by the kernels of cuda-naive. The first steps are left out: they compile, allocate,
// upload and make the graph. scripts/cuda_counters.py makes the table of docs/gpu.md.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "lockstep/config/config.hpp"
#include "tests/cuda_emulator/counters.hpp"
#include "tests/promise/networks.hpp"

namespace {

nlohmann::json to_json(const cuda_emulator::Counters& counters) {
  nlohmann::json kernels;
  for (const auto& [name, k] : counters.kernels)
    kernels[name] = {{"launches", k.launches},
                     {"blocks", k.blocks},
                     {"fewest_blocks", k.fewest_blocks},
                     {"threads", k.threads},
                     {"instructions", k.instructions},
                     {"global_accesses", k.global_accesses},
                     {"sectors", k.sectors},
                     {"least_sectors", k.least_sectors},
                     {"touched_sectors", k.touched_sectors},
                     {"shared_accesses", k.shared_accesses},
                     {"passes", k.passes},
                     {"least_passes", k.least_passes}};
  return {{"launches", counters.launches},
          {"graphs", counters.graphs},
          {"node_updates", counters.node_updates},
          {"fills", counters.fills},
          {"copies_to_device", counters.copies_to_device},
          {"copies_to_host", counters.copies_to_host},
          {"copies_within", counters.copies_within},
          {"kernels", std::move(kernels)}};
}

nlohmann::json count_step(const std::string& file, lockstep::Backend backend) {
  using namespace lockstep;
  RunConfig config = load_config(file);
  config.train.backend = backend;
  Network network = make_network(config);
  network.initialise(config.train.seed);
  // The first step allocates, the second is the first of its kind, the third makes a graph of it.
  constexpr std::int64_t kCounted = 4;
  constexpr std::int64_t kBatch = 128;
  const std::int64_t batch = config.train.batch > 0 ? config.train.batch : kBatch;
  const DataSplits data = blob_images(network.input(), {.count = (kCounted + 1) * batch, .noise = 5, .classes = 10});
  Trainer trainer(network, config.train);
  nlohmann::json counted;
  std::int64_t steps = 0;
  trainer.fit(*data.train, {.epochs = 1, .on_step = [&](const StepReport&) {
                              if (++steps == kCounted) counted = to_json(cuda_emulator::counters());
                              cuda_emulator::counters() = {};
                              cuda_emulator::count(steps == kCounted - 1);
                            }});
  counted["batch"] = batch;
  return counted;
}

}  // namespace

int main(int count, char** arguments) {
  ::setenv("LOCKSTEP_CUDA_PLUGIN", LOCKSTEP_EMULATED_PLUGIN, 1);
  try {
    nlohmann::json all;
    const bool naive = count > 1 && arguments[1] == std::string_view("--naive");
    for (int i = naive ? 2 : 1; i < count; ++i)
      all[arguments[i]] = count_step(arguments[i], naive ? lockstep::Backend::cuda_naive : lockstep::Backend::cuda);
    std::puts(all.dump(1).c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "step_counters: %s\n", error.what());
    return 1;
  }
  return 0;
}
