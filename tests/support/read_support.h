// Reading all documents of a file, and making compressed ones.
#pragma once

#define ZLIB_CONST  // next_in may point to const bytes
#include <zlib.h>
#include <zstd.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/error/error.h"
#include "ingest/read/document_reader.h"
#include "support/files.h"

namespace ingot::testing_support {

struct ReadResult {
  std::vector<Document> documents;
  ReadCounts counts;
  int64_t bytes_read = 0;

  std::vector<std::string> texts() const {
    std::vector<std::string> result;
    for (const auto& document : documents) result.push_back(document.text);
    return result;
  }
};

inline ReadResult read_all(const InputFile& file, const ReadSettings& settings = {}) {
  const auto reader = open_documents(file, settings);
  ReadResult result;
  for (Document document; reader->next(document);) result.documents.push_back(document);
  result.counts = reader->counts();
  result.bytes_read = reader->bytes_read();
  return result;
}

inline ReadResult read_all(const std::string& path, const ReadSettings& settings = {}) {
  return read_all(list_input_files({path}).at(0), settings);
}

inline std::string gzip(std::string_view text) {
  z_stream state{};
  deflateInit2(&state, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&state, text.size()), '\0');
  state.next_in = reinterpret_cast<const Bytef*>(text.data());
  state.avail_in = static_cast<uInt>(text.size());
  state.next_out = reinterpret_cast<Bytef*>(out.data());
  state.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&state, Z_FINISH), Z_STREAM_END);
  out.erase(state.total_out);
  deflateEnd(&state);
  return out;
}

inline std::string zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

}  // namespace ingot::testing_support
