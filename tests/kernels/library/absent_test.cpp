// A build without oneDNN: this program is linked with absent/onednn.cpp in place of library/.
#include <gtest/gtest.h>

#include <string>

#include "lockstep/core/error.hpp"
#include "lockstep/kernels/backend.hpp"

namespace lockstep::test {
namespace {

TEST(AbsentOneDnn, SaysWhatToInstall) {
  EXPECT_EQ(backend_names()[static_cast<std::size_t>(Backend::library)], "library");
  try {
    static_cast<void>(make_table<float>(Backend::library));
    FAIL() << "made a table without oneDNN";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    const std::string text = error.what();
    EXPECT_EQ(text.find('\n'), std::string::npos);
    // Where OpenBLAS is missing too, that is said first.
    EXPECT_NE(text.find("install lib"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace lockstep::test
