// ingot generate CKPT
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "cli/frame/command.h"
#include "cli/start/machine.h"
#include "core/storage/storage.h"
#include "infer/generate.h"

namespace ingot::cli {
namespace {

struct GenerateCommand {
  std::string checkpoint;
  std::string prompt;
  int64_t tokens = 0;
  int64_t context = 0;
  DeviceOptions device;
  SamplingOptions sampling;
  JsonOption json;

  void run() const {
    const auto compute = device.open();
    Generator generator(compute->context(), posix_storage(), checkpoint, context);
    constexpr int64_t kUsual = 200;
    const int64_t wanted =
        tokens > 0 ? tokens : std::clamp<int64_t>(generator.room_after(prompt), 1, kUsual);

    fmt::print("{}", prompt);
    std::string text;
    const auto ids =
        generator.generate(prompt, wanted, sampling, [&](int32_t, std::string_view piece) {
          fmt::print("{}", piece);
          std::fflush(stdout);
          text += piece;
          return true;
        });
    fmt::print("\n");
    json.print({{"prompt", prompt}, {"text", text}, {"ids", ids}, {"tokens", ids.size()}});
  }
};

}  // namespace

void add_generate(Command& app) {
  auto command = std::make_shared<GenerateCommand>();
  auto* generate = app.add_subcommand("generate", "write text with a trained model");
  generate
      ->add_option("checkpoint", command->checkpoint,
                   "checkpoint, run folder, Hugging Face folder or GGUF file")
      ->required();
  generate->add_option("--prompt", command->prompt,
                       "text to continue; empty: from BOS, or EOS where there is none");
  generate
      ->add_option("--tokens", command->tokens,
                   "new tokens at most; unless given, 200 or what the context has room for")
      ->positive();
  generate
      ->add_option("--temperature", command->sampling.temperature,
                   "0 takes the likeliest token every time")
      ->capture_default_str()
      ->not_negative();
  generate->add_option("--top-k", command->sampling.top_k, "keep the k likeliest; 0 = all")
      ->capture_default_str()
      ->not_negative();
  generate
      ->add_option("--top-p", command->sampling.top_p,
                   "keep the likeliest that reach this probability together")
      ->capture_default_str()
      ->between(0.0, 1.0);
  generate->add_option("--seed", command->sampling.seed, "same seed, same text")
      ->capture_default_str();
  generate->add_option("--context", command->context, "KV cache length; 0 = the model's own")
      ->capture_default_str()
      ->not_negative();
  command->device.add_to(*generate);
  command->json.add_to(*generate);
  generate->callback([command] { command->run(); });
}

}  // namespace ingot::cli
