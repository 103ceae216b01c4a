#include "cli/frame/console.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "core/text/printable.h"

namespace ingot::cli {
namespace {

// What stands behind stdout or stderr.
struct Stream {
  int descriptor;
  bool is_terminal, may_fail;
  PrintableText text{};

  bool write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return !may_fail;
      bytes.remove_prefix(static_cast<size_t>(written));
    }
    return true;
  }
};

// By descriptor. They outlive all destructors, since other threads may still write at exit; a leak
// checker finds them here.
Stream* opened_streams[3] = {};

ssize_t write_stream(void* cookie, const char* bytes, size_t size) {
  auto& stream = *static_cast<Stream*>(cookie);
  const std::string_view piece(bytes, size);
  const bool written =
      stream.is_terminal ? stream.write(stream.text.add(piece)) : stream.write(piece);
  return written ? static_cast<ssize_t>(size) : 0;  // 0: an error, as fopencookie has it
}

std::FILE* open_stream(int descriptor, bool may_fail) {
  auto* stream = new Stream{descriptor, ::isatty(descriptor) == 1, may_fail};
  opened_streams[descriptor] = stream;
  cookie_io_functions_t functions{};
  functions.write = write_stream;
  std::FILE* file = ::fopencookie(stream, "w", functions);
  check(file != nullptr, ErrorCode::Memory, "no memory for an output stream");
  if (!may_fail) std::setvbuf(file, nullptr, _IONBF, 0);
  if (may_fail && stream->is_terminal) std::setvbuf(file, nullptr, _IOLBF, BUFSIZ);
  return file;
}

bool is_set(const char* name, const char*& value) {
  value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

}  // namespace

void open_console() {
  // Of stdout only a terminal needs more than the C library gives.
  if (::isatty(STDOUT_FILENO) == 1) stdout = open_stream(STDOUT_FILENO, /*may_fail=*/true);
  stderr = open_stream(STDERR_FILENO, /*may_fail=*/false);
}

void finish_stdout() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  throw stdout_error(errno);
}

Error stdout_error(int reason) {
  return {ErrorCode::Storage,
          fmt::format("cannot write to stdout: {}",
                      reason == 0 ? "an earlier write failed" : std::strerror(reason))};
}

bool is_stdout_abandoned() {
  pollfd facts{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&facts, 1, 0) == 1 && (facts.revents & POLLERR) != 0;
}

bool is_stderr_live() {
  const char* kind = nullptr;
  return ::isatty(STDERR_FILENO) == 1 && is_set("TERM", kind) && std::string_view(kind) != "dumb";
}

int columns_of(int descriptor) {
  winsize window{};
  if (::ioctl(descriptor, TIOCGWINSZ, &window) == 0 && window.ws_col > 0) return window.ws_col;
  int columns = 0;
  const char* text = nullptr;
  if (::isatty(descriptor) == 1 && is_set("COLUMNS", text))
    std::from_chars(text, text + std::strlen(text), columns);
  return columns > 0 ? columns : 80;
}

std::string one_line(std::string_view text) {
  std::string line = printable(text);
  std::ranges::replace(line, '\n', ' ');
  return line;
}

}  // namespace ingot::cli
