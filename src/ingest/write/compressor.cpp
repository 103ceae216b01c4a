#include "ingest/write/compressor.h"

#define ZLIB_CONST  // next_in may point to const bytes
#include <zlib.h>
#include <zstd.h>

#include <string>

#include "core/error/error.h"

namespace ingot {
namespace {

constexpr int kGzip = 16;        // zlib: added to the window bits
constexpr int kMemoryLevel = 8;  // zlib's default
constexpr int kUnknownSystem = 255;
constexpr int kZstdLevel = 3;  // zstd's default

class GzipCompressor final : public Compressor {
 public:
  GzipCompressor() {
    const bool ready = deflateInit2(&state_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip,
                                    kMemoryLevel, Z_DEFAULT_STRATEGY) == Z_OK;
    check(ready, ErrorCode::Memory, "no memory to compress");
    header_.os = kUnknownSystem;
    deflateSetHeader(&state_, &header_);
  }
  ~GzipCompressor() override { deflateEnd(&state_); }

  std::string_view compress(std::string_view block, bool last) override {
    out_.resize(deflateBound(&state_, block.size()));
    state_.next_in = reinterpret_cast<const Bytef*>(block.data());
    state_.avail_in = static_cast<uInt>(block.size());
    size_t size = 0;
    int result;
    do {
      if (size == out_.size()) out_.resize(size * 2);
      state_.next_out = reinterpret_cast<Bytef*>(out_.data()) + size;
      state_.avail_out = static_cast<uInt>(out_.size() - size);
      result = deflate(&state_, last ? Z_FINISH : Z_NO_FLUSH);
      check(result != Z_STREAM_ERROR, ErrorCode::Internal, "deflate: a broken state");
      size = out_.size() - state_.avail_out;
    } while (state_.avail_out == 0 && result != Z_STREAM_END);
    return std::string_view(out_).substr(0, size);
  }

 private:
  z_stream state_{};
  gz_header header_{};
  std::string out_;
};

class ZstdCompressor final : public Compressor {
 public:
  ZstdCompressor() : state_(ZSTD_createCCtx()) {
    check(state_ != nullptr, ErrorCode::Memory, "no memory to compress");
    ZSTD_CCtx_setParameter(state_.get(), ZSTD_c_compressionLevel, kZstdLevel);
    ZSTD_CCtx_setParameter(state_.get(), ZSTD_c_checksumFlag, 1);
  }

  std::string_view compress(std::string_view block, bool last) override {
    out_.resize(ZSTD_compressBound(block.size()) + ZSTD_CStreamOutSize());
    ZSTD_inBuffer in{block.data(), block.size(), 0};
    ZSTD_outBuffer out{out_.data(), out_.size(), 0};
    for (size_t left = 1; in.pos < in.size || (last && left > 0);) {
      if (out.pos == out.size) {
        out_.resize(out_.size() * 2);
        out = {out_.data(), out_.size(), out.pos};
      }
      left = ZSTD_compressStream2(state_.get(), &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
      check(!ZSTD_isError(left), ErrorCode::Internal, "zstd: {}", ZSTD_getErrorName(left));
    }
    return std::string_view(out_).substr(0, out.pos);
  }

 private:
  struct Free {
    void operator()(ZSTD_CCtx* state) const { ZSTD_freeCCtx(state); }
  };
  std::unique_ptr<ZSTD_CCtx, Free> state_;
  std::string out_;
};

}  // namespace

std::unique_ptr<Compressor> gzip_compressor() {
  return std::make_unique<GzipCompressor>();
}
std::unique_ptr<Compressor> zstd_compressor() {
  return std::make_unique<ZstdCompressor>();
}

}  // namespace ingot
