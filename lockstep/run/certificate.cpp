#include "lockstep/run/certificate.hpp"

#include <limits>
#include <span>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/sha256.hpp"
#include "lockstep/core/version.hpp"
#include "lockstep/run/build_commit.hpp"
#include "lockstep/run/directory.hpp"
#include "lockstep/run/lines.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kCertificateVersion = 1;

std::string hash_of(const std::string& text) { return sha256_hex(std::as_bytes(std::span(text))); }

std::string start_of(const Certificate& c) {
  return hash_of(fmt::format("{}\n{}\n{}\n{}", c.program, c.numerics_version, c.data_digest, c.config));
}

std::string next_link(const std::string& link, const std::string& line) {
  return hash_of(fmt::format("{}\n{}", link, line));
}

[[noreturn]] void fail_link(const std::string& name, const std::string& what) {
  throw Error(ErrorCode::integrity, fmt::format("{}: {} was changed after the certificate was made", name, what));
}

}  // namespace

Certificate make_certificate(const std::filesystem::path& directory, const std::string& config,
                             const std::string& data_digest, const std::string& weight_hash) {
  Certificate made{.program = fmt::format("lockstep {} ({})", version(), build_commit()),
                   .numerics_version = kNumericsVersion,
                   .data_digest = data_digest,
                   .config = config,
                   .lines = {},
                   .weight_hash = weight_hash};
  std::istringstream lines(read_text(directory / kMetricsFile, std::numeric_limits<std::int64_t>::max()));
  for (std::string line; std::getline(lines, line);) made.lines.push_back(line);
  return made;
}

std::string certificate_json(const Certificate& certificate) {
  std::string link = start_of(certificate);
  Json chain = Json::array();
  const std::string start = link;
  for (const std::string& line : certificate.lines) {
    link = next_link(link, line);
    chain.push_back({{"line", line}, {"link", link}});
  }
  const Json json = {{"certificate", kCertificateVersion},
                     {"program", certificate.program},
                     {"numerics_version", certificate.numerics_version},
                     {"data_sha256", certificate.data_digest},
                     {"config", certificate.config},
                     {"start", start},
                     {"chain", std::move(chain)},
                     {"weight_hash", certificate.weight_hash},
                     {"seal", next_link(link, certificate.weight_hash)}};
  return json.dump(1) + "\n";
}

Certificate parse_certificate(const std::string& text, const std::string& name) {
  Certificate read;
  std::vector<std::string> links;
  std::string start, seal;
  try {
    const Json json = Json::parse(text);
    if (json.at("certificate").get<int>() != kCertificateVersion)
      throw Error(ErrorCode::checkpoint, fmt::format("{}: a certificate of another version of Lockstep", name));
    json.at("program").get_to(read.program);
    json.at("numerics_version").get_to(read.numerics_version);
    json.at("data_sha256").get_to(read.data_digest);
    json.at("config").get_to(read.config);
    json.at("start").get_to(start);
    json.at("weight_hash").get_to(read.weight_hash);
    json.at("seal").get_to(seal);
    for (const Json& each : json.at("chain")) {
      read.lines.push_back(each.at("line").get<std::string>());
      links.push_back(each.at("link").get<std::string>());
    }
  } catch (const Json::exception&) {
    throw Error(ErrorCode::checkpoint, fmt::format("{}: is not a certificate of a run", name));
  }
  std::string link = start_of(read);
  if (link != start) fail_link(name, "configuration, data digest, numerics version or program");
  for (std::size_t i = 0; i < links.size(); ++i) {
    link = next_link(link, read.lines[i]);
    if (link != links[i]) fail_link(name, fmt::format("line {} of the metrics", i + 1));
  }
  if (next_link(link, read.weight_hash) != seal) fail_link(name, "the weight hash");
  return read;
}

Certificate load_certificate(const std::filesystem::path& path) {
  return parse_certificate(read_text(path, kMostShownBytes, ErrorCode::checkpoint), path.string());
}

}  // namespace lockstep
