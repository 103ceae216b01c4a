// gzip and zstd framing on arbitrary bytes. Input: one byte that chooses which, then the file.
#include "documents_of_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  documents_of_bytes(data[0] & 1 ? "a.txt.zst" : "a.txt.gz", data + 1, size - 1, 1 << 20);
  return 0;
}
