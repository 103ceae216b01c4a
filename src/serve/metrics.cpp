#include "serve/metrics.h"

#include <fmt/format.h>

namespace ingot::serve {
namespace {

std::string one(std::string_view name, std::string_view kind, std::string_view help,
                int64_t value) {
  return fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", name, help, kind, value);
}

}  // namespace

void Histogram::add(double seconds) {
  ++count_;
  sum_ += seconds;
  for (size_t i = 0; i < kBounds.size(); ++i) {
    if (seconds > kBounds[i]) continue;
    ++counts_[i];
    return;
  }
}

std::string Histogram::text(std::string_view name, std::string_view help) const {
  std::string out = fmt::format("# HELP {0} {1}\n# TYPE {0} histogram\n", name, help);
  int64_t below = 0;
  for (size_t i = 0; i < kBounds.size(); ++i) {
    below += counts_[i];
    out += fmt::format("{}_bucket{{le=\"{}\"}} {}\n", name, kBounds[i], below);
  }
  return out + fmt::format("{0}_bucket{{le=\"+Inf\"}} {1}\n{0}_sum {2}\n{0}_count {1}\n", name,
                           count_, sum_);
}

void Metrics::answered(int status) {
  const std::scoped_lock lock(mutex_);
  ++by_status_[status];
}

void Metrics::first_token(double seconds) {
  const std::scoped_lock lock(mutex_);
  first_token_.add(seconds);
}

void Metrics::finished(double seconds) {
  const std::scoped_lock lock(mutex_);
  request_.add(seconds);
}

std::string Metrics::text(const EngineStats& engine, int connections) const {
  const std::scoped_lock lock(mutex_);
  std::string out =
      "# HELP ingot_requests_total Requests answered, by status.\n"
      "# TYPE ingot_requests_total counter\n";
  for (const auto& [status, count] : by_status_)
    out += fmt::format("ingot_requests_total{{status=\"{}\"}} {}\n", status, count);
  out += one("ingot_connections", "gauge", "Open connections.", connections);
  out += one("ingot_queued", "gauge", "Choices that wait for pages.", engine.queued);
  out += one("ingot_running", "gauge", "Choices that are being written.", engine.running);
  out += one("ingot_pages", "gauge", "Pages of the cache.", engine.pages);
  out += one("ingot_pages_in_use", "gauge", "Pages of running choices.", engine.pages_in_use);
  out += one("ingot_pages_cached", "gauge", "Pages kept of finished ones.", engine.pages_cached);
  out += one("ingot_computed_tokens_total", "counter", "Tokens computed.", engine.computed_tokens);
  out += one("ingot_prefix_hit_tokens_total", "counter", "Tokens of prompts found in pages.",
             engine.reused_tokens);
  out += one("ingot_new_tokens_total", "counter", "Tokens generated.", engine.new_tokens);
  out += one("ingot_preemptions_total", "counter", "Choices that gave back their pages.",
             engine.preemptions);
  out += one("ingot_cancelled_total", "counter", "Choices whose client went.", engine.cancelled);
  out += first_token_.text("ingot_first_token_seconds", "From a request to its first token.");
  return out + request_.text("ingot_request_seconds", "From a request to the end of its reply.");
}

}  // namespace ingot::serve
