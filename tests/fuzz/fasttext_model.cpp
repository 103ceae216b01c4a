// The fastText model reader on arbitrary bytes: it makes a detector that scores texts, or throws
// Error.
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "core/error/error.h"
#include "ingest/clean/language/language.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto detector =
        ingot::make_fasttext_detector({reinterpret_cast<const char*>(data), size}, "fuzz.bin");
    std::vector<float> scores;
    for (const std::string_view text : {"", "the men", "в доме\nнет __label__x воды", "<>"}) {
      detector->score(text, scores);
      if (scores.size() != detector->labels().size()) abort();
    }
  } catch (const ingot::Error&) {
  }
  return 0;
}
