// The token-file reader on arbitrary bytes: it opens and reads all of them, or throws Error.
// Input: one byte that chooses dtype and vocabulary, then the file.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/error/error.h"
#include "shards/foreign/token_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static constexpr std::array dtypes{ingot::TokenDType::Auto, ingot::TokenDType::U16,
                                     ingot::TokenDType::U32};
  static const std::array<int64_t, 4> vocabs{1, 300, 65'536, int64_t{1} << 32};
  const ingot::TokenDType dtype = dtypes[data[0] % 4 % 3];
  const int64_t vocab = vocabs[data[0] / 4 % 4];

  const int file = memfd_create("token_file", MFD_CLOEXEC);
  if (file < 0 || write(file, data + 1, size - 1) != static_cast<ssize_t>(size - 1)) abort();
  try {
    const auto source =
        ingot::open_token_file("/proc/self/fd/" + std::to_string(file), dtype, vocab);
    std::vector<int32_t> ids(static_cast<size_t>(source->num_tokens()));
    source->read(0, ids);
    for (const int32_t id : ids) {
      if (static_cast<uint32_t>(id) >= vocab) abort();
    }
  } catch (const ingot::Error&) {
  }
  close(file);
  return 0;
}
