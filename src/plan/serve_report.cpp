#include "plan/serve_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text/format.h"
#include "plan/fit.h"

namespace ingot {
namespace {

constexpr int64_t kShortest = 512;
constexpr int64_t kMostConversations = 4096;

int64_t bytes_of(const DeviceFacts& facts, const ModelConfig& model, WeightFormat weights,
                 int64_t tokens, int64_t conversations) {
  const ModelOptions options{.weights = weights, .context = tokens, .max_sequences = conversations};
  return plan_memory(transformer_decode_table(model, decode_shape(facts, model, options)))
      .total_bytes;
}

}  // namespace

ServeReport serve_report(const DeviceFacts& facts, const ModelConfig& model, WeightFormat weights,
                         int64_t free_bytes) {
  const bool on_gpu = facts.kind == DeviceKind::Cuda;
  ServeReport report{.device = on_gpu ? facts.name : "cpu",
                     .weights = weights,
                     .free_bytes = free_bytes - (on_gpu ? kCudaReserveBytes : 0)};
  const DecodeShape shape = decode_shape(facts, model, {.weights = weights, .context = 1});
  for (const auto& category : plan_memory(transformer_decode_table(model, shape)).categories)
    if (category.kind == TensorKind::Weight) report.weight_bytes = category.bytes;
  report.token_bytes =
      2 * model.layers * model.kv_heads * model.head_dim * size_of(cache_dtype(shape));
  std::vector<int64_t> lengths;
  for (int64_t tokens = kShortest; tokens < model.context; tokens *= 2) lengths.push_back(tokens);
  lengths.push_back(model.context);
  for (const int64_t tokens : lengths) {
    const auto fits = [&](int64_t conversations) {
      return bytes_of(facts, model, weights, tokens, conversations) <= report.free_bytes;
    };
    int64_t least = 0, beyond = kMostConversations + 1;
    while (beyond - least > 1) {
      const int64_t middle = (least + beyond) / 2;
      (fits(middle) ? least : beyond) = middle;
    }
    report.fits.push_back(
        {tokens, least, bytes_of(facts, model, weights, tokens, std::max<int64_t>(1, least))});
  }
  return report;
}

std::string text_of(const ServeReport& report) {
  std::string text =
      fmt::format("weights in {} on {}: {}, {} a token in the cache, {} free\n",
                  name_of(report.weights), report.device, format_bytes(report.weight_bytes),
                  format_bytes(report.token_bytes), format_bytes(report.free_bytes));
  text += fmt::format("  {:>10}{:>16}{:>14}", "tokens", "conversations", "memory");
  for (const ServeReport::Fit& fit : report.fits)
    text += fmt::format("\n  {:>10}{:>16}{:>14}", format_count(fit.tokens),
                        fit.conversations == kMostConversations
                            ? format_count(fit.conversations) + " and more"
                            : format_count(fit.conversations),
                        format_bytes(fit.bytes));
  return text;
}

nlohmann::json to_json(const ServeReport& report) {
  nlohmann::json json = {{"device", report.device},           {"weights", name_of(report.weights)},
                         {"free_bytes", report.free_bytes},   {"weight_bytes", report.weight_bytes},
                         {"token_bytes", report.token_bytes}, {"fits", nlohmann::json::array()}};
  for (const ServeReport::Fit& fit : report.fits)
    json["fits"].push_back(
        {{"tokens", fit.tokens}, {"conversations", fit.conversations}, {"bytes", fit.bytes}});
  return json;
}

}  // namespace ingot
