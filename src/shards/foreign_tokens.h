// Token files of other programs, as documents of ids.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace ingot {

//   megatron   NAME.bin and NAME.idx: documents are known
//   datatrove  NAME.ds and NAME.ds.index: documents are known
//   llmc       header of 256 int32, then u16 (magic 20240520) or u32 (20240801)
//   nanogpt    bare u16
enum class ForeignFormat { Megatron, Datatrove, LlmC, NanoGpt };

std::string name_of(ForeignFormat format);

// Where documents begin and end in formats that do not say it: at these ids, -1: not known. A file
// without any is one document.
struct DocumentMarks {
  int32_t bos = -1, eos = -1;
};

class ForeignTokens {
 public:
  virtual ~ForeignTokens() = default;
  virtual ForeignFormat format() const = 0;
  // Calls `part` with the ids of one document after another; `last` says that it ends here. Throws
  // ErrorCode::Data where an id is outside the vocabulary.
  using OnPart = std::function<void(std::span<const int32_t> ids, bool last)>;
  virtual void each_document(const OnPart& part) const = 0;
};

// Without `format` name and header tell it: .idx beside a .bin, .ds, llm.c's magic. A bare .bin may
// be nanoGPT's, or Megatron's that has lost its .idx: it is refused unless `format` says which.
// `path` may be any file of a pair. Throws ErrorCode::Data where a file is damaged: a header that
// does not fit the size, offsets that lead outside.
std::unique_ptr<ForeignTokens> open_foreign_tokens(const std::string& path, DocumentMarks marks,
                                                   int64_t vocab,
                                                   std::optional<ForeignFormat> format = {});

}  // namespace ingot
