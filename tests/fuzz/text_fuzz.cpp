// Text of any bytes: UTF-8 or one error, and what is parsed comes back as it was.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lockstep/core/error.hpp"
#include "lockstep/data/text_source.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const lockstep::Vocabulary vocabulary(text, "fuzz");
    const auto tokens = vocabulary.tokens(text, "fuzz");
    std::string again;
    for (const std::int32_t token : tokens) again += vocabulary.text(token);
    if (again != text) std::abort();
    lockstep::cut_into_windows(tokens, 4, vocabulary.size(), "fuzz");
  } catch (const lockstep::Error& error) {
    if (error.code() != lockstep::ErrorCode::data) std::abort();
  }
  return 0;
}
