#include "cli/eval/eval_text.h"

#include <fmt/format.h>

#include <map>

#include "cli/frame/progress_line.h"
#include "core/error/error.h"
#include "core/text/format.h"

namespace ingot::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kGroupBytes = int64_t{1} << 20;  // of documents that are scored together

TextWindows windows_of(const TextOptions& options, const ModelConfig& model) {
  const int64_t window = options.window > 0 ? options.window : model.context;
  check(2 <= window && window <= model.context, ErrorCode::Usage,
        "--window: expected 2 to {}, the model's context, got {}", model.context, window);
  const int64_t stride = options.stride > 0 ? options.stride : std::max<int64_t>(1, window / 2);
  check(stride < window, ErrorCode::Usage,
        "--stride: expected less than the window of {} tokens, got {}", window, stride);
  return {.window = window, .stride = stride};
}

// The location that the user gave, or of one folder what lies in it.
std::string source_of(const InputFile& file, bool is_one_location) {
  if (!is_one_location) return file.input.empty() ? file.location : file.input;
  return file.name.substr(0, file.name.find('/'));
}

Json json_of(const TextScore& score) {
  return {{"documents", score.documents},     {"bytes", score.bytes},
          {"tokens", score.tokens},           {"loss", score.mean_loss()},
          {"perplexity", score.perplexity()}, {"bits_per_byte", score.bits_per_byte()}};
}

using Scores = std::map<std::string, TextScore>;

Json printed(const char* what, const Scores& scores) {
  Json list = Json::array();
  for (const auto& [name, score] : scores) {
    fmt::print("{:<8}{:>10}{:>14}{:>14}{:>10.4f}{:>12.3f}{:>10.4f}  {}\n", what,
               format_count(score.documents), format_count(score.bytes), format_count(score.tokens),
               score.mean_loss(), score.perplexity(), score.bits_per_byte(), name);
    Json row = {{"name", name}};
    row.update(json_of(score));
    list.push_back(std::move(row));
  }
  return list;
}

}  // namespace

Json run_text(const TextOptions& options, EvalModel& model, ItemLog& log) {
  const TextWindows windows = windows_of(options, model.config());
  const PromptIds ids = model.document_ids();
  TextDocuments documents(options.paths, options.read);
  Scores whole, by_source, by_file;
  ProgressLine line;

  struct Waiting {
    std::vector<std::string> texts;
    std::vector<InputFile> files;
    int64_t bytes = 0;
  } waiting;
  const auto score = [&] {
    const std::vector<TextScore> scores = score_texts(waiting.texts, ids, windows, model.scorer());
    for (size_t i = 0; i < scores.size(); ++i) {
      if (scores[i].tokens == 0) continue;  // empty
      const InputFile& file = waiting.files[i];
      whole["all"] += scores[i];
      by_source[source_of(file, options.paths.size() == 1)] += scores[i];
      by_file[file.name] += scores[i];
      Json item = {{"file", file.name}};
      item.update(json_of(scores[i]));
      log.write(item);
    }
    waiting = {};
    if (!line.is_due() || whole.empty()) return;
    const TextScore& all = whole["all"];
    line.show(fmt::format("{} documents, {} tokens, {:.0f} tokens/s, loss {:.4f} so far",
                          format_count(all.documents), format_count(all.tokens),
                          static_cast<double>(all.tokens) / line.seconds(), all.mean_loss()));
  };
  int64_t taken = 0;
  const auto is_wanted = [&] {
    return options.max_documents == 0 || taken < options.max_documents;
  };
  for (std::string text; is_wanted() && documents.next(text);) {
    taken += !text.empty();
    waiting.bytes += std::ssize(text);
    waiting.texts.push_back(std::move(text));
    waiting.files.push_back(documents.file());
    if (waiting.bytes >= kGroupBytes) score();
  }
  score();
  documents.report();
  check(!whole.empty(), ErrorCode::Data, "the texts have nothing to score: they are empty");

  fmt::print("{:<8}{:>10}{:>14}{:>14}{:>10}{:>12}{:>10}\n", "", "documents", "bytes", "tokens",
             "loss", "perplexity", "bits/byte");
  Json result = {{"window", windows.window}, {"stride", windows.stride}};
  result["all"] = printed("all", whole).front();
  result["sources"] = printed("source", by_source);
  result["files"] = printed("file", by_file);
  fmt::print(
      "windows of {} tokens, {} apart{}{}\n", windows.window, windows.stride,
      ids.first_id < 0 ? "; a document's first token is not scored: the tokenizer has no BOS" : "",
      is_wanted() ? "" : fmt::format("; {} documents at most", format_count(taken)));
  return result;
}

}  // namespace ingot::cli
