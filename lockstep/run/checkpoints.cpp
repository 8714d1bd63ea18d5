#include "lockstep/run/checkpoints.hpp"

#include "lockstep/model/data_digest.hpp"

namespace lockstep {

RunCheckpoints::RunCheckpoints(const CheckpointSources& sources, std::int64_t steps, std::string digest)
    : sources_(sources),
      store_(sources.directory.path()),
      config_(resolved_toml(sources.config)),
      saved_steps_(steps),
      digest_(std::move(digest)),
      writer_([this](const Snapshot& snapshot) { write(snapshot); }) {}

bool RunCheckpoints::is_due(std::int64_t steps) {
  if (!writer_.idle()) return false;
  const CheckpointConfig& when = sources_.config.checkpoint;
  // At multiples of every_steps, or as soon after one as the writer is free.
  if (when.every_steps > 0 && steps / when.every_steps > saved_steps_ / when.every_steps) return true;
  return when.every_minutes > 0 &&
         Clock::now() - saved_at_ >= std::chrono::duration<double, std::ratio<60>>(when.every_minutes);
}

void RunCheckpoints::start(const Trainer& trainer) {
  Snapshot now = snapshot(trainer);
  saved_steps_ = now.state.steps;
  writer_.hand_over(std::move(now));
  saved_at_ = Clock::now();
}

std::string RunCheckpoints::save(const Trainer& trainer) {
  writer_.wait();
  Snapshot now = snapshot(trainer);
  const std::int64_t steps = now.state.steps;
  writer_.hand_over(std::move(now));
  writer_.wait();
  return checkpoint_name(steps);
}

Snapshot RunCheckpoints::snapshot(const Trainer& trainer) const {
  return {.state = trainer.state(),
          .metrics_bytes = sources_.metrics.bytes(),
          .timings_bytes = sources_.timings.bytes(),
          .metrics_sha256 = sources_.metrics.sha256()};
}

void RunCheckpoints::write(const Snapshot& snapshot) {
  if (digest_.empty()) digest_ = data_digest(sources_.data);
  // A checkpoint on the disk must find on the disk the lines it names.
  sources_.metrics.sync();
  store_.save(snapshot.state.steps, write_checkpoint(sources_.network, sources_.info, snapshot.state,
                                                     {.config = config_,
                                                      .data_digest = digest_,
                                                      .metrics_bytes = snapshot.metrics_bytes,
                                                      .metrics_sha256 = snapshot.metrics_sha256,
                                                      .timings_bytes = snapshot.timings_bytes}));
}

}  // namespace lockstep
