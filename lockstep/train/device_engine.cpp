#include "lockstep/train/device_engine.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "lockstep/core/environment.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/kernels/device/devices.hpp"
#include "lockstep/train/lap.hpp"

namespace lockstep {

namespace {

/// Of a device's memory, what a training may take: drivers and compiled kernels need some of it.
constexpr double kShareOfMemory = 0.9;

/// Adds up what is asked of it, and gives nothing.
class MeasuringMemory final : public Memory {
 public:
  std::byte* allocate(std::int64_t bytes) override {
    total += bytes;
    largest = std::max(largest, bytes);
    return reinterpret_cast<std::byte*>(kCacheLine);  // NOLINT(performance-no-int-to-ptr): never followed
  }
  void release(std::byte*) noexcept override {}
  void copy_within(std::byte*, const std::byte*, std::int64_t) override {}

  std::int64_t total = 0, largest = 0;
};

double gigabytes(std::int64_t bytes) { return double(bytes) / 1e9; }

/// The ranks before this one on its host, as its launcher says (Open MPI, MPICH, Slurm); else all of them are there.
int local_rank(const Ranks& ranks) {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"})
    if (const auto rank = environment_integer(name); rank && ranks.size() > 1) return static_cast<int>(*rank);
  return ranks.rank();
}

}  // namespace

std::shared_ptr<Device> device_of_rank(const TrainOptions& options, const Ranks& ranks) {
  const std::string& name = backend_names()[static_cast<std::size_t>(options.backend)];
  if (options.parallel.pipeline > 1 || options.parallel.tensor > 1)
    throw Error(ExitCode::usage, fmt::format("{} runs whole networks: set parallel.pipeline and parallel.tensor to 1, "
                                             "or use the backend simd",
                                             name));
  return open_device(options.backend, local_rank(ranks));
}

template <class T>
DeviceEngine<T>::DeviceEngine(Network& network, const TrainOptions& options, Ranks& ranks,
                              std::shared_ptr<Device> device, const KernelTable<T>& kernels)
    : network_(network),
      options_(options),
      ranks_(ranks),
      parts_(cut_into_stages(network, body_of(network, options.loss), 1)),
      grid_(ranks, parts_, 1),
      stage_(grid_.stage()),
      owner_(std::move(device)),
      device_(*owner_),
      kernels_(kernels),
      context_(&device_),
      host_kernels_(make_table<T>(Backend::simd)),
      body_(stage_.plans),
      weights_(std::max<std::int64_t>(stage_.count, 1), device_),
      update_(options.optimizer, stage_.parameters, stage_.trainable, device_),
      sums_(stage_.count, device_),
      feed_(device_, stage_.inputs, stage_.outputs),
      score_feed_(device_, stage_.inputs, stage_.outputs) {
  options_.threads = 1;  // that launches
  if (sizeof(T) == 8 && !device_.info().float64)
    throw Error(ExitCode::usage, fmt::format("{} has no float64: set model.precision = \"float32\", or use the backend "
                                             "simd",
                                             device_.info().name));
}

template <class T>
DeviceEngine<T>::~DeviceEngine() = default;

/// On the device, with chunks of so many samples: their memory, and what stays there whatever the chunk (weights, the
/// optimiser's state, a few gradients).
template <class T>
typename DeviceEngine<T>::Needs DeviceEngine<T>::needs_of(const Dataset& data, std::int64_t samples,
                                                          std::int64_t slots) const {
  MeasuringMemory memory;
  static_cast<void>(body_.make_memory(samples, slots, memory));
  static_cast<void>(AlignedBuffer<T>((stage_.outputs + 1) * padded(samples), memory));
  for (int block = 0; block < 2; ++block)
    static_cast<void>(AlignedBuffer<std::byte>(feed_.bytes_of(data, samples), memory));
  const auto chunks = static_cast<std::uint64_t>(slots > 0 ? slots_ / slots : 1);
  // Of the tree's left branches; of all ranks, and what comes in from them.
  const std::int64_t total = alone() ? 0 : direct() ? 1 + std::bit_width(static_cast<std::uint64_t>(slots_)) : 1;
  const std::int64_t sums = std::bit_width(chunks) + total;
  const std::int64_t vectors = 1 + state_vectors(options_.optimizer) + sums;
  return {.bytes = memory.total + vectors * stage_.count * static_cast<std::int64_t>(sizeof(T)),
          .largest = memory.largest};
}

template <class T>
bool DeviceEngine<T>::fits(const Needs& needs) const {
  const DeviceInfo& info = device_.info();
  return double(needs.bytes) <= kShareOfMemory * double(info.memory_bytes) &&
         (info.max_allocation_bytes == 0 || needs.largest <= info.max_allocation_bytes);
}

/// As many slots together as the device has memory for. Any choice gives the same bits.
template <class T>
void DeviceEngine<T>::choose_chunks(const Dataset& data, std::int64_t batch) {
  const std::vector<std::int64_t> bounds = cut_into_slots(batch, slots_);
  for (slots_per_chunk_ = slots_;; slots_per_chunk_ /= 2) {
    chunk_samples_ = 0;
    for (std::int64_t slot = 0; slot < slots_; slot += slots_per_chunk_)
      chunk_samples_ = std::max(chunk_samples_, bounds[static_cast<std::size_t>(slot + slots_per_chunk_)] -
                                                    bounds[static_cast<std::size_t>(slot)]);
    const Needs needs = needs_of(data, chunk_samples_, slots_per_chunk_);
    if (fits(needs)) return;
    if (slots_per_chunk_ > 1) continue;
    const DeviceInfo& info = device_.info();
    throw Error(ExitCode::resources,
                fmt::format("{} samples at a time need {:.2f} GB on {}, which has {:.2f} GB{}: lower train.batch, or "
                            "raise train.slots",
                            chunk_samples_, gigabytes(needs.bytes), info.name, gigabytes(info.memory_bytes),
                            info.max_allocation_bytes == 0
                                ? ""
                                : fmt::format(" and gives {:.2f} GB at once", gigabytes(info.max_allocation_bytes))));
  }
}

template <class T>
void DeviceEngine<T>::reserve(Flight& flight, std::int64_t samples, std::int64_t slots, Mode mode) {
  if (samples <= flight.samples && slots <= flight.slots) return;
  flight.samples = std::max(samples, flight.samples);
  flight.slots = std::max(slots, flight.slots);
  flight.memory = {};  // first the old one: both may not fit
  flight.memory = body_.make_memory(flight.samples, mode == Mode::training ? flight.slots : 0, device_);
  flight.losses = AlignedBuffer<T>(padded(flight.samples), device_);
  flight.scores = AlignedBuffer<std::byte>(flight.slots * 16, device_);
  if (mode == Mode::training) flight.gradient = AlignedBuffer<T>(stage_.outputs * padded(flight.samples), device_);
}

template <class T>
void DeviceEngine<T>::upload_weights() {
  device_.to_device(weights_.data(), network_.data<T>(), stage_.count * static_cast<std::int64_t>(sizeof(T)));
}

template <class T>
void DeviceEngine<T>::download_weights() {
  device_.to_host(network_.data<T>(), weights_.data(), stage_.count * static_cast<std::int64_t>(sizeof(T)));
}

/// Of the weights on the device, which the network has then. Ranks have the same ones, so they come to the same answer.
template <class T>
bool DeviceEngine<T>::finite_weights() {
  download_weights();
  return all_finite(std::span<const T>(network_.data<T>(), static_cast<std::size_t>(stage_.count)));
}

/// Slots, chunks and weights for the batches of this data: the user may have changed the weights meanwhile.
template <class T>
void DeviceEngine<T>::prepare(const Dataset& data) {
  profile_ = nullptr;  // only fit takes one
  fit_ = nullptr;
  feed_.clear();
  kept_ = one_batch_ = false;
  last_.reset();
  check_data(network_, options_.loss, data);
  const std::int64_t batch = options_.batch > 0 ? options_.batch : data.size();
  slots_ = options_.slots > 0 ? options_.slots : auto_slots(batch);
  choose_chunks(data, batch);
  scores_.loss.assign(static_cast<std::size_t>(slots_), 0);
  scores_.correct.assign(static_cast<std::size_t>(slots_), 0);
  tree_.emplace(grid_.replicas(), slots_, StretchLayout{stage_.count, stage_.trainable, kSquareBlock},
                options_.parallel.reduce);
  tree_bytes_ = 0;
  upload_weights();
}

template <class T>
void DeviceEngine<T>::end_epoch(const FitOptions& fit_options, double seconds, double validation_seconds) {
  progress_.end_epoch(finite_weights());
  EpochReport& report = progress_.report;
  report.penalty = penalty_of_device();
  report.weight_hash = weight_hash(network_.values());
  report.times = std::exchange(times_, {});
  report.times.total = seconds;
  report.times.validation = validation_seconds;
  report.times.sent_bytes += double(tree_->bytes_sent() - std::exchange(tree_bytes_, tree_->bytes_sent()));
  progress_.hand_out_report(ranks_, fit_options);
}

template <class T>
void DeviceEngine<T>::run_epoch(const Dataset& data, const FitOptions& fit_options, std::int64_t total_epochs) {
  double seconds = 0, validation_seconds = 0;
  Lap lap;
  progress_.begin_epoch(options_, data);
  close(kShuffleSection);
  const std::int64_t batches = progress_.batches->count();
  for (std::int64_t b = progress_.batch; b < batches; ++b) {
    const std::int64_t step = progress_.steps + b;
    const double rate = progress_.rate_at(options_, step, total_epochs * batches);
    const Batch batch{data, progress_.batches->ids(b), step, rate,
                      b + 1 < batches ? progress_.batches->ids(b + 1) : std::span<const std::int64_t>{}};
    train_batch(batch);
    progress_.account({.step = step,
                       .samples = static_cast<std::int64_t>(batch.ids.size()),
                       .rate = rate,
                       .scores = batch_scores_,
                       .requests = requests_,
                       .finite = !(requests_.stop || requests_.save) || finite_weights()},
                      data.classes() > 0, fit_options, total_epochs);
    close(kReportSection);
  }
  lap(seconds);
  if (fit_options.validation != nullptr) {
    Profile* const profile = std::exchange(profile_, nullptr);  // a validation is one span
    progress_.report.validation = score(*fit_options.validation);
    profile_ = profile;
    close(kValidationSection, body_.forward_cost(grid_.replicas().share(fit_options.validation->size(), 1)));
    lap(validation_seconds);
  }
  end_epoch(fit_options, seconds, validation_seconds);
  close(kReportSection);
}

template <class T>
void DeviceEngine<T>::begin_profile(const FitOptions& fit_options) {
  profile_ = fit_options.profile;
  if (profile_ == nullptr) return;
  profile_->begin(sections_of(network_), 1);
  profile_->recorder(0).settle_first([this] { device_.synchronize(); });
  device_.set_timing(true);
  traffic_ = device_.traffic();
  profile_->recorder(0).start();
}

template <class T>
void DeviceEngine<T>::end_profile(bool complete) {
  Profile* const profile = std::exchange(profile_, nullptr);
  if (profile == nullptr) return;
  profile->recorder(0).settle_first(nullptr);
  if (!complete) return;
  for (const auto& [name, time] : device_.kernel_times())
    profile->device_kernels.push_back({name, time.launches, time.seconds});
  const CopyTimes copies = device_.copy_times();
  profile->device_kernels.push_back({kCopyToDevice, copies.to_device.launches, copies.to_device.seconds});
  profile->device_kernels.push_back({kCopyToHost, copies.to_host.launches, copies.to_host.seconds});
  profile->bytes_to_device = device_.traffic().bytes_to_device - traffic_.bytes_to_device;
  profile->bytes_to_host = device_.traffic().bytes_to_host - traffic_.bytes_to_host;
  device_.set_timing(false);
}

template <class T>
std::vector<EpochReport> DeviceEngine<T>::fit(const Dataset& data, const FitOptions& fit_options) {
  if (data.size() == 0) throw Error(ExitCode::data, "there are no samples to train on");
  prepare(data);
  if (fit_options.validation != nullptr) check_data(network_, options_.loss, *fit_options.validation);
  progress_.reports.clear();
  const std::int64_t first = progress_.epoch, last = first + fit_options.epochs;
  fit_ = &fit_options;
  one_batch_ = !options_.shuffle && (options_.batch == 0 || options_.batch >= data.size());
  begin_profile(fit_options);
  const auto start = Recorder::Clock::now();
  try {
    for (std::int64_t epoch = first; epoch < last; ++epoch) run_epoch(data, fit_options, last);
  } catch (...) {
    fit_ = nullptr;
    end_profile(false);
    feed_.clear();
    try {  // the network has the weights of the last step, as on a CPU
      download_weights();
    } catch (...) {  // the first error says more
    }
    throw;
  }
  if (profile_ != nullptr) profile_->wall_ns[0] = (Recorder::Clock::now() - start).count();
  end_profile(true);
  fit_ = nullptr;
  return std::move(progress_.reports);
}

template <class T>
double DeviceEngine<T>::step(const Dataset& data, std::span<const std::int64_t> ids) {
  prepare(data);
  const std::int64_t step = progress_.steps;
  train_batch({data, ids, step, progress_.rate_at(options_, step, step + 1)});
  download_weights();
  ++progress_.steps;
  return batch_scores_.loss / double(ids.size());
}

template <class T>
std::vector<double> DeviceEngine<T>::gradient(const Dataset& data, std::span<const std::int64_t> ids) {
  prepare(data);
  const Batch batch{data, ids};
  T* gradient = run_slots(batch);
  if (!alone()) gradient = sum_over_ranks(batch);
  fetch_last();
  update_.add_l2(options_.l2, weights_.data(), gradient, 0, stage_.trainable, kernels_, context_);
  AlignedBuffer<T> host(std::max<std::int64_t>(stage_.count, 1));
  device_.to_host(host.data(), gradient, stage_.count * static_cast<std::int64_t>(sizeof(T)));
  return {host.data(), host.data() + stage_.count};
}

template class DeviceEngine<float>;
template class DeviceEngine<double>;

}  // namespace lockstep
