#pragma once
// certificate.json: what a run claims, in one file that can be sent along with the model. Each line of metrics.jsonl is
// a link of a chain of hashes that begins with configuration, data and numerics and ends with the weights of the model,
// so no part can be replaced alone:
//   start  = SHA-256(program \n numerics version \n digest of the data \n configuration)
//   link i = SHA-256(link i-1 \n line i), from the start
//   seal   = SHA-256(last link \n weight hash of the model)
// Nobody signs it: a whole certificate can be made up, and recomputing the run (verify.hpp) is what proves it.

#include <filesystem>
#include <string>
#include <vector>

namespace lockstep {

struct Certificate {
  std::string program{};  // "lockstep 0.1.0 (commit)"
  int numerics_version = 0;
  std::string data_digest{};         // of samples, labels and order (model/checkpoint.hpp)
  std::string config{};              // resolved TOML
  std::vector<std::string> lines{};  // of metrics.jsonl
  std::string weight_hash{};         // of model.safetensors

  friend bool operator==(const Certificate&, const Certificate&) = default;
};

/// The certificate of the run in this folder, by this program; it reads metrics.jsonl.
Certificate make_certificate(const std::filesystem::path& directory, const std::string& config,
                             const std::string& data_digest, const std::string& weight_hash);

std::string certificate_json(const Certificate& certificate);

/// Error(checkpoint) for a file that is no certificate; Error(integrity) that names the first link that does not hold.
Certificate parse_certificate(const std::string& text, const std::string& name);
Certificate load_certificate(const std::filesystem::path& path);

}  // namespace lockstep
