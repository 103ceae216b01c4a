// What launchers and machines say of hosts, ranks and cores, and what launch and its agents say to
// each other, arbitrary: read or refused, and what is read means the same when it is written again.
// Input: any text.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cli/launch/agent_words.h"
#include "cli/launch/hosts.h"
#include "cli/start/cores.h"
#include "cli/start/nodelist.h"
#include "core/error/error.h"

namespace {

using namespace ingot::cli;

void require(bool holds) {
  if (!holds) std::abort();
}

template <class Read>
void read(Read parse) {
  try {
    parse();
  } catch (const ingot::Error&) {
    // Refused.
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read([&] {
    const std::string host = first_host(text);
    require(!host.empty() && host.find_first_of("[], ") == std::string::npos);
    require(first_host(host) == host);
  });
  read([&] { require(count_on_node(text, 3) >= 0); });
  read([&] {
    const auto hosts = parse_hosts(text, "fuzz");
    std::string again;
    for (const HostSlots& host : hosts)
      again += host.host + (host.slots > 0 ? ":" + std::to_string(host.slots) : "") + ",";
    require(parse_hosts(again, "fuzz") == hosts);
    int next = 0;
    read([&] {
      for (const HostRanks& host : place_ranks(hosts, 5)) {
        require(host.first == next && host.count > 0);
        next += host.count;
      }
      require(next == 5);
    });
  });
  if (const auto cores = parse_cores(text); cores && cores->size() < 4096)
    require(parse_cores(text_of_cores(*cores)).has_value());
  read([&] { require(parse_job(to_text(parse_job(text))).args == parse_job(text).args); });
  const std::string line = text.substr(0, text.find('\n'));
  if (const auto event = parse_event(line)) {
    std::string again = to_text(*event);
    again.pop_back();
    const auto same = parse_event(again);
    require(same && same->rank == event->rank && same->text == event->text &&
            same->number == event->number && same->kind == event->kind);
  }
  parse_greeting(line);
  parse_signal(line);
  return 0;
}
