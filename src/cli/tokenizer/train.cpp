// ingot tokenizer train
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "cli/frame/command.h"
#include "cli/frame/output_file.h"
#include "cli/frame/progress_line.h"
#include "cli/text_documents.h"
#include "cli/tokenizer/tokenizer.h"
#include "core/device/thread_pool.h"
#include "core/error/error.h"
#include "core/storage/storage.h"
#include "core/text/format.h"
#include "tokenizer/bpe/rank_settings.h"
#include "tokenizer/bpe/split.h"
#include "tokenizer/sentencepiece/sentencepiece.h"
#include "tokenizer/train/bpe_trainer.h"
#include "tokenizer/train/sentencepiece_trainer.h"

namespace ingot::cli {
namespace {

constexpr char kUsualSplit[] = "llama3";

struct Options {
  std::vector<std::string> inputs;
  OutputFile out;
  std::string type = "bpe", split, ties;  // empty: the usual one
  int64_t vocab_size = 0;                 // 0: the type's usual one
  std::vector<std::string> special_tokens;
  ReadOptions read;
  SampleLimit sample;
  double coverage = 0;  // 0: the usual one
  int threads = available_cores();
  JsonOption json;
};

struct Result {
  std::string file;
  int64_t asked = 0, vocab_size = 0;  // tokens
  int64_t documents = 0, characters = 0, bytes = 0;
  std::string details;
  std::string rank_settings;  // for the file beside .tiktoken; empty: none
};

Result train_bpe(const Options& options, const NextDocument& next, ProgressLine& progress) {
  // add_tokenizer_train() checks the name.
  const Split split = *split_named(options.split.empty() ? kUsualSplit : options.split);
  BpeTrainerOptions trainer;
  trainer.vocab_size = options.vocab_size > 0 ? options.vocab_size : 32768;
  trainer.ties = options.ties == "raw" ? Ties::Raw : Ties::Hf;
  trainer.special_tokens = options.special_tokens;
  if (trainer.special_tokens.empty()) trainer.special_tokens = {"<|endoftext|>"};
  trainer.progress = [&](int64_t characters, int64_t merges) {
    if (!progress.is_due()) return;
    progress.show(merges == 0 ? fmt::format("read {} characters", format_count(characters))
                              : fmt::format("{} merges", format_count(merges)));
  };
  ThreadPool pool(options.threads);
  TrainedBpe trained = ingot::train_bpe(
      next,
      [&](std::string_view text, std::vector<uint32_t>& ends) { split_text(split, text, ends); },
      trainer, pool);
  trained.model.split = split;
  Result result;
  result.asked = trainer.vocab_size;
  if (options.out.path().ends_with(".tiktoken")) {
    result.file = to_tiktoken(trained.model);
    result.rank_settings = to_rank_settings(trained.model);
  } else {
    result.file = to_tokenizer_json(trained.model);
  }
  result.vocab_size = static_cast<int64_t>(trained.model.tokens.size());
  result.documents = trained.documents;
  result.characters = trained.characters;
  result.bytes = trained.bytes;
  result.details = fmt::format(", {} pieces, {} of them different", format_count(trained.pieces),
                               format_count(trained.distinct_pieces));
  return result;
}

Result train_sentencepiece(const Options& options, const NextDocument& next,
                           ProgressLine& progress) {
  SentencePieceTrainerOptions trainer;
  trainer.kind =
      options.type == "unigram" ? SentencePieceModel::Kind::Unigram : SentencePieceModel::Kind::Bpe;
  if (options.vocab_size > 0) trainer.vocab_size = options.vocab_size;
  trainer.special_tokens = options.special_tokens;
  if (options.coverage > 0) trainer.character_coverage = options.coverage;
  trainer.progress = [&](int64_t characters) {
    if (!progress.is_due()) return;
    progress.show(fmt::format("read {} characters", format_count(characters)));
  };
  trainer.on_step = [&](const std::string& step, bool is_new) {
    if (is_new || progress.is_due()) progress.show(step);
  };
  TrainedSentencePiece trained = ingot::train_sentencepiece(next, trainer);
  Result result;
  result.asked = trainer.vocab_size;
  result.vocab_size = parse_sentencepiece(trained.file, options.out.path())->vocab_size();
  result.file = std::move(trained.file);
  result.documents = trained.documents;
  result.characters = trained.characters;
  result.bytes = trained.bytes;
  return result;
}

void check_out(const Options& options) {
  const bool is_bpe = options.type == "bpe";
  const std::string& out = options.out.path();
  const auto is = [&](const char* extension) { return out.ends_with(extension); };
  check(is_bpe ? is(".json") || is(".tiktoken") : is(".model"), ErrorCode::Usage,
        "--out: expected a name that ends with {} for --type {}, got «{}»",
        is_bpe ? ".json or .tiktoken" : ".model", options.type, out);
  options.out.check_free(is(".tiktoken") ? std::vector{out, rank_settings_path(out)}
                                         : std::vector{out});
}

// An option that the type of tokenizer has no use for would be ignored.
void check_options(const Options& options) {
  const bool is_bpe = options.type == "bpe";
  const auto refuse = [&](bool is_given, const char* name, const char* types) {
    check(!is_given, ErrorCode::Usage, "{} is of --type {}, and says nothing to --type {}", name,
          types, options.type);
  };
  refuse(!is_bpe && !options.split.empty(), "--split", "bpe");
  refuse(!is_bpe && !options.ties.empty(), "--ties", "bpe");
  refuse(is_bpe && options.coverage > 0, "--coverage", "unigram and sp-bpe");
  check(options.sample.seed == 0 || options.sample.any(), ErrorCode::Usage,
        "--sample-seed draws a sample: give --sample-documents or --sample-characters with it");
}

// Reads the whole input once, to know which parts of it are the sample.
DocumentSample draw(const Options& options, ProgressLine& progress) {
  TextDocuments documents(options.inputs, options.read);
  int64_t count = 0;
  const auto next = [&](std::string& text) {
    if (!documents.next(text)) return false;
    ++count;
    if (progress.is_due()) {
      progress.show(fmt::format("drawing the sample: {} documents read", format_count(count)));
    }
    return true;
  };
  return {next, options.sample};
}

void train(const Options& options) {
  check_options(options);
  check_out(options);
  Result result;
  double seconds = 0;
  {
    ProgressLine progress;
    std::optional<DocumentSample> sample;
    if (options.sample.any()) sample.emplace(draw(options, progress));
    TextDocuments documents(options.inputs, options.read);
    NextDocument next = [&](std::string& text) { return documents.next(text); };
    if (sample) next = sample->of(std::move(next));
    result = options.type == "bpe" ? train_bpe(options, next, progress)
                                   : train_sentencepiece(options, next, progress);
    documents.report();
    seconds = progress.seconds();
  }
  const std::string& out = options.out.path();
  options.out.write(out, result.file);
  const std::string rank_settings = rank_settings_path(out);
  if (!result.rank_settings.empty()) options.out.write(rank_settings, result.rank_settings);
  const bool has_stretches = options.sample.characters > 0 && options.sample.documents == 0;
  fmt::print("{}: {} tokens, trained on {} {}, {} characters ({}){}, in {}\n", out,
             format_count(result.vocab_size), format_count(result.documents),
             has_stretches ? "stretches of documents" : "documents",
             format_count(result.characters), format_bytes(result.bytes), result.details,
             format_duration(seconds));
  if (!result.rank_settings.empty()) {
    fmt::print("{}: how text is cut, and the special tokens; keep it beside the file\n",
               rank_settings);
  }
  if (result.asked > result.vocab_size) {
    fmt::print("fewer than the {} tokens asked for: no pair is left to merge\n",
               format_count(result.asked));
  }
  options.json.print({{"file", out},
                      {"type", options.type},
                      {"vocab_size", result.vocab_size},
                      {"documents", result.documents},
                      {"characters", result.characters},
                      {"bytes", result.bytes},
                      {"seconds", seconds}});
}

}  // namespace

void add_tokenizer_train(Command& tokenizer) {
  auto options = std::make_shared<Options>();
  auto* command = tokenizer.add_subcommand("train", "learn a tokenizer from text");
  command
      ->add_option(
          "--input", options->inputs,
          "text, .jsonl, .csv, .parquet, .warc (also .gz, .zst), folders, globs, addresses")
      ->required();
  options->out.add_to(*command, "--out", "tokenizer.json, NAME.tiktoken or NAME.model")->required();
  command->add_option("--type", options->type, "byte-level BPE, or a SentencePiece model")
      ->one_of({"bpe", "unigram", "sp-bpe"})
      ->capture_default_str();
  command->add_option("--vocab", options->vocab_size, "tokens (32768; SentencePiece 32000)")
      ->positive();
  command->add_option("--split", options->split, "pattern that splits text (bpe)")
      ->one_of(split_names())
      ->default_str(kUsualSplit);
  command->add_option("--ties", options->ties, "order of equally frequent pairs, and ids (bpe)")
      ->one_of({"hf", "raw"})
      ->default_str("hf");
  command
      ->add_option("--special", options->special_tokens,
                   "a special token; repeatable (bpe: <|endoftext|> if none is given)")
      ->allow_extra_args(false);
  command
      ->add_option("--coverage", options->coverage,
                   "share of the characters that get pieces; rarer ones become bytes (unigram, "
                   "sp-bpe)")
      ->between(0.98, 1.0)
      ->default_str(fmt::format("{}", SentencePieceTrainerOptions().character_coverage));
  command
      ->add_option("--sample-documents", options->sample.documents,
                   "take so many documents, drawn at random over the whole input")
      ->positive();
  command
      ->add_option("--sample-characters", options->sample.characters,
                   "take so many characters, in stretches drawn at random over the whole input")
      ->positive();
  command->add_option("--sample-seed", options->sample.seed, "seed of the sample")
      ->capture_default_str();
  command->add_option("--threads", options->threads, "threads that count pieces (bpe)")
      ->positive()
      ->capture_default_str();
  options->read.add_to(*command);
  options->json.add_to(*command);
  command->callback([options] { train(*options); });
}

}  // namespace ingot::cli
