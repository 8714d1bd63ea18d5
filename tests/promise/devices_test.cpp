// Level L6 of the promise: CPU and devices, in float32 and float64. With every device that this machine and this build
// have: OpenCL (PoCL in CI), and CUDA's plugin, or the emulator where LOCKSTEP_CUDA_PLUGIN names no other.

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"
#include "lockstep/kernels/backend.hpp"
#include "lockstep/kernels/device/device.hpp"
#include "lockstep/model/predictor.hpp"
#include "lockstep/train/device_executor.hpp"
#include "lockstep/train/loop.hpp"
#include "tests/cuda_emulator/memory.hpp"
#include "tests/cuda_emulator/streams.hpp"
#include "tests/kernels/cuda/emulated.hpp"
#include "tests/parallel/device_transport.hpp"
#include "tests/parallel/rank_threads.hpp"
#include "tests/promise/networks.hpp"
#include "tests/train/same_state.hpp"

namespace lockstep {
namespace {

std::string name_of(Backend backend) { return backend_names()[static_cast<std::size_t>(backend)]; }

/// Why this backend cannot run here; empty: it can.
std::string missing(Backend backend) {
  try {
    static_cast<void>(open_device(backend));
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

class Devices : public testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    test::use_emulator();
    if (const std::string reason = missing(GetParam()); !reason.empty()) GTEST_SKIP() << reason;
  }
  PromiseRun on_device(PromiseRun run) const {
    run.options.backend = GetParam();
    return run;
  }
};

TEST_P(Devices, OneHash) {
  for (const PromiseRun& run : promise_runs()) {
    const DataSplits data = promise_data(run);
    PromiseRun naive = run;
    naive.options.backend = Backend::naive;
    const std::string expected = training_hash(naive, *data.train, *data.test);
    EXPECT_EQ(training_hash(run, *data.train, *data.test), expected) << run.name;
    EXPECT_EQ(training_hash(on_device(run), *data.train, *data.test), expected) << run.name;
  }
}

TEST_P(Devices, OneHashOfSequences) {
  const auto expect_one_hash = [&](const PromiseRun& run, const DataSplits& data) {
    PromiseRun naive = run;
    naive.options.backend = Backend::naive;
    EXPECT_EQ(training_hash(on_device(run), *data.train, *data.test), training_hash(naive, *data.train, *data.test))
        << run.name;
  };
  for (const Precision precision : {Precision::float32, Precision::float64}) {
    expect_one_hash(recurrent_run(precision), sequence_data());
    expect_one_hash(text_run(precision), text_data());
    expect_one_hash(windows_run(precision), text_data(50, false));
  }
}

/// States between two windows leave the device with a checkpoint, and come back.
TEST_P(Devices, ResumesInWindows) {
  const DataSplits data = text_data(50, false);
  struct Stopped {};
  const auto train = [&](const PromiseRun& run, const TrainingState* from, TrainingState* stopped) {
    Network network = run.network;
    network.initialise(7);
    Trainer trainer(network, run.options);
    if (from != nullptr) trainer.restore(*from);
    FitOptions fit{.epochs = 1};
    fit.requests = [&](std::int64_t step) { return StepRequests{.save = stopped != nullptr && step == 4}; };
    fit.on_step = [&](const StepReport& step) {
      if (!step.requests.save) return;
      *stopped = trainer.state();
      throw Stopped();
    };
    try {
      return trainer.fit(*data.train, fit).back().weight_hash;
    } catch (const Stopped&) {
      return std::string();
    }
  };
  const PromiseRun host = windows_run(), device = on_device(host);
  const std::string expected = train(host, nullptr, nullptr);
  TrainingState on_host, there;
  train(host, nullptr, &on_host);
  train(device, nullptr, &there);
  EXPECT_GT(std::get<AlignedBuffer<float>>(there.carried).size(), 0);
  EXPECT_EQ(train(device, &on_host, nullptr), expected);
  EXPECT_EQ(train(host, &there, nullptr), expected);
}

TEST_P(Devices, OneHashInFloat64) {
  PromiseRun run = mlp_run();
  Network network({1, 8, 8}, Precision::float64);
  for (const LayerSpec& layer : run.network.layers()) network.add(layer);
  run.network = network;
  const DataSplits data = promise_data(run);
  EXPECT_EQ(training_hash(on_device(run), *data.train, *data.test), training_hash(run, *data.train, *data.test));
}

TEST_P(Devices, OneHashForRanks) {
  for (const PromiseRun& run : {bn_cnn_run(), batch_wide_run()}) {
    const DataSplits data = promise_data(run);
    const std::string expected = training_hash(run, *data.train, *data.test);
    for (const int size : {2, 3})
      run_ranks(size, [&](Ranks& ranks) {
        EXPECT_EQ(training_hash(on_device(run), *data.train, *data.test, &ranks), expected) << size << " ranks";
      });
  }
}

TEST_P(Devices, OddNetworks) {
  PromiseRun run = bn_cnn_run();
  Network network({1, 12, 12});
  network.add(Conv2d{.out = 4, .kernel = 3, .pad = 1}).add(Tanh{});
  network.add(Residual{.body = {Conv2d{.out = 4, .kernel = 3, .pad = 1}, Relu{}, Dropout{.p = 0.2}}, .shortcut = {}});
  network.add(AvgPool2d{.window = 2}).add(Flatten{}).add(Linear{.out = 10}).add(Sigmoid{});
  run.network = network;
  run.options = {.loss = Loss::binary_cross_entropy,
                 .optimizer = RmsProp{},
                 .batch = 16,
                 .slots = 32,
                 .l2 = 1e-3,
                 .clip_norm = 0.5};
  const DataSplits data = promise_data(run, 19);
  EXPECT_EQ(training_hash(on_device(run), *data.train, *data.test), training_hash(run, *data.train, *data.test));
}

/// From threads to the device and back, in the middle of an epoch.
TEST_P(Devices, ResumesElsewhere) {
  const PromiseRun run = bn_cnn_run();
  const DataSplits data = promise_data(run);
  struct Stopped {};
  const auto train = [&](const PromiseRun& part, const TrainingState* from, std::int64_t stop) {
    Network network = part.network;
    network.initialise(7);
    Trainer trainer(network, part.options);
    if (from != nullptr) trainer.restore(*from);
    TrainingState state;
    const auto on_step = [&](const StepReport& report) {
      if ((report.epoch - 1) * report.steps + report.step != stop) return;
      state = trainer.state();
      throw Stopped{};
    };
    const std::int64_t done = from != nullptr ? from->epoch : 0;
    try {
      trainer.fit(*data.train, {.epochs = 3 - done, .on_step = on_step});
    } catch (const Stopped&) {
      return state;
    }
    return trainer.state();
  };
  const TrainingState whole = train(run, nullptr, -1);
  const TrainingState threads = train(run, nullptr, 1), device = train(on_device(run), &threads, 3);
  expect_same(device, train(run, nullptr, 3));
  expect_same(train(run, &device, -1), whole);
  expect_same(train(on_device(run), &threads, -1), whole);
}

TEST_P(Devices, PredictsTheSame) {
  const PromiseRun run = lenet5_run();
  const DataSplits data = promise_data(run);
  Network network = run.network;
  network.initialise(3);
  for (const std::size_t count : {1U, 3U, 20U}) {
    const std::vector<std::int64_t> all = {7, 3, 1, 19, 4, 4, 11, 0, 2, 5, 6, 8, 9, 10, 12, 13, 14, 15, 16, 17};
    const std::span<const std::int64_t> ids = std::span(all).first(count);
    EXPECT_EQ(predict(network, *data.test, ids, GetParam()), predict(network, *data.test, ids, Backend::naive));
  }
}

/// Uploads samples, labels and ids, downloads two numbers per slot: as device_tests checks with the host's
/// device.
TEST_P(Devices, StepsCopyLittle) {
  PromiseRun run = on_device(bn_cnn_run());
  run.options.batch = 16;
  run.options.slots = 2;
  run.options.clip_norm = 0;
  const DataSplits data = promise_data(run, 16 * 4);
  Ranks alone(make_self_transport());
  const std::shared_ptr<Device> device = open_device(GetParam());
  Loop loop(run.network, run.options, alone, [&](TrainingSetup& setup) {
    return std::make_unique<DeviceExecutor<float>>(setup, device, make_table<float>(GetParam()));
  });
  std::vector<DeviceTraffic> seen;
  loop.fit(*data.train, {.on_step = [&](const StepReport&) { seen.push_back(device->traffic()); }});
  ASSERT_EQ(seen.size(), 4U);
  // With the step before last the last batch was already on its way.
  EXPECT_EQ(seen[2].bytes_to_device - seen[1].bytes_to_device, 16 * (run.sample.elements() * 4 + 4 + 8));
  EXPECT_EQ(seen[3].bytes_to_device, seen[2].bytes_to_device);
  EXPECT_EQ(seen[3].bytes_to_host - seen[2].bytes_to_host, 2 * (8 + 8));
}

TEST_P(Devices, CountsKernels) {
  const PromiseRun run = mlp_run();
  const DataSplits data = promise_data(run);
  Network network = run.network;
  Trainer trainer(network, on_device(run).options);
  Profile profile;
  trainer.fit(*data.train, {.profile = &profile});
  ASSERT_FALSE(profile.device_kernels.empty());
  for (const DeviceKernel& kernel : profile.device_kernels) EXPECT_GT(kernel.launches, 0) << kernel.name;
}

/// Gradients from device to device. The emulator runs kernels as late as it may, and the transport reads and writes
/// device memory without asking: a missing wait is a wrong hash.
TEST(PromiseEmulator, RanksSwapDeviceMemory) {
  test::use_emulator();
  if (open_device(Backend::cuda)->info().platform.find("emulator") == std::string::npos)
    GTEST_SKIP() << "only the emulator's memory can be read from outside";
  const PromiseRun run = bn_cnn_run();
  const DataSplits data = promise_data(run);
  const std::string expected = training_hash(run, *data.train, *data.test);
  PromiseRun on_device = run;
  on_device.options.backend = Backend::cuda;
  const auto reach = [](const std::byte* address, std::size_t bytes) -> std::byte* {
    const auto lock = cuda_emulator::lock_emulator();
    return static_cast<std::byte*>(cuda_emulator::device_bytes(address, bytes));
  };
  const auto wrap = [&](std::unique_ptr<Transport> end) -> std::unique_ptr<Transport> {
    return std::make_unique<DeviceTransport>(std::move(end), "cuda", reach);
  };
  for (const int size : {2, 3, 4})
    run_ranks(
        size,
        [&](Ranks& ranks) {
          EXPECT_EQ(training_hash(on_device, *data.train, *data.test, &ranks), expected) << size << " ranks";
          const auto& transport = dynamic_cast<DeviceTransport&>(ranks.transport());
          EXPECT_GT(transport.bytes_from_device(), 0U);
          EXPECT_GT(transport.bytes_to_device(), 0U);
        },
        std::chrono::seconds(60), wrap);
}

INSTANTIATE_TEST_SUITE_P(, Devices,
                         testing::Values(Backend::opencl, Backend::opencl_naive, Backend::cuda, Backend::cuda_naive),
                         [](const auto& backend) {
                           std::string name = name_of(backend.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace lockstep
