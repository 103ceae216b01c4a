#include "infer/reply.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/error/error.h"

namespace ingot {

ReplySink::ReplySink(const Tokenizer& tokenizer, std::vector<std::string> stop_strings,
                     int32_t first_id, OnText on_text)
    : stream_(tokenizer, std::move(stop_strings), first_id), on_text_(std::move(on_text)) {}

bool ReplySink::on_token(const TokenScore& token) {
  if (reply_.ids.empty()) reply_.first_token_seconds = elapsed_seconds();
  reply_.ids.push_back(token.id);
  give(stream_.add(token.id));
  return !stream_.is_stopped();
}

void ReplySink::on_finish(const Finish& finish) {
  give(stream_.finish());
  reply_.finish = finish;
  reply_.seconds = elapsed_seconds();
  is_done_ = true;
}

void ReplySink::give(const std::string& text) {
  reply_.text += text;
  if (on_text_ && !text.empty()) on_text_(text);
}

double ReplySink::elapsed_seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

Reply write_text(LoadedModel& model, const std::string& prompt, int64_t max_tokens,
                 const SamplingOptions& sampling, const ReplySink::OnText& on_text) {
  ReplyEngine& engine = model.engine();
  Request request{.prompt = model.prompt_ids(prompt), .sampling = sampling};
  request.stop_ids = model.stop_ids();
  request.max_tokens = max_tokens > 0 ? max_tokens : engine.max_tokens();
  const int32_t first_id = prompt.empty() ? request.prompt.front() : -1;
  const auto sink =
      std::make_shared<ReplySink>(model.tokenizer(), std::vector<std::string>{}, first_id, on_text);
  engine.submit(std::move(request), sink);
  engine.run();
  const Reply& reply = sink->reply();
  check(reply.finish.reason != FinishReason::Failed, ErrorCode::Numeric, "{}", reply.finish.error);
  return reply;
}

void for_each_logits(LoadedModel& model, std::span<const int32_t> ids,
                     const std::function<void(std::span<const float>)>& take) {
  const DecodeShape& shape = model.shape();
  const auto V = static_cast<size_t>(model.config().vocab);
  for (const int32_t id : ids)
    check(0 <= id && id < model.config().vocab, ErrorCode::Usage,
          "ids of tokens: expected 0 to {}, got {}", V - 1, id);
  std::vector<int32_t> pages(static_cast<size_t>(shape.pages));
  std::iota(pages.begin(), pages.end(), 0);
  const auto chunk = static_cast<size_t>(std::min(shape.max_rows, shape.max_logit_rows));
  for (size_t begin = 0; begin < ids.size(); begin += chunk) {
    const auto own = ids.subspan(begin, std::min(chunk, ids.size() - begin));
    const DecodeRows rows{.ids = own,
                          .first_position = static_cast<int64_t>(begin),
                          .pages = pages,
                          .num_logits = std::ssize(own)};
    std::span<const float> logits = model.decoder().run({&rows, 1});
    for (size_t row = 0; row < own.size(); ++row) {
      if (!model.decoder().is_finite(static_cast<int64_t>(row))) {
        FirstNotFinite search(model.decoder().context());
        model.decoder().run({&rows, 1}, &search);
        throw Error(ErrorCode::Numeric,
                    fmt::format("{}, at token {}; the weights are damaged or training diverged",
                                search.found().empty() ? "logits: not finite" : search.found(),
                                begin + row + 1));
      }
      take(logits.subspan(row * V, V));
    }
  }
}

}  // namespace ingot
