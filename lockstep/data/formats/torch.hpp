#pragma once
// PyTorch's .pt and .pth files as torch.save(model.state_dict(), path) writes them since PyTorch 1.6: a ZIP archive of
// a pickle and of one stored member per storage. The pickle is read, never run: dictionaries of tensors are understood,
// and every other object is refused by its name.

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "lockstep/data/array.hpp"

namespace lockstep {

/// The tensors of the dictionary, in its order: float32, float64, int32, int64 or uint8. A dictionary that holds one
/// under "state_dict", "model_state_dict" or "model" gives that. Error(data) for anything else, with what to save
/// instead.
std::vector<NamedArray> parse_torch(std::span<const std::byte> bytes, std::string_view name);
std::vector<NamedArray> read_torch(const std::filesystem::path& path);

}  // namespace lockstep
