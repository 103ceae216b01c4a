// Clusters documents from pairs of duplicates.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ingot {

// Union-find over documents numbered over all files. The root of a cluster is its lowest number,
// whatever the order of the pairs: that document is kept.
class Clusters {
 public:
  static constexpr int64_t kBytesPerDocument = 12;  // parents, sizes, list of roots

  explicit Clusters(int64_t num_documents);  // fewer than 2^32 - 1

  void join(uint32_t a, uint32_t b);
  uint32_t root(uint32_t document);

  struct Summary {
    int64_t clusters = 0;                   // of two documents or more
    int64_t removed = 0;                    // documents that are not a root
    std::vector<int64_t> by_size;           // [i]: clusters of 2^i to 2^(i+1) - 1 documents, i > 0
    std::vector<uint32_t> largest, random;  // roots of a few clusters, for inspection
    std::vector<uint32_t> size_of_largest, size_of_random;
  };
  // Completes roots().
  Summary summarize(size_t num_largest, size_t num_random);
  std::span<const uint32_t> roots() const { return parents_; }

 private:
  std::vector<uint32_t> parents_;  // never above the document's own number
};

}  // namespace ingot
