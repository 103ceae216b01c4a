// Web archives on arbitrary bytes: records, HTTP messages, bodies, character sets, HTML.
// Input: one byte that chooses between a whole archive and a response inside a record that is
// right.
#include "documents_of_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string file(reinterpret_cast<const char*>(data + 1), size - 1);
  if (data[0] & 1) {
    file = "WARC/1.0\r\nWARC-Type: response\r\nContent-Length: " + std::to_string(size - 1) +
           "\r\n\r\n" + file + "\r\n\r\n";
  }
  documents_of_bytes("a.warc", reinterpret_cast<const uint8_t*>(file.data()), file.size(), 1 << 16);
  return 0;
}
