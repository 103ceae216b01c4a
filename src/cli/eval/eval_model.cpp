#include "cli/eval/eval_model.h"

#include <algorithm>

#include "checkpoint/auxiliary_files.h"
#include "core/tensor/kv_page.h"

namespace ingot::cli {
namespace {

constexpr int64_t kCachedTokens = int64_t{1} << 15;  // in pages, unless one prompt has more
constexpr int64_t kSequences = 16;                   // at once: enough for efficient GEMMs

std::unique_ptr<LoadedModel> load(Context& ctx, const std::string& path, WeightFormat weights,
                                  int64_t context) {
  const ModelOptions options{.weights = weights,
                             .context = context,
                             .max_sequences = kSequences,
                             .pages = std::max(context, kCachedTokens) / kPageTokens,
                             .beyond_context = true};
  return std::make_unique<LoadedModel>(ctx, posix_storage(), path, options);
}

}  // namespace

EvalModel::EvalModel(Context& ctx, const std::string& path, WeightFormat weights)
    : path_(path), scorer_([this, &ctx, path, weights](int64_t context) {
        auto model = load(ctx, path, weights, context);
        if (!tokenizer_) take_facts(*model);
        return model;
      }) {}

void EvalModel::take_facts(const LoadedModel& model) {
  config_ = model.config();
  files_ = model.auxiliary_files();
  tokenizer_ = tokenizer_of(files_);
  first_id_ = model.first_id();
  stop_ids_ = model.stop_ids();
}

PromptIds EvalModel::document_ids() const {
  return ingot::document_ids(*tokenizer_);
}

ChatFormat EvalModel::chat_format() const {
  return {chat_files_of(files_), *tokenizer_, first_id_, stop_ids_, path_};
}

}  // namespace ingot::cli
