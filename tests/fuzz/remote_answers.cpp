// What servers answer, arbitrary: the head of an HTTP reply leaves numbers in range, and the hub's
// list of files gives files or Error, its word on a revision a commit. Input: one byte that
// chooses, then the answer.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/error/error.h"
#include "remote/http_reply.h"
#include "remote/hub.h"

namespace {

void read_head(std::string_view head) {
  ingot::HttpReply reply;
  while (!head.empty()) {
    const size_t end = std::min(head.find('\n'), head.size() - 1);
    ingot::read_header_line(head.substr(0, end + 1), reply);
    head.remove_prefix(end + 1);
    if (reply.status < 0 || reply.status > 999) abort();
    if (reply.total_bytes < -1 || reply.offset < -1 || reply.retry_after_seconds < -1) abort();
  }
  ingot::hf_next_page(reply.link);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view answer(reinterpret_cast<const char*>(data + 1), size - 1);
  if (data[0] & 1) {
    read_head(answer);
    return 0;
  }
  const std::string commit = ingot::parse_hf_commit(answer, "main");
  if (commit != "main" && commit.size() != 40) abort();
  try {
    const ingot::HfAddress folder{"owner/name", "main", "data"};
    for (const ingot::HubFile& file : ingot::parse_hf_list(answer, folder)) {
      if (!file.address.starts_with("hf://datasets/owner/name@main")) abort();
    }
  } catch (const ingot::Error&) {
  }
  return 0;
}
