// Which documents belong together, from pairs that do.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ingot {

// Union-find over documents numbered through all files. The root of a cluster is its lowest number,
// whatever the order of the pairs: that is the document that survives.
class Clusters {
 public:
  static constexpr int64_t kBytesPerDocument = 12;  // parents, sizes, the list of roots

  explicit Clusters(int64_t num_documents);  // fewer than 2^32 - 1

  void join(uint32_t a, uint32_t b);
  uint32_t root(uint32_t document);

  struct Summary {
    int64_t clusters = 0;                   // of two documents or more
    int64_t removed = 0;                    // documents that are not their cluster's root
    std::vector<int64_t> by_size;           // [i]: clusters of 2^i to 2^(i+1) - 1 documents, i > 0
    std::vector<uint32_t> largest, random;  // roots of a few: to look at
    std::vector<uint32_t> size_of_largest, size_of_random;
  };
  // Makes roots() whole.
  Summary summarize(size_t num_largest, size_t num_random);
  std::span<const uint32_t> roots() const { return parents_; }

 private:
  std::vector<uint32_t> parents_;  // never above the document's own number
};

}  // namespace ingot
