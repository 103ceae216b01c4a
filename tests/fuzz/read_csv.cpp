// Separated values on arbitrary bytes. Input: one byte that chooses the separator and the longest
// document, then what follows the header.
#include "documents_of_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const bool tabs = data[0] & 1;
  std::string file = tabs ? "id\ttext\turl\n" : "id,text,url\n";
  if (data[0] & 4) file.clear();  // the input has a header of its own
  file.append(reinterpret_cast<const char*>(data + 1), size - 1);
  documents_of_bytes(tabs ? "a.tsv" : "a.csv", reinterpret_cast<const uint8_t*>(file.data()),
                     file.size(), data[0] & 2 ? 8 : 1 << 20);
  return 0;
}
