// The reply to one request. Any thread may write it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ingot::net {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

// Thread-safe. Call either send(), or begin_stream(), then write() any number of times, then end().
// What is written after the end, or after the client has gone, is dropped.
class HttpReply {
 public:
  // Calls `wake`, on any thread, to tell the connection that there is something to write.
  HttpReply(bool keep_alive, bool chunked, bool without_body, std::function<void()> wake);

  void send(int status, std::string_view type, std::string_view body,
            const HttpHeaders& headers = {});
  void begin_stream(int status, std::string_view type, const HttpHeaders& headers = {});
  void write(std::string_view piece);
  void end();

  // Bytes that the client has not taken yet. If they exceed `kEnough`, a writer should wait for
  // on_room(); then a slow client delays only itself.
  size_t waiting_bytes() const;
  static constexpr size_t kEnough = size_t{64} << 10;

  // `call` is called once, on the server's thread, if the client goes or takes too long before the
  // end; at once if it has gone already.
  void on_closed(std::function<void()> call);
  // `call` is called on the server's thread whenever few bytes are waiting again.
  void on_room(std::function<void()> call);

  // The following are for the connection.
  std::string take(size_t most);
  bool is_finished() const;  // ended, and all was taken
  bool has_begun() const;
  bool keep_alive() const { return keep_alive_; }
  void close();
  void tell_room();

 private:
  void head(int status, std::string_view type, const HttpHeaders& headers, std::string_view length);

  mutable std::mutex mutex_;
  const bool keep_alive_, chunked_, without_body_;
  const std::function<void()> wake_;
  std::function<void()> on_closed_, on_room_;
  std::string out_;
  size_t taken_ = 0;  // of out_
  bool begun_ = false, ended_ = false, closed_ = false, held_up_ = false;
};

}  // namespace ingot::net
