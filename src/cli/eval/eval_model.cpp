#include "cli/eval/eval_model.h"

#include <algorithm>

#include "checkpoint/auxiliary_files.h"
#include "core/tensor/kv_page.h"
#include "tokenizer/chat/chat_template.h"
#include "tokenizer/chat/conversation.h"

namespace ingot::cli {
namespace {

constexpr int64_t kCachedTokens = int64_t{1} << 15;  // in pages, unless one prompt has more
constexpr int64_t kSequences = 16;                   // at once: enough for efficient GEMMs

std::unique_ptr<LoadedModel> load(Context& ctx, const std::string& path, int64_t context) {
  const ModelOptions options{.context = context,
                             .max_sequences = kSequences,
                             .pages = std::max(context, kCachedTokens) / kPageTokens,
                             .beyond_context = true};
  return std::make_unique<LoadedModel>(ctx, posix_storage(), path, options);
}

}  // namespace

EvalModel::EvalModel(Context& ctx, const std::string& path)
    : path_(path),
      scorer_([&ctx, path](int64_t context) { return load(ctx, path, context); }),
      config_(scorer_.model().config()),
      files_(scorer_.model().auxiliary_files()),
      tokenizer_(tokenizer_of(files_)),
      first_id_(scorer_.model().first_id()) {}

PromptIds EvalModel::document_ids() const {
  return {*tokenizer_, tokenizer_->bos() >= 0 ? tokenizer_->bos() : tokenizer_->eos()};
}

RenderChat EvalModel::chat_template() const {
  const ChatFiles files = chat_files_of(files_);
  const ChatFiles::Source& source = files.chosen(/*has_tools=*/false, path_);
  const auto parsed = std::make_shared<const ChatTemplate>(source.text, source.origin);
  return [parsed, variables = files.variables](const std::vector<HarnessMessage>& messages) {
    auto conversation = nlohmann::json::array();
    for (const HarnessMessage& message : messages)
      conversation.push_back({{"role", message.role}, {"content", message.content}});
    const bool is_begun = messages.back().role == "assistant";
    return parsed->render(
        chat_variables(conversation.dump(), variables, !is_begun, "the task's messages"));
  };
}

}  // namespace ingot::cli
