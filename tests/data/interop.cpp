// data_interop read FILE...: prints every array of .npy, .npz, .mat and .png files, one line each.
// data_interop write FOLDER: writes a.npy, a.npz and a.mat. Used by interop_test.py against NumPy and SciPy.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/error.hpp"
#include "lockstep/data/formats/mat5.hpp"
#include "lockstep/data/formats/npy.hpp"
#include "lockstep/data/formats/npz.hpp"
#include "lockstep/data/formats/png.hpp"

namespace {

using namespace lockstep;

void print(const std::string& file, const std::string& key, const Array& array) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < array.elements(); ++i) values.push_back(array.value(i));
  fmt::print("{}|{}|{}|{}|{}\n", file, key, to_string(array.type), fmt::join(array.dims, ","), fmt::join(values, ","));
}

void read(const std::filesystem::path& path) {
  const std::string file = path.filename().string(), ending = path.extension().string();
  if (ending == ".npy") print(file, "", read_npy(path));
  if (ending == ".png") print(file, "", read_png(path));
  if (ending == ".npz") {
    for (const NamedArray& entry : read_npz(path)) print(file, entry.name, entry.array);
  }
  if (ending == ".mat") {
    for (const NamedArray& entry : read_mat5(path)) print(file, entry.name, entry.array);
  }
}

void write(const std::filesystem::path& path, const std::vector<std::byte>& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

void write_all(const std::filesystem::path& folder) {
  const std::vector<NamedArray> arrays{
      {"Theta1", array_from<double>({2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6.25})},
      {"b", array_from<float>({3}, std::vector<float>{1.5F, -2, 3})},
      {"cube", array_from<std::uint8_t>({2, 3, 2}, std::vector<std::uint8_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})},
      {"n", array_from<std::int64_t>({}, std::vector<std::int64_t>{-7})}};
  write(folder / "a.npy", write_npy(arrays[0].array));
  write(folder / "a.npz", write_npz(arrays));
  write(folder / "a.mat", write_mat5(arrays));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments.size() == 2 && arguments[0] == "write") write_all(arguments[1]);
    for (std::size_t i = 1; i < arguments.size() && arguments[0] == "read"; ++i) read(arguments[i]);
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}
