#include <zlib.h>
#include <zstd.h>

#include <limits>
#include <vector>

#include "core/error/error.h"
#include "ingest/read/byte_stream.h"

namespace ingot {
namespace {

constexpr size_t kChunkBytes = size_t{64} << 10;
constexpr int kGzipOnly = 16;  // zlib: added to the window bits
// zstd's own limit for files that did not ask for more (--long): 128 MB of window.
constexpr int kMaxZstdWindowLog = 27;

class Gzip final : public ByteStream {
 public:
  Gzip(std::unique_ptr<ByteStream> inner, std::string name)
      : inner_(std::move(inner)), name_(std::move(name)), buffer_(kChunkBytes) {
    check(inflateInit2(&state_, MAX_WBITS + kGzipOnly) == Z_OK, ErrorCode::Memory,
          "{}: no memory to decompress it", name_);
  }
  ~Gzip() override { inflateEnd(&state_); }

  size_t read(char* into, size_t size) override {
    state_.next_out = reinterpret_cast<Bytef*>(into);
    state_.avail_out = static_cast<uInt>(std::min<size_t>(size, std::numeric_limits<uInt>::max()));
    const size_t wanted = state_.avail_out;
    while (state_.avail_out == wanted && !at_end_) {
      if (state_.avail_in == 0) refill();
      if (!at_end_) inflate_some();
    }
    return wanted - state_.avail_out;
  }
  int64_t bytes_read() const override { return inner_->bytes_read() - state_.avail_in; }
  InputContent content() override { return inner_->content(); }

 private:
  void refill() {
    state_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
    state_.avail_in = static_cast<uInt>(inner_->read(buffer_.data(), buffer_.size()));
    at_end_ = state_.avail_in == 0;
    check(!at_end_ || !in_member_, ErrorCode::Data,
          "{}: the gzip data ends at byte {} in the middle of a member; the file was cut short",
          name_, bytes_read());
    check(!at_end_ || any_member_, ErrorCode::Data, "{}: expected gzip data, got an empty file",
          name_);
  }

  void inflate_some() {
    in_member_ = true;
    const int result = inflate(&state_, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
      in_member_ = false;
      any_member_ = true;
      inflateReset(&state_);
      return;
    }
    check(result == Z_OK || result == Z_BUF_ERROR, ErrorCode::Data,
          "{}: damaged gzip data at byte {}: {}", name_, bytes_read(),
          state_.msg != nullptr ? state_.msg : "not a gzip member");
  }

  std::unique_ptr<ByteStream> inner_;
  std::string name_;
  std::vector<char> buffer_;
  z_stream state_{};
  bool in_member_ = false, any_member_ = false, at_end_ = false;
};

class Zstd final : public ByteStream {
 public:
  Zstd(std::unique_ptr<ByteStream> inner, std::string name)
      : inner_(std::move(inner)), name_(std::move(name)), buffer_(kChunkBytes) {
    state_.reset(ZSTD_createDStream());
    check(state_ != nullptr, ErrorCode::Memory, "{}: no memory to decompress it", name_);
    ZSTD_DCtx_setParameter(state_.get(), ZSTD_d_windowLogMax, kMaxZstdWindowLog);
  }

  size_t read(char* into, size_t size) override {
    ZSTD_outBuffer out{into, size, 0};
    while (out.pos == 0 && !at_end_) {
      // What the decoder still holds comes first: it may need no more input.
      if (in_.pos == in_.size && !may_hold_output_) refill();
      if (at_end_) break;
      const size_t wanted = ZSTD_decompressStream(state_.get(), &out, &in_);
      check(!ZSTD_isError(wanted), ErrorCode::Data, "{}: damaged zstd data at byte {}: {}", name_,
            bytes_read(), ZSTD_getErrorName(wanted));
      in_frame_ = wanted != 0;
      any_frame_ |= !in_frame_;
      may_hold_output_ = in_frame_ && out.pos == out.size;
    }
    return out.pos;
  }
  int64_t bytes_read() const override {
    return inner_->bytes_read() - static_cast<int64_t>(in_.size - in_.pos);
  }
  InputContent content() override { return inner_->content(); }

 private:
  void refill() {
    in_ = {buffer_.data(), inner_->read(buffer_.data(), buffer_.size()), 0};
    at_end_ = in_.size == 0;
    check(!at_end_ || !in_frame_, ErrorCode::Data,
          "{}: the zstd data ends at byte {} in the middle of a frame; the file was cut short",
          name_, bytes_read());
    check(!at_end_ || any_frame_, ErrorCode::Data, "{}: expected zstd data, got an empty file",
          name_);
  }

  struct Free {
    void operator()(ZSTD_DStream* state) const { ZSTD_freeDStream(state); }
  };
  std::unique_ptr<ByteStream> inner_;
  std::string name_;
  std::vector<char> buffer_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  std::unique_ptr<ZSTD_DStream, Free> state_;
  bool in_frame_ = false, any_frame_ = false, may_hold_output_ = false, at_end_ = false;
};

}  // namespace

std::unique_ptr<ByteStream> decompress_gzip(std::unique_ptr<ByteStream> inner, std::string name) {
  return std::make_unique<Gzip>(std::move(inner), std::move(name));
}

std::unique_ptr<ByteStream> decompress_zstd(std::unique_ptr<ByteStream> inner, std::string name) {
  return std::make_unique<Zstd>(std::move(inner), std::move(name));
}

}  // namespace ingot
