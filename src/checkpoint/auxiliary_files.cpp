#include "checkpoint/auxiliary_files.h"

#include <cstddef>
#include <span>

#include "core/storage/storage.h"

namespace ingot {

std::unique_ptr<Tokenizer> tokenizer_of(const AuxiliaryFiles& auxiliary_files) {
  if (auxiliary_files.tokenizer.empty()) return byte_tokenizer();
  const auto files = memory_storage();
  files->create("tokenizer.bin")->append(std::as_bytes(std::span(auxiliary_files.tokenizer)));
  return load_tokenizer(*files, "tokenizer.bin");
}

ChatFiles chat_files_of(const AuxiliaryFiles& auxiliary_files) {
  const auto files = memory_storage();
  files->make_directories("folder");
  for (const auto& [name, contents] : auxiliary_files.hf_files)
    files->create(join_path("folder", name))->append(std::as_bytes(std::span(contents)));
  return read_chat_files(*files, "folder");
}

}  // namespace ingot
