// ingot bench decode
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "cli/frame/command.h"
#include "cli/frame/weight_options.h"
#include "cli/start/model_argument.h"
#include "core/error/error.h"
#include "core/random/random.h"
#include "core/storage/storage.h"
#include "core/system/timing.h"
#include "core/text/format.h"
#include "infer/model.h"
#include "probe/measure.h"
#include "spec/model/transformer_parameters.h"

namespace ingot::cli {
namespace {

using Clock = std::chrono::steady_clock;

// A decoder of a preset's shape with weights that were drawn: their values cost no time.
class DrawnModel {
 public:
  DrawnModel(Context& ctx, const ModelConfig& config, const ModelOptions& options)
      : shape_(decode_shape(ctx.facts, config, options)),
        placed_(transformer_decode_table(config, shape_), ctx.device),
        ctx_(ctx) {
    ctx_.workspace = Workspace(placed_.find("workspace"));
    decoder_ = std::make_unique<PagedDecoder>(ctx_, config, shape_, placed_);
    // The same numbers again and again, from another place in each tensor: drawing eight billion
    // would take minutes.
    std::vector<float> drawn(kDrawn);
    const RandomStream stream(1, Purpose::Init);
    for (size_t i = 0; i < kDrawn; ++i)
      drawn[i] = 0.02f * (static_cast<float>(stream.bits(i)) * 0x1p-31f - 1.0f);
    decoder_->load([&](const std::string& name, int64_t begin, int64_t, std::span<float> values) {
      if (name.find("norm.weight") != std::string::npos) {
        std::ranges::fill(values, 1.0f);
        return;
      }
      size_t from = (tensor_id(name) + static_cast<size_t>(begin)) % kDrawn;
      for (float& value : values) {
        value = drawn[from];
        from = from + 1 == kDrawn ? 0 : from + 1;
      }
    });
  }
  PagedDecoder& decoder() { return *decoder_; }
  int64_t allocated_bytes() const { return placed_.allocated_bytes(); }

 private:
  static constexpr size_t kDrawn = 4'999'999;  // no multiple of a row

  const DecodeShape shape_;
  const PlacedTensors placed_;
  Context ctx_;
  std::unique_ptr<PagedDecoder> decoder_;
};

struct CountsTokens final : RequestSink {
  bool on_token(const TokenScore&) override { return ++tokens, true; }
  int64_t tokens = 0;
};

struct Round {
  double first_token_seconds = 0, prompt_seconds = 0, reply_seconds = 0;
};

struct BenchDecode {
  std::string model, preset = "llama_10m";
  WeightOptions weights;
  int64_t sequences = 1, prompt = 512, tokens = 64, rounds = 5;
  double temperature = 0.8;
  DeviceOptions device;
  JsonOption json;

  void run() const {
    const auto compute = device.open();
    Context& ctx = compute->context();
    ModelOptions options = weights.options(sequences);
    options.context = prompt + tokens;
    options.max_rows = 512;
    if (!model.empty()) {
      LoadedModel loaded(ctx, posix_storage(), model, options);
      return show(ctx, model, loaded.decoder(), loaded.allocated_bytes());
    }
    ModelConfig config = model_preset(preset);
    config.context = std::max(config.context, options.context);
    DrawnModel drawn(ctx, config, options);
    show(ctx, preset, drawn.decoder(), drawn.allocated_bytes());
  }

 private:
  std::vector<int32_t> random_prompt(uint64_t which, int64_t vocab) const {
    const RandomStream stream(7, Purpose::Sampling, 0, which);
    std::vector<int32_t> ids(static_cast<size_t>(prompt));
    for (size_t i = 0; i < ids.size(); ++i)
      ids[i] = static_cast<int32_t>(stream.bits(i) % static_cast<uint32_t>(vocab));
    return ids;
  }

  using Sinks = std::vector<std::shared_ptr<CountsTokens>>;

  // Submits all prompts of a round for replies of `new_tokens`.
  Sinks submit(ReplyEngine& engine, int64_t vocab, uint64_t number, int64_t new_tokens) const {
    Sinks sinks;
    for (int64_t s = 0; s < sequences; ++s) {
      Request request{.prompt = random_prompt(number * 1000 + static_cast<uint64_t>(s), vocab),
                      .max_tokens = new_tokens};
      request.sampling.temperature = temperature;
      request.sampling.top_k = temperature > 0 ? 40 : 0;
      sinks.push_back(std::make_shared<CountsTokens>());
      engine.submit(std::move(request), sinks.back());
    }
    return sinks;
  }

  // First the prompts with one token each. Then the same again, whose pages are known: so all
  // replies begin at once, and every timed step is one of all of them.
  Round one_round(ReplyEngine& engine, int64_t vocab, uint64_t number) const {
    auto begin = Clock::now();
    const auto seconds = [&] {
      return std::chrono::duration<double>(Clock::now() - begin).count();
    };
    Round round;
    Sinks sinks = submit(engine, vocab, number, 1);
    while (sinks[0]->tokens == 0) engine.step();
    round.first_token_seconds = seconds();
    engine.run();
    round.prompt_seconds = seconds();
    sinks = submit(engine, vocab, number, tokens);
    const auto began = [](const auto& sink) { return sink->tokens > 0; };
    while (!std::ranges::all_of(sinks, began)) engine.step();
    begin = Clock::now();
    engine.run();
    round.reply_seconds = seconds();
    return round;
  }

  // What a step of all replies reads: every matrix once, and the keys and values of each reply.
  static double bytes_of_step(const PagedDecoder& decoder, int64_t replies, double position) {
    const ModelConfig& config = decoder.config();
    const DecodeShape& shape = decoder.shape();
    const TensorTable table = transformer_decode_table(config, shape);
    const TensorTable parameters = transformer_parameters(config);
    double bytes = 0;
    for (const TensorSpec& row : parameters.rows())
      if (config.tied || row.name != "embedding.weight")
        bytes += static_cast<double>(table[table.find(row.name)].bytes());
    const double of_token = static_cast<double>(2 * config.layers * config.kv_heads *
                                                config.head_dim * size_of(cache_dtype(shape)));
    return bytes + static_cast<double>(replies) * position * of_token;
  }

  void show(Context& ctx, const std::string& name, PagedDecoder& decoder, int64_t memory) const {
    const int64_t vocab = decoder.config().vocab;
    ReplyEngine engine(decoder, {.pool = ctx.pool});
    const double read_before = measure_read_bandwidth(ctx);
    one_round(engine, vocab, 0);  // warms up
    std::vector<double> first, prompts, replies;
    for (int64_t round = 1; round <= rounds; ++round) {
      const Round times = one_round(engine, vocab, static_cast<uint64_t>(round));
      first.push_back(times.first_token_seconds);
      prompts.push_back(times.prompt_seconds);
      replies.push_back(times.reply_seconds);
    }
    // Other programs slow both down, not always at once: the larger is nearer to the limit.
    const double read = std::max(read_before, measure_read_bandwidth(ctx));
    const auto n = static_cast<double>(sequences);
    const double steps = static_cast<double>(tokens - 1);
    const double step_seconds = median_of(replies) / steps;
    const double prompt_rate = n * static_cast<double>(prompt) / median_of(prompts);
    const double position = static_cast<double>(prompt) + 0.5 * static_cast<double>(tokens);
    const double share = bytes_of_step(decoder, sequences, position) / step_seconds / read;
    fmt::print(
        "{} {} on {}, {} threads: {} sequences, {} prompt tokens, {} new ones, medians of {}\n"
        "  prompt          {:.1f} tok/s, first token after {:.1f} ms\n"
        "  decode          {:.1f} tok/s, {:.2f} ms a step\n"
        "  bandwidth       {} of {:.1f} GB/s read\n"
        "  memory          {}\n",
        name, weights.weights, ctx.device, ctx.pool->num_threads(), sequences, prompt, tokens,
        rounds, prompt_rate, median_of(first) * 1e3, n / step_seconds, step_seconds * 1e3,
        format_percent(share), read / 1e9, format_bytes(memory));
    json.print({{"model", name},
                {"weights", weights.weights},
                {"device", ctx.device.str()},
                {"threads", ctx.pool->num_threads()},
                {"sequences", sequences},
                {"prompt_tokens", prompt},
                {"new_tokens", tokens},
                {"prompt_tok_s", prompt_rate},
                {"first_token_ms", median_of(first) * 1e3},
                {"tok_s", n / step_seconds},
                {"step_ms", step_seconds * 1e3},
                {"read_bytes_s", read},
                {"share_of_read", share},
                {"memory_bytes", memory}});
  }
};

}  // namespace

void add_bench_decode(Command& bench) {
  auto command = std::make_shared<BenchDecode>();
  auto* decode = bench.add_subcommand(
      "decode", "replies of one or more sequences: tok/s, time to the first token, bandwidth");
  decode->add_option("--model", command->model,
                     fmt::format("{}; unless given, drawn weights of --preset", kModelPaths));
  decode->add_option("--preset", command->preset, "shape of the model")->capture_default_str();
  decode->add_option("--sequences", command->sequences, "replies that are written at once")
      ->capture_default_str()
      ->between(1, 4096);
  decode->add_option("--prompt-tokens", command->prompt, "tokens of each prompt")
      ->capture_default_str()
      ->positive();
  decode->add_option("--tokens", command->tokens, "new tokens of each reply")
      ->capture_default_str()
      ->between(2, 1 << 20);
  decode->add_option("--rounds", command->rounds, "timed rounds, after one that warms up")
      ->capture_default_str()
      ->positive();
  decode->add_option("--temperature", command->temperature, "0 is greedy; otherwise with top-k 40")
      ->capture_default_str()
      ->not_negative();
  command->weights.add_weights_to(*decode);
  command->device.add_to(*decode);
  command->json.add_to(*decode);
  decode->callback([command] { command->run(); });
}

}  // namespace ingot::cli
