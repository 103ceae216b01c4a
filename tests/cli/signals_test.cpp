#include "cli/start/signals.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "checkpoint/new_output.h"
#include "support/own_folder.h"

namespace ingot::cli {
namespace {

// As an import that is interrupted while it writes.
void write_until_interrupted(const std::string& dir, int signal) {
  const Interruption interruption;
  const auto storage = posix_storage();
  NewFolder folder(*storage, dir);
  std::ofstream(join_path(folder.path(), "half")) << "of it";
  std::raise(signal);
  interruption.throw_if_asked();
  folder.publish();
}

TEST(Interruption, EndsTheProcessByItsSignalWhenWhatWasBegunIsUndone) {
  const std::filesystem::path root = testing_support::own_folder();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    EXPECT_EXIT(write_until_interrupted((root / "model").string(), signal),
                ::testing::KilledBySignal(signal), "");
    EXPECT_TRUE(std::filesystem::is_empty(root));
  }
  std::filesystem::remove_all(root);
}

TEST(Interruption, LeavesASignalThatIsIgnoredIgnored) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  {
    const Interruption interruption;
    std::raise(SIGHUP);
    EXPECT_NO_THROW(interruption.throw_if_asked());
  }
  std::signal(SIGHUP, before);
}

}  // namespace
}  // namespace ingot::cli
