// Mixing sources by weight: the source of the i-th sample is computed from i, not drawn.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ingot {

// The sources are the leaves of a binary tree; each node splits its list of sources in halves. Of
// the first n samples that reach a node whose branches weigh a and b, round(n·a / (a+b)) go left.
// So among the first i samples a source with share w has w·i ± ceil(log2 sources)/2, for any i.
// at() and position() take O(log sources), without a table or a history.
//
// **This rule is final**, like the order of samples: recorded runs depend on it.
class Mixture {
 public:
  // Weights are rounded to six decimals; each must be between 0.000001 and 1e6.
  explicit Mixture(std::span<const double> weights);

  int64_t num_sources() const { return static_cast<int64_t>(before_.size()) - 1; }
  struct Draw {
    int64_t source = 0;
    int64_t index = 0;  // how many samples of the same source came before
  };
  Draw at(int64_t i) const;
  // How many of the first i samples are from `source`.
  int64_t drawn(int64_t source, int64_t i) const;
  // The i for which at(i) is {source, index}.
  int64_t position(int64_t source, int64_t index) const;

 private:
  int64_t left_of(int64_t n, size_t first, size_t middle, size_t end) const;

  std::vector<int64_t> before_;  // sums of the weights before each source, in millionths
};

}  // namespace ingot
