#include "ingest/write/document_writer.h"

#include <fmt/format.h>

#include "core/error/error.h"
#include "core/text/utf8.h"
#include "ingest/write/compressor.h"

namespace ingot {
namespace {

// Compressors get blocks of exactly this size, so that their output does not depend on how the
// documents came.
constexpr size_t kBlockBytes = size_t{1} << 20;

void append_string(std::string_view text, std::string& out) {
  out += '"';
  size_t run = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    out.append(text, run, i - run);
    run = i + 1;
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        fmt::format_to(std::back_inserter(out), "\\u{:04x}", c);
    }
  }
  out.append(text, run);
  out += '"';
}

class JsonLinesWriter final : public DocumentWriter {
 public:
  JsonLinesWriter(std::shared_ptr<Storage> storage, const std::string& path)
      : storage_(std::move(storage)), path_(path), aside_(path + ".tmp") {
    if (path.ends_with(".jsonl.gz")) {
      compressor_ = gzip_compressor();
    } else if (path.ends_with(".jsonl.zst")) {
      compressor_ = zstd_compressor();
    } else {
      check(path.ends_with(".jsonl"), ErrorCode::Usage,
            "{}: documents are written as .jsonl, .jsonl.gz or .jsonl.zst", path);
    }
    file_ = storage_->create(aside_);
  }

  ~JsonLinesWriter() override {
    if (committed_) return;
    try {
      file_.reset();
      storage_->remove(aside_);
    } catch (const Error&) {
      // What is left is overwritten by whoever writes this file next.
    }
  }

  using DocumentWriter::write;
  void write(const Document& document, const ExtraMembers& extra) override {
    member("{\"id\":", document.id, document);
    member(",\"source\":", document.source, document);
    member(",\"text\":", document.text, document);
    if (!document.url.empty()) member(",\"url\":", document.url, document);
    if (!document.language.empty()) member(",\"language\":", document.language, document);
    for (const auto& [name, value] : extra) {
      member(fmt::format(",\"{}\":", name), value, document);
    }
    pending_ += "}\n";
    size_t written = 0;
    for (; pending_.size() - written >= kBlockBytes; written += kBlockBytes) {
      append(std::string_view(pending_).substr(written, kBlockBytes), false);
    }
    pending_.erase(0, written);
  }

  void commit() override {
    append(pending_, true);
    file_->sync();
    file_->close();
    storage_->rename(aside_, path_);
    committed_ = true;
    storage_->sync_directory(parent_path(path_));
  }

 private:
  void member(std::string_view key, std::string_view value, const Document& document) {
    const size_t valid = valid_utf8_prefix(value);
    check(valid == value.size(), ErrorCode::Data,
          "{}: document «{}» of {}: not UTF-8 at byte {} of {}", path_, document.id,
          document.source, valid, key.substr(1));
    pending_ += key;
    append_string(value, pending_);
  }

  void append(std::string_view block, bool last) {
    if (compressor_ != nullptr) block = compressor_->compress(block, last);
    file_->append(std::as_bytes(std::span(block)));
  }

  std::shared_ptr<Storage> storage_;
  std::string path_, aside_;
  std::unique_ptr<Compressor> compressor_;
  std::unique_ptr<WritableFile> file_;
  std::string pending_;
  bool committed_ = false;
};

}  // namespace

std::unique_ptr<DocumentWriter> create_documents(std::shared_ptr<Storage> storage,
                                                 const std::string& path) {
  return std::make_unique<JsonLinesWriter>(std::move(storage), path);
}

}  // namespace ingot
