#include "lockstep/run/workload.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include <nlohmann/json.hpp>

#include "lockstep/core/error.hpp"
#include "lockstep/core/sha256.hpp"
#include "lockstep/data/memory_dataset.hpp"
#include "lockstep/data/views.hpp"

namespace lockstep {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kPhase = "scatter";
constexpr std::int64_t kBlockBytes = std::int64_t{1} << 24;  // of one message: MPI counts bytes in an int

/// Some samples, one after the other: features, labels and targets each in a row.
template <class T>
struct Block {
  std::vector<T> features, targets;
  std::vector<double> weights;
  std::vector<std::int32_t> labels;

  std::string bytes() const {
    std::string out;
    const auto add = [&](const auto& values) {
      const auto raw = std::as_bytes(std::span(values));
      out.append(reinterpret_cast<const char*>(raw.data()), raw.size());
    };
    add(features), add(targets), add(weights), add(labels);
    return out;
  }
};

/// Columns of samples as rows of samples.
template <class T>
std::vector<T> rows_of(const std::vector<T>& columns, std::int64_t rows, std::int64_t samples) {
  std::vector<T> out(columns.size());
  for (std::int64_t s = 0; s < samples; ++s)
    for (std::int64_t r = 0; r < rows; ++r)
      out[static_cast<std::size_t>(s * rows + r)] = columns[static_cast<std::size_t>(r * samples + s)];
  return out;
}

template <class T>
Block<T> read_block(const Dataset& data, std::int64_t targets, std::int64_t first, std::int64_t count) {
  const std::vector<std::int64_t> ids = ids_from(first, count);
  const auto columns = [&](std::int64_t rows, auto&& gather) {
    std::vector<T> values(static_cast<std::size_t>(rows * count));
    if (rows > 0) gather(dense_matrix(values.data(), rows, count));
    return rows_of(values, rows, count);
  };
  Block<T> block;
  block.features = columns(data.features(), [&](Matrix<T> x) { data.gather(ids, x); });
  block.targets = columns(targets, [&](Matrix<T> t) { data.targets(ids, t); });
  if (data.has_weights()) {
    block.weights.resize(ids.size());
    data.weights(ids, block.weights);
  }
  if (data.classes() > 0) {
    block.labels.resize(ids.size());
    data.labels(ids, block.labels);
  }
  return block;
}

/// What a rank must know of a part of the data before its samples come.
struct PartHeader {
  std::int64_t size = 0, classes = 0;
  std::int64_t targets = 0;  // numbers per sample that are sent
  bool one_hot = false;      // vectors that follow from the labels
  bool weighted = false;
  std::vector<std::int64_t> shape{};
  std::vector<std::int64_t> lengths{};  // of all samples; empty: they have all steps
  std::int64_t step_classes = 0;        // as in Dataset

  static PartHeader of(const Dataset& data) {
    const auto extents = data.sample_shape().extents();
    const bool one_hot = data.classes() > 0 && data.target_size() > 0;
    PartHeader header{data.size(), data.classes(),     one_hot ? 0 : data.target_size(),
                      one_hot,     data.has_weights(), {extents.begin(), extents.end()}};
    if (data.has_lengths()) {
      header.lengths.resize(static_cast<std::size_t>(data.size()));
      data.lengths(ids_from(0, data.size()), header.lengths);
    }
    header.step_classes = data.step_classes();
    return header;
  }
  static PartHeader parse(const std::string& text) {
    const Json json = Json::parse(text);
    return {json.at("size"),     json.at("classes"), json.at("targets"), json.at("one_hot"),
            json.at("weighted"), json.at("shape"),   json.at("lengths"), json.at("step_classes")};
  }
  std::string text() const {
    return Json{{"size", size},         {"classes", classes}, {"targets", targets}, {"one_hot", one_hot},
                {"weighted", weighted}, {"shape", shape},     {"lengths", lengths}, {"step_classes", step_classes}}
        .dump();
  }
  std::int64_t features() const {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  }
};

/// Feeds both ends of a message into a digest, which the ends compare.
class Stream {
 public:
  explicit Stream(Ranks& ranks) : ranks_(ranks) {}
  std::string pass(const std::string& own) {
    std::string text = ranks_.broadcast(own, kPhase);
    sha_.update(std::as_bytes(std::span(text)));
    return text;
  }
  void compare() {
    const auto digest = sha_.finish();
    const std::string own(reinterpret_cast<const char*>(digest.data()), digest.size());
    if (ranks_.broadcast(own, kPhase) != own)
      throw Error(ErrorCode::integrity,
                  "data.from = \"rank0\": the data that arrived are not those that rank 0 has sent; check the network");
  }

 private:
  Ranks& ranks_;
  Sha256 sha_;
};

template <class T>
void append(Array& array, std::string_view& bytes, std::int64_t count) {
  const auto length = static_cast<std::size_t>(count) * sizeof(T);
  const auto* const from = reinterpret_cast<const std::byte*>(bytes.data());
  array.bytes.insert(array.bytes.end(), from, from + length);
  bytes.remove_prefix(length);
}

/// Rank 0 sends `own`; the others receive, and return what they got.
template <class T>
std::shared_ptr<const Dataset> scatter_part(Stream& stream, bool leader, const std::shared_ptr<const Dataset>& own) {
  const std::string text = stream.pass(leader && own ? PartHeader::of(*own).text() : "");
  if (text.empty()) return nullptr;
  const PartHeader header = PartHeader::parse(text);
  const std::int64_t features = header.features(), targets = header.targets;
  const std::int64_t sample = (features + targets) * std::int64_t{sizeof(T)} + 12;
  const std::int64_t step = std::max<std::int64_t>(1, kBlockBytes / sample);
  constexpr ElementType kType = sizeof(T) == 4 ? ElementType::float32 : ElementType::float64;
  Array x{kType, {header.size}, {}};
  x.dims.insert(x.dims.end(), header.shape.begin(), header.shape.end());
  Targets y{.labels = {}, .classes = header.classes, .values = {kType, {header.size, targets}, {}}};
  y.step_classes = header.step_classes;
  for (std::int64_t first = 0; first < header.size; first += step) {
    const std::int64_t count = std::min(step, header.size - first);
    const std::string message = stream.pass(leader ? read_block<T>(*own, targets, first, count).bytes() : "");
    if (leader) continue;
    std::string_view rest = message;
    append<T>(x, rest, count * features);
    append<T>(y.values, rest, count * targets);
    if (header.weighted) {
      const std::size_t known = y.weights.size(), length = static_cast<std::size_t>(count) * sizeof(double);
      y.weights.resize(known + static_cast<std::size_t>(count));
      std::memcpy(y.weights.data() + known, rest.data(), length);
      rest.remove_prefix(length);
    }
    const std::size_t before = y.labels.size();
    y.labels.resize(before + rest.size() / sizeof(std::int32_t));
    if (!rest.empty()) std::memcpy(y.labels.data() + before, rest.data(), rest.size());
  }
  if (leader) return own;
  if (targets == 0) y.values = {kType, {0, 0}, {}};
  auto data = std::make_shared<MemoryDataset>(std::move(x), Shape(header.shape), std::move(y), "the data of rank 0",
                                              std::nullopt, std::nullopt, false, header.lengths);
  if (header.one_hot) return std::make_shared<OneHotDataset>(std::move(data));
  return data;
}

template <class T>
DataSplits scatter_as(Ranks& ranks, const DataSplits& own) {
  Stream stream(ranks);
  DataSplits data = own;
  data.train = scatter_part<T>(stream, ranks.leader(), own.train);
  data.validation = scatter_part<T>(stream, ranks.leader(), own.validation);
  data.test = scatter_part<T>(stream, ranks.leader(), own.test);
  stream.compare();
  return data;
}

}  // namespace

DataSplits scatter_data(Ranks& ranks, const DataSplits& own, Precision precision) {
  if (ranks.size() == 1) return own;
  return precision == Precision::float32 ? scatter_as<float>(ranks, own) : scatter_as<double>(ranks, own);
}

void check_readers(Ranks& ranks, bool from_rank0) {
  const std::vector<std::string> all = ranks.all_gather(from_rank0 ? "rank0" : "each", "preparation");
  if (std::any_of(all.begin(), all.end(), [&](const std::string& each) { return each != all[0]; }))
    throw Error(ErrorCode::integrity,
                "data.from is not the same on all ranks; all ranks must start with the same configuration");
}

}  // namespace lockstep
