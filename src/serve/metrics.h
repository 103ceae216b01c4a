// Counts a server's requests, and writes the counts for Prometheus.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "infer/engine.h"

namespace ingot::serve {

// Counts durations by bucket. Not thread-safe.
class Histogram {
 public:
  void add(double seconds);
  std::string text(std::string_view name, std::string_view help) const;

 private:
  static constexpr std::array kBounds = {0.01, 0.025, 0.05, 0.1, 0.25, 0.5,  1.0, 2.5,
                                         5.0,  10.0,  25.0, 50., 100., 250., 600.};
  std::array<int64_t, kBounds.size()> counts_{};  // not cumulative
  int64_t count_ = 0;
  double sum_ = 0;
};

class Metrics {
 public:  // thread-safe
  void answered(int status);
  void first_token(double seconds);  // since the request arrived
  void finished(double seconds);
  std::string text(const EngineStats& engine, int connections) const;

 private:
  mutable std::mutex mutex_;
  std::map<int, int64_t> by_status_;
  Histogram first_token_, request_;
};

}  // namespace ingot::serve
