#include "feed/sample_plan.h"

#include <algorithm>

#include "core/error/error.h"
#include "core/text/format.h"
#include "feed/best_fit.h"

namespace ingot {
namespace {

class ConcatPlan final : public SamplePlan {
 public:
  ConcatPlan(const TokenSource& source, int64_t T) : T_(T) {
    check(source.num_tokens() > T, ErrorCode::Data,
          "{}: not one sample: expected at least {} tokens for a context of {}, got {}; give more "
          "text or a shorter context",
          source.describe(), T + 1, T, source.num_tokens());
    num_samples_ = (source.num_tokens() - 1) / T;
  }

  int64_t num_samples() const override { return num_samples_; }
  void pieces(int64_t sample, std::vector<Piece>& out) const override {
    out.assign(1, {sample * T_, T_, /*continues=*/true});
  }
  std::vector<int64_t> samples_of(int64_t begin, int64_t end) const override {
    std::vector<int64_t> samples;
    for (int64_t s = begin / T_; s < num_samples_ && s * T_ < end; ++s) samples.push_back(s);
    return samples;
  }
  int64_t num_targets(int64_t) const override { return T_; }
  bool all_targets() const override { return true; }
  std::string describe() const override {
    return fmt::format("{} samples of {} tokens", format_count(num_samples_), T_);
  }

 private:
  int64_t T_;
  int64_t num_samples_ = 0;
};

}  // namespace

std::unique_ptr<SamplePlan> make_plan(Packing packing, const TokenSource& source, int64_t T,
                                      uint64_t seed) {
  check(T > 0, ErrorCode::Config, "context length: expected at least 1, got {}", T);
  if (packing == Packing::BestFit) return std::make_unique<BestFitPlan>(source, T, seed);
  return std::make_unique<ConcatPlan>(source, T);
}

}  // namespace ingot
