#pragma once
// The opcodes of Python's pickle (protocols 2 to 5) that a dictionary of tensors needs, as a tree of values. Nothing is
// called: a "reduce" of a name that is not in the list below is an error.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <vector>

namespace lockstep {

enum class PickleKind { none, number, text, name, list, dict, storage, tensor, mark };

/// One value of a pickle. Texts point into its bytes, and items to values of the same pickle.
struct PickleValue {
  PickleKind kind = PickleKind::none;
  std::int64_t number = 0;
  std::string_view text{};  // of a name: "torch FloatStorage", with a line break between the two
  /// list, tuple: its values; dict: keys and values by turns; storage: type, key; tensor: storage, offset, sizes,
  /// strides
  std::vector<const PickleValue*> items{};
};

class Pickle {
 public:
  /// `bytes` must outlive it. Error(data), beginning with `name`: cut, not such a pickle, or another object.
  Pickle(std::span<const std::byte> bytes, std::string_view name);

  const PickleValue& root() const { return *root_; }

 private:
  std::deque<PickleValue> values_;
  const PickleValue* root_ = nullptr;
};

}  // namespace lockstep
