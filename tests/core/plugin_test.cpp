// Libraries that are opened at run time: an absent file and one that does not load are told apart.
#include "lockstep/core/plugin.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_folder.hpp"

namespace lockstep {
namespace {

TEST(OpenLibrary, FindsFunctionsOfWhatIsThere) {
  const SharedLibrary library = open_library("libm.so.6");
  ASSERT_NE(library.handle, nullptr) << library.error;
  EXPECT_NE(library.find("cos"), nullptr);
  EXPECT_EQ(library.find("lockstep_has_no_such_function"), nullptr);
}

TEST(OpenLibrary, AnAbsentFileIsCalledAbsent) {
  const SharedLibrary library = open_library("libno_such_library.so.0");
  EXPECT_EQ(library.handle, nullptr);
  EXPECT_TRUE(library.absent);
  EXPECT_EQ(library.why_not(), "which this machine lacks");
}

TEST(OpenLibrary, AFileThatDoesNotLoadSaysWhy) {
  const TemporaryFolder folder;
  const std::string file = (folder / "libbroken.so").string();
  std::ofstream(file) << std::string(4096, 'x');
  const SharedLibrary library = open_library(file);
  EXPECT_EQ(library.handle, nullptr);
  EXPECT_FALSE(library.absent);
  EXPECT_NE(library.why_not().find("which does not load: "), std::string::npos);
  EXPECT_NE(library.why_not().find("invalid ELF header"), std::string::npos) << library.why_not();
}

}  // namespace
}  // namespace lockstep
