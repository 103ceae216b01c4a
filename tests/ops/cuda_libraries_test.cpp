// What the program loads by name while it runs is found without LD_LIBRARY_PATH. Needs no GPU.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "core/system/module.h"

namespace ingot::test {
namespace {

TEST(CudaLibraries, CudnnIsFound) {
  EXPECT_EQ(library_problem("libcudnn.so.9"), "");
}

// cuDNN's frontend loads it, although we link the static one.
TEST(CudaLibraries, TheSharedRuntimeIsFound) {
  EXPECT_NE(dlopen("libcudart.so.13", RTLD_NOW | RTLD_LOCAL), nullptr) << dlerror();
}

}  // namespace
}  // namespace ingot::test
