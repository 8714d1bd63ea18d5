// Training on a device that is the host: the bits of training on threads, and what crosses the bus. The same with a
// real device: tests/promise/devices_test.cpp.

#include <gtest/gtest.h>

#include <numeric>

#include "lockstep/train/device_executor.hpp"
#include "lockstep/train/loop.hpp"
#include "tests/parallel/device_transport.hpp"
#include "tests/parallel/rank_threads.hpp"
#include "tests/promise/networks.hpp"
#include "tests/support/host_device.hpp"
#include "tests/train/same_state.hpp"

namespace lockstep {
namespace {

/// A run with the kernels of the host on the device of the host.
struct DeviceRun {
  explicit DeviceRun(const PromiseRun& run, Ranks* ranks = nullptr, std::int64_t memory = std::int64_t{1} << 40)
      : network(initialised(run.network)),
        device(std::make_shared<HostDevice>(memory)),
        loop(network, run.options, ranks != nullptr ? *ranks : alone, [this](TrainingSetup& setup) {
          auto made = std::make_unique<DeviceExecutor<float>>(setup, device, make_table<float>(Backend::naive));
          executor = made.get();
          return made;
        }) {}

  static Network initialised(Network network) {
    network.initialise(7);
    return network;
  }

  Ranks alone{make_self_transport()};
  Network network;
  std::shared_ptr<HostDevice> device;
  DeviceExecutor<float>* executor = nullptr;
  Loop loop;
};

std::string device_hash(const PromiseRun& run, const DataSplits& data, Ranks* ranks = nullptr,
                        std::int64_t memory = std::int64_t{1} << 40) {
  DeviceRun own(run, ranks, memory);
  Sha256 hash;
  feed(hash, own.loop.fit(*data.train, {.epochs = 2, .validation = data.test.get()}));
  return to_hex(hash.finish());
}

class DeviceTraining : public testing::TestWithParam<int> {
 protected:
  PromiseRun run_ = promise_runs()[static_cast<std::size_t>(GetParam())];
};

TEST_P(DeviceTraining, HasThreadsBits) {
  const DataSplits data = promise_data(run_);
  EXPECT_EQ(device_hash(run_, data), training_hash(run_, *data.train, *data.test));
}

TEST_P(DeviceTraining, SlotsMayBeEmpty) {
  run_.options.batch = 16;
  run_.options.slots = 32;
  const DataSplits data = promise_data(run_, 19);
  EXPECT_EQ(device_hash(run_, data), training_hash(run_, *data.train, *data.test));
}

TEST_P(DeviceTraining, OneHashForRanks) {
  const DataSplits data = promise_data(run_);
  const std::string expected = training_hash(run_, *data.train, *data.test);
  for (const int size : {2, 3, 17})
    run_ranks(size, [&](Ranks& ranks) { EXPECT_EQ(device_hash(run_, data, &ranks), expected) << size; });
  run_.options.parallel.reduce = RankReduction::gather;
  run_ranks(2, [&](Ranks& ranks) { EXPECT_EQ(device_hash(run_, data, &ranks), expected) << "gather"; });
}

/// With a transport that takes the device's memory the gradients go from there to there, and only scores come up.
TEST_P(DeviceTraining, RanksSwapMemory) {
  const DataSplits data = promise_data(run_);
  const std::string expected = training_hash(run_, *data.train, *data.test);
  const auto wrap = [](std::unique_ptr<Transport> end) -> std::unique_ptr<Transport> {
    return std::make_unique<DeviceTransport>(std::move(end), "host");
  };
  for (const RankReduction reduction : {RankReduction::tree, RankReduction::gather})
    for (const int size : {2, 3, 4, 17}) {
      run_.options.parallel.reduce = reduction;
      run_ranks(
          size,
          [&](Ranks& ranks) {
            DeviceRun own(run_, &ranks);
            auto& transport = dynamic_cast<DeviceTransport&>(ranks.transport());
            transport.set_reach([&](const std::byte* at, std::size_t bytes) {
              return own.device->owns(at, static_cast<std::int64_t>(bytes)) ? const_cast<std::byte*>(at) : nullptr;
            });
            std::vector<std::int64_t> up, down;
            const auto note = [&](const StepReport&) {
              up.push_back(own.device->traffic().bytes_to_host);
              down.push_back(own.device->traffic().bytes_to_device);
            };
            Sha256 hash;
            feed(hash, own.loop.fit(*data.train, {.epochs = 2, .validation = data.test.get(), .on_step = note}));
            EXPECT_EQ(to_hex(hash.finish()), expected) << size;
            EXPECT_GT(transport.bytes_from_device() + transport.bytes_to_device(), 0U);
            // The second step of an epoch: samples down, two numbers per slot up (and squares, for clipping).
            const std::int64_t most = 2 * 8 * 64 + 8 * (own.network.parameter_count() / 1024 + 1);
            EXPECT_LE(up[1] - up[0], most);
            EXPECT_LE(down[1] - down[0], run_.options.batch * (run_.sample.elements() * 4 + 4 + 8));
            transport.set_reach({});
          },
          std::chrono::seconds(60), wrap);
    }
}

TEST_P(DeviceTraining, StepAndEvaluation) {
  const DataSplits data = promise_data(run_);
  const std::vector<std::int64_t> ids = {3, 1, 4, 15, 9, 2, 6, 5, 35, 8, 7, 32, 38, 46, 26};
  Network network = DeviceRun::initialised(run_.network);
  Trainer expected(network, run_.options);
  DeviceRun own(run_);
  EXPECT_EQ(own.loop.gradient(*data.train, ids), expected.gradient(*data.train, ids));
  EXPECT_EQ(own.loop.step(*data.train, ids), expected.step(*data.train, ids));
  EXPECT_EQ(own.loop.evaluate(*data.train).loss, expected.evaluate(*data.train).loss);
  EXPECT_EQ(own.loop.penalty(), expected.penalty());
  EXPECT_EQ(weight_hash(own.network.values()), weight_hash(network.values()));
  expect_same(own.loop.state(), expected.state());
}

/// Stopped in the middle of an epoch, from threads to the device and back.
TEST_P(DeviceTraining, GoesOnFromThreads) {
  const DataSplits data = promise_data(run_);
  struct Stopped {};
  TrainingState state;
  const auto stop_at = [&](std::int64_t step, const auto& source) {
    return [&, step](const StepReport& report) {
      if (report.step != step) return;
      state = source.state();
      throw Stopped{};
    };
  };
  {
    Network network = DeviceRun::initialised(run_.network);
    Trainer trainer(network, run_.options);
    EXPECT_THROW(trainer.fit(*data.train, {.epochs = 3, .on_step = stop_at(1, trainer)}), Stopped);
  }
  {
    DeviceRun own(run_);
    own.loop.restore(state);
    expect_same(own.loop.state(), state);
    const auto stop = [&](const StepReport& report) {
      if (report.epoch == 2 && report.step == 1) stop_at(1, own.loop)(report);
    };
    EXPECT_THROW(own.loop.fit(*data.train, {.epochs = 3, .on_step = stop}), Stopped);
    EXPECT_EQ(weight_hash(own.network.values()), weight_hash(state.parameters));
  }
  Network network = DeviceRun::initialised(run_.network), straight = network;
  Trainer last(network, run_.options), whole(straight, run_.options);
  last.restore(state);
  last.fit(*data.train, {.epochs = 2});
  whole.fit(*data.train, {.epochs = 3});
  expect_same(last.state(), whole.state());
}

/// A step brings down samples, labels and ids, and takes up the scores of its slots: no weights, no activations.
TEST_P(DeviceTraining, StepsCopyLittle) {
  run_.options.batch = 16;
  run_.options.slots = 2;
  run_.options.clip_norm = 0;
  const DataSplits data = promise_data(run_, 16 * 6);
  DeviceRun own(run_);
  std::vector<DeviceTraffic> seen;
  std::vector<std::int64_t> allocations, synchronizations, flushes;
  const auto note = [&](const StepReport&) {
    seen.push_back(own.device->traffic());
    flushes.push_back(own.device->flushes);
    allocations.push_back(own.device->allocations);
    synchronizations.push_back(own.device->synchronizations);
  };
  own.loop.fit(*data.train, {.on_step = note});
  ASSERT_EQ(seen.size(), 6U);
  for (std::size_t step = 2; step < seen.size(); ++step) {
    EXPECT_EQ(seen[step].bytes_to_device - seen[step - 1].bytes_to_device, 16 * (run_.sample.elements() * 4 + 4 + 8));
    EXPECT_EQ(seen[step].copies_to_device - seen[step - 1].copies_to_device, 1);
    EXPECT_EQ(seen[step].bytes_to_host - seen[step - 1].bytes_to_host, 2 * (8 + 8));
    EXPECT_EQ(seen[step].copies_to_host - seen[step - 1].copies_to_host, 1);
    EXPECT_EQ(allocations[step], allocations[step - 1]);
    EXPECT_EQ(synchronizations[step], synchronizations[step - 1]);
    // Once, before the host gathers the next batch; after the last step there is none.
    EXPECT_EQ(flushes[step], flushes[step - 1] + (step + 1 < seen.size() ? 1 : 0));
  }
}

INSTANTIATE_TEST_SUITE_P(, DeviceTraining, testing::Range(0, 3), [](const auto& network) {
  return network.param == 0 ? "mlp" : network.param == 1 ? "lenet5" : "bn_cnn";
});

TEST(DeviceExecutor, OneBatchStaysOnTheDevice) {
  PromiseRun run = mlp_run();
  run.options.batch = 0;
  run.options.shuffle = false;
  const DataSplits data = promise_data(run);
  DeviceRun own(run);
  std::vector<std::int64_t> bytes;
  own.loop.fit(*data.train, {.epochs = 3, .validation = data.train.get(), .on_step = [&](const StepReport&) {
                               bytes.push_back(own.device->traffic().copies_to_device);
                             }});
  EXPECT_EQ(bytes[2] - bytes[1], 1);  // the validation's
  EXPECT_EQ(device_hash(run, data), training_hash(run, *data.train, *data.test));
}

TEST(DeviceExecutor, FewerSlotsInLittleMemory) {
  PromiseRun run = bn_cnn_run();
  const DataSplits data = promise_data(run);
  DeviceRun whole(run);
  whole.loop.fit(*data.train, {});
  EXPECT_EQ(whole.executor->slots_per_chunk(), run.options.slots);
  const std::int64_t enough = whole.device->held_bytes;
  DeviceRun small(run, nullptr, enough * 3 / 4);
  small.loop.fit(*data.train, {});
  EXPECT_LT(small.executor->slots_per_chunk(), run.options.slots);
  EXPECT_EQ(weight_hash(small.network.values()), weight_hash(whole.network.values()));
  run.options.slots = 1;
  DeviceRun tiny(run, nullptr, enough * 3 / 4);
  try {
    tiny.loop.fit(*data.train, {});
    FAIL() << "nothing was too large";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::resources);
    EXPECT_NE(std::string(error.what()).find("lower train.batch"), std::string::npos) << error.what();
  }
}

TEST(DeviceExecutor, SaysWhenItDiverges) {
  PromiseRun run = mlp_run();
  run.options.optimizer = Sgd{.lr = 1e30};
  const DataSplits data = promise_data(run);
  DeviceRun own(run);
  try {
    own.loop.fit(*data.train, {.epochs = 4});
    FAIL() << "it did not diverge";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::diverged);
  }
}

TEST(DeviceExecutor, ProfilesLayersAndKernels) {
  const PromiseRun run = mlp_run();
  const DataSplits data = promise_data(run);
  DeviceRun own(run);
  Profile profile;
  own.loop.fit(*data.train, {.validation = data.test.get(), .profile = &profile});
  EXPECT_GT(own.device->synchronizations, 0);
  EXPECT_EQ(profile.steps, 2);
  EXPECT_EQ(profile.sum(static_cast<std::size_t>(forward_section(0))).calls, 2);
  EXPECT_EQ(profile.sum(static_cast<std::size_t>(backward_section(0))).calls, 2);
  EXPECT_GE(profile.bytes_to_device, 50 * (64 * 4 + 4 + 8));
  EXPECT_GE(profile.bytes_to_host, 2 * 16 * 16);
  ASSERT_EQ(profile.device_kernels.size(), 3U);
  EXPECT_EQ(profile.device_kernels[0].name, "host_kernel");
  EXPECT_EQ(profile.device_kernels[1].name, kCopyToDevice);
  EXPECT_EQ(profile.device_kernels[1].seconds, 0.25);  // as the device says
  EXPECT_EQ(profile.device_kernels[2].name, kCopyToHost);
  EXPECT_EQ(profile.device_kernels[2].seconds, 0.125);
}

TEST(DeviceExecutor, RefusesNetworksInParts) {
  PromiseRun run = mlp_run();
  run.options.backend = Backend::opencl;
  run.options.parallel.pipeline = 2;
  run_ranks(2, [&](Ranks& ranks) {
    try {
      Network network = run.network;
      Trainer trainer(network, run.options, ranks);
      FAIL() << "a device ran a part of a network";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      EXPECT_NE(std::string(error.what()).find("parallel.pipeline"), std::string::npos) << error.what();
    }
  });
}

}  // namespace
}  // namespace lockstep
