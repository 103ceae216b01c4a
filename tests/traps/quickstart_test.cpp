// The first command that a user tries, tried again.
#include <csignal>

#include "traps/trap.h"

namespace ingot::test {
namespace {

class QuickstartTrap : public Trap {
 protected:
  Args quickstart(const std::string& minutes) const {
    return {"quickstart", "--text", path("text.txt"),    "--out", path("quick"), "--minutes",
            minutes,      "--set",  "preset=llama_test", "--set", "batch.seq=64"};
  }
};

TEST_F(QuickstartTrap, TheSecondRunTrainsNothingAndShowsTheFirst) {
  const Outcome first = ingot(quickstart("0.001"));
  ASSERT_EQ(first.code, 0) << first.err;
  const auto loss = first.out.find("validation loss");
  ASSERT_NE(loss, std::string::npos);
  const Outcome second = ingot(quickstart("0.001"));
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_TRUE(contains(second.out, first.out.substr(loss))) << second.out;
  EXPECT_FALSE(contains(second.err, "loss ")) << second.err;
  EXPECT_FALSE(fs::exists(root_ / "quick-2"));
}

TEST_F(QuickstartTrap, TheSameCommandGoesOnWithWhatWasStopped) {
  Process process(quickstart("2"), root_);
  while (process.is_running() && !contains(process.err(), "loss ")) usleep(20'000);
  process.signal(SIGINT);
  ASSERT_EQ(process.wait(), 3) << process.err();
  fs::create_directories(root_ / "again");
  Process again(quickstart("2"), root_ / "again");
  while (again.is_running() && !contains(again.err(), "loss ")) usleep(20'000);
  again.signal(SIGINT);
  EXPECT_EQ(again.wait(), 3) << again.err();
  EXPECT_FALSE(contains(again.err(), "timing")) << again.err();
  EXPECT_FALSE(fs::exists(root_ / "quick-2"));
}

TEST_F(QuickstartTrap, ATextThatWasEditedIsTrainedAnew) {
  ASSERT_EQ(ingot(quickstart("0.001")).code, 0);
  write("text.txt", slurp(root_ / "text.txt") + "One line more.\n");
  const Outcome edited = ingot(quickstart("0.001"));
  ASSERT_EQ(edited.code, 0) << edited.err;
  EXPECT_FALSE(contains(edited.out, "did this already")) << edited.out;
  EXPECT_TRUE(fs::exists(root_ / "quick-2/quickstart.json"));
}

}  // namespace
}  // namespace ingot::test
