// A folder with a text and the recipe of a tiny run, and the program to try on them.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "cli/process.h"
#include "support/own_folder.h"

namespace ingot::test {

namespace fs = std::filesystem;
using Args = std::vector<std::string>;

class RunFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = testing_support::own_folder();
    fs::create_directories(root_);
    std::string text;
    for (int i = 0; i < 3000; ++i) text += "Line " + std::to_string(i) + " of the text.\n";
    write("text.txt", text);
    // A constant rate: a run that is resumed with more steps follows the same schedule.
    write("recipe.toml",
          "preset = \"llama_test\"\n[batch]\nmicro_batch = 2\nseq = 16\n[train]\nsteps = 6\n"
          "eval_tokens = 64\n[optim.schedule]\nkind = \"constant\"\n");
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& name, const std::string& contents) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name, std::ios::binary) << contents;
  }
  std::string path(const std::string& name) const { return (root_ / name).string(); }
  Outcome ingot(const Args& args) const { return run_ingot(args, root_); }

  // `ingot train` of the tiny run of six steps into the folder `run`; `sets` are more KEY=VALUE, of
  // which the last of a setting counts.
  Args train_args(const std::string& run, const Args& sets = {}) const {
    Args all = {"data.train=" + path("text.txt"), "checkpoint.dir=" + path(run)};
    for (const std::string& set : sets) {
      const std::string key = set.substr(0, set.find('=') + 1);
      std::erase_if(all, [&](const std::string& earlier) { return earlier.starts_with(key); });
      all.push_back(set);
    }
    Args args = {"train", path("recipe.toml")};
    for (const std::string& set : all) args.insert(args.end(), {"--set", set});
    return args;
  }
  // False when it does not come true within so many seconds.
  static bool comes_true(const std::function<bool()>& fact, double seconds = 30) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (!fact()) {
      if (std::chrono::steady_clock::now() > give_up) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
  }
  static Args with(Args args, const Args& more) {
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }

  fs::path root_;
};

}  // namespace ingot::test
