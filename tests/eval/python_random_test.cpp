#include "eval/python_random.h"

#include <gtest/gtest.h>

#include <numeric>

namespace ingot {
namespace {

std::vector<uint32_t> first_words(uint64_t seed, size_t count) {
  PythonRandom random(seed);
  std::vector<uint32_t> words;
  while (words.size() < count) words.push_back(random.bits(32));
  return words;
}

// All vectors are CPython 3.11's.
TEST(PythonRandom, WordsAreCPythons) {
  EXPECT_EQ(first_words(1337, 6), (std::vector<uint32_t>{2653228291, 3975144315, 2290358181,
                                                         3048911309, 1571306751, 2452336048}));
  EXPECT_EQ(first_words(1234, 6), (std::vector<uint32_t>{4150886329, 3342196574, 1892932127,
                                                         501869158, 32175636, 389311301}));
  EXPECT_EQ(first_words(0, 3), (std::vector<uint32_t>{3626764237, 1654615998, 3255389356}));
  // A seed of two words.
  EXPECT_EQ(first_words((uint64_t{1} << 40) + 5, 4),
            (std::vector<uint32_t>{2166296868, 2220160828, 1153647273, 2850991874}));
}

TEST(PythonRandom, ShuffleIsCPythons) {
  std::vector<int> ten(10);
  std::iota(ten.begin(), ten.end(), 0);
  PythonRandom(1337).shuffle(ten);
  EXPECT_EQ(ten, (std::vector<int>{0, 3, 7, 2, 1, 6, 4, 5, 8, 9}));

  std::vector<int64_t> thousand(1000);  // more words than the state has
  std::iota(thousand.begin(), thousand.end(), 0);
  PythonRandom(7).shuffle(thousand);
  int64_t sum = 0;
  for (size_t i = 0; i < thousand.size(); ++i) sum += static_cast<int64_t>(i) * thousand[i];
  EXPECT_EQ(sum, 245396630);
  EXPECT_EQ(thousand[0], 878);
}

// Small pools are copied and large ones drawn from with a set, which consumes other words.
TEST(PythonRandom, SamplesAreCPythonsOnBothPaths) {
  PythonRandom random(1234);
  using Drawn = std::vector<size_t>;
  EXPECT_EQ(random.sample(32, 10), (Drawn{28, 3, 0, 2, 25, 18, 1, 21, 22, 31}));
  EXPECT_EQ(random.sample(86, 10), (Drawn{12, 45, 30, 2, 3, 44, 82, 79, 61, 78}));
  EXPECT_EQ(random.sample(85, 10), (Drawn{59, 19, 11, 23, 14, 1, 64, 62, 31, 8}));
  EXPECT_EQ(random.sample(21, 3), (Drawn{17, 14, 2}));
  EXPECT_EQ(random.sample(22, 3), (Drawn{19, 21, 2}));
  EXPECT_EQ(random.sample(5, 5), (Drawn{4, 0, 1, 3, 2}));
  EXPECT_EQ(random.bits(7), 61u);
}

}  // namespace
}  // namespace ingot
