// Parquet files on arbitrary bytes, through the module that links Arrow; without it there is
// nothing to see. Arrow itself is fuzzed by its makers: this is about what we do with what it says.
#include "documents_of_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  documents_of_bytes("a.parquet", data, size, 1 << 20);
  return 0;
}
