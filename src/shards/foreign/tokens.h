// Other programs' token files, as documents of ids.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace ingot {

//   megatron   NAME.bin and NAME.idx: with document boundaries
//   datatrove  NAME.ds and NAME.ds.index: with document boundaries
//   llmc       header of 256 int32, then u16 (magic 20240520) or u32 (20240801)
//   nanogpt    bare u16
enum class ForeignFormat { Megatron, Datatrove, LlmC, NanoGpt };

std::string name_of(ForeignFormat format);

// Ids that mark the beginning and end of documents, for formats without boundaries; -1: unknown. A
// file without any mark is one document.
struct DocumentMarks {
  int32_t bos = -1, eos = -1;
};

class ForeignTokens {
 public:
  virtual ~ForeignTokens() = default;
  virtual ForeignFormat format() const = 0;
  // Calls `part` with the ids of each document in order; `last`: the document ends here. Throws
  // ErrorCode::Data for an id outside the vocabulary.
  using OnPart = std::function<void(std::span<const int32_t> ids, bool last)>;
  virtual void each_document(const OnPart& part) const = 0;
  // Calls `edges` with the first and last id of each document that has any, without reading the
  // others; nothing for formats whose documents are found by marks.
  using OnEdges = std::function<void(int32_t first, int32_t last)>;
  virtual void each_edges(const OnEdges& /*edges*/) const {}
};

// Without `format`, name and header decide: .idx beside a .bin, .ds, llm.c's magic. A bare .bin may
// be nanoGPT's, or Megatron's without its .idx: it is rejected unless `format` is given. `path` may
// be either file of a pair. Throws ErrorCode::Data if a file is damaged: a header that does not
// match the size, offsets out of range.
std::unique_ptr<ForeignTokens> open_foreign_tokens(const std::string& path, DocumentMarks marks,
                                                   int64_t vocab,
                                                   std::optional<ForeignFormat> format = {});

}  // namespace ingot
