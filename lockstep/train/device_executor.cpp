#include "lockstep/train/device_executor.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/kernels/backend.hpp"
#include "lockstep/kernels/device/device.hpp"
#include "lockstep/parallel/launcher.hpp"
#include "lockstep/train/progress.hpp"
#include "lockstep/train/scores.hpp"

namespace lockstep {

namespace {

/// Blocks of an evaluation that go through the network together, where they fit: fewer launches. Any number gives the
/// same bits.
constexpr std::int64_t kMostBlocks = 4;

/// As the launcher says, because the device was chosen by it before MPI started; else as MPI finds.
LocalRank place_of(Ranks& ranks) {
  const Transport& transport = ranks.transport();
  if (ranks.size() == 1) return {};
  return {.rank = find_local_rank().value_or(transport.local_rank()), .size = transport.local_size()};
}

template <class T>
AlignedBuffer<T> downloaded(Device& device, const T* from, std::int64_t count) {
  AlignedBuffer<T> copy(count);
  if (count > 0) device.to_host(copy.data(), from, count * static_cast<std::int64_t>(sizeof(T)));
  return copy;
}

}  // namespace

std::shared_ptr<Device> device_of_rank(const TrainOptions& options, Ranks& ranks) {
  if (options.parallel.pipeline > 1 || options.parallel.tensor > 1)
    throw Error(ErrorCode::usage, fmt::format("{} runs whole networks: set parallel.pipeline and parallel.tensor to 1, "
                                              "or use the backend simd",
                                              backend_names()[static_cast<std::size_t>(options.backend)]));
  return open_device(options.backend, place_of(ranks));
}

template <class T>
DeviceExecutor<T>::DeviceExecutor(TrainingSetup& setup, std::shared_ptr<Device> device, const KernelTable<T>& kernels)
    : model_(setup, std::move(device), kernels), step_(model_), scorer_(model_, DeviceWorker<T>::Mode::inference) {}

template <class T>
void DeviceExecutor<T>::prepare(const Dataset& data) {
  step_.prepare(data);
  model_.upload();
  // A checksum is taken by the host. The ranks must agree, and MPI may take device memory on some hosts only.
  const std::vector<std::string> moves =
      model_.setup.ranks.all_gather(model_.moves_device_memory() ? "device" : "host", "beginning");
  model_.setup.ranks.transport().check_messages(std::ranges::count(moves, "device") == 0);
}

template <class T>
void DeviceExecutor<T>::begin_fit(const Dataset& data, Profile* profile) {
  in_fit_ = true;
  step_.repeat_batches(model_.setup.repeats_one_batch(data));
  profile_ = profile;
  if (profile == nullptr) return;
  profile->recorder(0).settle_first([this] { model_.device.synchronize(); });
  model_.device.set_timing(true);
  traffic_ = model_.device.traffic();
}

template <class T>
void DeviceExecutor<T>::end_fit(bool complete) {
  in_fit_ = false;
  end_profile(complete);
  if (complete) return;
  step_.cancel();
  try {
    model_.download();
  } catch (...) {  // the error that ended the fit says more
  }
}

template <class T>
void DeviceExecutor<T>::end_profile(bool complete) {
  Profile* const profile = std::exchange(profile_, nullptr);
  if (profile == nullptr) return;
  Device& device = model_.device;
  profile->recorder(0).settle_first(nullptr);
  if (!complete) return;
  for (const auto& [name, time] : device.kernel_times())
    profile->device_kernels.push_back({name, time.launches, time.seconds});
  const CopyTimes copies = device.copy_times();
  profile->device_kernels.push_back({kCopyToDevice, copies.to_device.launches, copies.to_device.seconds});
  profile->device_kernels.push_back({kCopyToHost, copies.to_host.launches, copies.to_host.seconds});
  profile->bytes_to_device = device.traffic().bytes_to_device - traffic_.bytes_to_device;
  profile->bytes_to_host = device.traffic().bytes_to_host - traffic_.bytes_to_host;
  device.set_timing(false);
}

template <class T>
StepResult DeviceExecutor<T>::train_batch(const Member& /*member*/, const Batch& batch) {
  const StepResult result = step_.train_batch(batch);
  if (!in_fit_) model_.download();
  return result;
}

template <class T>
Cost DeviceExecutor<T>::score(const Member& member, const Dataset& data, SlotScores& blocks) {
  if (!in_fit_) model_.upload();
  const BlockRange own = own_blocks(model_.setup.grid, member, data);
  std::int64_t together = scorer_.reserved_slots() > 0 ? scorer_.reserved_slots() : kMostBlocks;
  while (together > 1 && scorer_.reserved_slots() == 0 &&
         !fits_inference(model_, data, together * kScoreBlock, model_.setup.slots_for(data)))
    together /= 2;
  if (own.first < own.last) scorer_.reserve(together * kScoreBlock, together);
  std::vector<std::int64_t> ids, bounds;
  PhaseTimes ignored;
  std::int64_t scored = 0;
  const auto begin = [&](std::int64_t block) {
    list_samples({block, std::min(own.last, block + together)}, data, ids);
    scorer_.feed().begin(data, ids);
    scored += static_cast<std::int64_t>(ids.size());
  };
  if (own.first < own.last) begin(own.first);
  for (std::int64_t block = own.first; block < own.last; block += together) {
    const DeviceSamples<T> samples = scorer_.feed().take();
    const std::int64_t run = std::min(together, own.last - block);
    bounds.resize(static_cast<std::size_t>(run + 1));
    for (std::int64_t k = 0; k <= run; ++k)
      bounds[static_cast<std::size_t>(k)] = std::min(k * kScoreBlock, samples.x.cols);
    scorer_.launch(samples, {bounds}, nullptr, nullptr, ignored);
    const std::vector<std::int64_t> scored_ids = blocks.samples.wanted() ? ids : std::vector<std::int64_t>{};
    if (block + together < own.last) begin(block + together);
    scorer_.fetch_scores(run, block, blocks, ignored);
    if (blocks.samples.wanted()) score_on_host(data, scored_ids, block, blocks.samples);
  }
  return model_.scored_body().forward_cost(scored);
}

/// What metrics need, from the outputs of the chunk that was scored last.
template <class T>
void DeviceExecutor<T>::score_on_host(const Dataset& data, std::span<const std::int64_t> ids, std::int64_t first_block,
                                      SampleScores& scores) const {
  const std::vector<T> outputs = scorer_.fetch_outputs();
  const auto samples = static_cast<std::int64_t>(ids.size());
  const ConstMatrix<T> z{outputs.data(), model_.setup.scored_stage().outputs, samples, samples};
  std::vector<std::int32_t> labels(data.classes() > 0 ? ids.size() : 0);
  std::vector<T> values(data.classes() > 0 ? 0 : outputs.size());
  LossTargets<T> targets;
  if (data.classes() > 0) {
    data.labels(ids, labels);
    targets.labels = labels.data();
  } else {
    const Matrix<T> t{values.data(), z.rows, samples, samples};
    data.targets(ids, t);
    targets.values = t;
  }
  score_samples(model_.setup.options.loss, z, targets, first_block * kScoreBlock, scores);
}

template <class T>
std::vector<double> DeviceExecutor<T>::gradient(const Batch& batch) {
  const AlignedBuffer<T> host = downloaded(model_.device, step_.gradient(batch), model_.setup.stage.count);
  return {host.data(), host.data() + host.size()};
}

template <class T>
void DeviceExecutor<T>::resume_window(std::int64_t window, std::int64_t samples) {
  CarriedState<T>& own = model_.carried;
  if (own.window() == window && own.samples() == samples) return;
  const AlignedBuffer<T> wide = spread_carried(carried_, model_.setup.state_rows, samples, own.stride());
  upload_to(own.resume(window, samples), wide);
}

/// Ranks have the same weights and state, so there is nothing to collect but from the device; states between windows
/// are those of a rank's own samples.
template <class T>
bool DeviceExecutor<T>::collect(Collect what) {
  if (what == Collect::state) {
    carried_ = {};
    if (const CarriedState<T>& own = model_.carried; own.window() > 0)
      carried_ = collect_carried(model_.setup, downloaded(model_.device, own.next().data(), own.next().size()).data(),
                                 own.stride(), own.samples(), step_.slots());
  }
  model_.download();
  return all_finite(model_.setup.network.values());
}

/// Through the host, once an epoch: kernels keep the addresses they know.
template <class T>
void DeviceExecutor<T>::swap_average() {
  if (in_fit_) model_.download();
  AlignedBuffer<T> other = downloaded(model_.device, model_.average.values().data(), model_.setup.stage.count);
  auto& own = std::get<AlignedBuffer<T>>(model_.setup.network.values());
  std::swap(own, other);
  upload_to(model_.average.values().data(), other);
  if (in_fit_) model_.upload();
}

template <class T>
double DeviceExecutor<T>::penalty() {
  if (model_.setup.options.l2 == 0) return 0;
  if (!in_fit_) model_.upload();
  return l2_penalty<T>(model_.setup.options.l2, model_.setup.network, model_.weights.data(), model_.square_sum,
                       model_.kernels, model_.context);
}

template <class T>
void DeviceExecutor<T>::save(TrainingState& state) const {
  Device& device = model_.device;
  state.parameters = in_fit_ ? ParameterValues(downloaded(device, model_.weights.data(), model_.setup.stage.count))
                             : model_.setup.network.values();
  state.first = downloaded(device, model_.update.first().data(), model_.update.first().size());
  state.second = downloaded(device, model_.update.second().data(), model_.update.second().size());
  if (state.averaged > 0) state.average = downloaded(device, model_.average.values().data(), model_.setup.stage.count);
  state.carried = carried_;
}

template <class T>
void DeviceExecutor<T>::upload_to(T* to, const AlignedBuffer<T>& vector) {
  if (vector.size() > 0)
    model_.device.to_device(to, vector.data(), vector.size() * static_cast<std::int64_t>(sizeof(T)));
}

template <class T>
void DeviceExecutor<T>::restore(const TrainingState& state) {
  auto [parameters, first, second, average] =
      vectors_of<T>(state, model_.setup.network, model_.setup.options.optimizer);
  carried_ = carried_of<T>(state);
  model_.carried.resume(0, 0);
  upload_to(model_.update.first_data(), first);
  upload_to(model_.update.second_data(), second);
  upload_to(model_.average.values().data(), average);
  model_.setup.network.values() = std::move(parameters);
}

template class DeviceExecutor<float>;
template class DeviceExecutor<double>;

}  // namespace lockstep
