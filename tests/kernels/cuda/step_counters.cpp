// step_counters CONFIG...: what one step of each configuration's network asks of a GPU, counted by the emulator, as
// JSON: launches and copies, and of every kernel the blocks, the sectors of global memory and the passes of shared
// memory. The first step is left out: it compiles, allocates and uploads. scripts/cuda_counters.py makes the table of
// docs/gpu.md.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

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
          {"fills", counters.fills},
          {"copies_to_device", counters.copies_to_device},
          {"copies_to_host", counters.copies_to_host},
          {"copies_within", counters.copies_within},
          {"kernels", std::move(kernels)}};
}

nlohmann::json count_step(const std::string& file) {
  using namespace lockstep;
  RunConfig config = load_config(file);
  config.train.backend = Backend::cuda;
  Network network = make_network(config);
  network.initialise(config.train.seed);
  constexpr std::int64_t kBatch = 128;
  const std::int64_t batch = config.train.batch > 0 ? config.train.batch : kBatch;
  const DataSplits data = blob_images(network.input(), {.count = 3 * batch, .noise = 5, .classes = 10});
  Trainer trainer(network, config.train);
  nlohmann::json counted;
  std::int64_t steps = 0;
  trainer.fit(*data.train, {.epochs = 1, .on_step = [&](const StepReport&) {
                              if (++steps == 2) counted = to_json(cuda_emulator::counters());
                              cuda_emulator::counters() = {};
                              cuda_emulator::count(steps == 1);
                            }});
  counted["batch"] = batch;
  return counted;
}

}  // namespace

int main(int count, char** arguments) {
  ::setenv("LOCKSTEP_CUDA_PLUGIN", LOCKSTEP_EMULATED_PLUGIN, 1);
  try {
    nlohmann::json all;
    for (int i = 1; i < count; ++i) all[arguments[i]] = count_step(arguments[i]);
    std::puts(all.dump(1).c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "step_counters: %s\n", error.what());
    return 1;
  }
  return 0;
}
