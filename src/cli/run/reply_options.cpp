#include "cli/run/reply_options.h"

#include <charconv>

#include "core/error/error.h"

namespace ingot::cli {
namespace {

template <class T>
bool parse(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

std::pair<int32_t, float> parse_bias(std::string_view text) {
  const size_t at = text.find('=');
  std::pair<int32_t, float> bias;
  check(at != std::string_view::npos && parse(text.substr(0, at), bias.first) &&
            parse(text.substr(at + 1), bias.second),
        ErrorCode::Usage, "--logit-bias {}: expected ID=VALUE, such as 13=-2.5 or 13=-inf", text);
  return bias;
}

}  // namespace

void ReplyOptions::add_to(Command& command) {
  command
      .add_option("--temperature", sampling.temperature, "0 takes the likeliest token every time")
      ->capture_default_str()
      ->not_negative();
  command.add_option("--top-k", sampling.top_k, "keep the k likeliest; 0 = all")
      ->capture_default_str()
      ->not_negative();
  command
      .add_option("--top-p", sampling.top_p,
                  "keep the fewest likeliest that reach this probability")
      ->capture_default_str()
      ->between(0.0, 1.0);
  command
      .add_option("--min-p", sampling.min_p,
                  "keep those at least this fraction as likely as the likeliest")
      ->capture_default_str()
      ->between(0.0, 1.0);
  command
      .add_option("--repetition-penalty", sampling.repetition_penalty,
                  "divides logits of tokens in prompt and reply; 1 = off")
      ->capture_default_str();
  command
      .add_option("--presence-penalty", sampling.presence_penalty,
                  "subtracted from logits of tokens in the reply")
      ->capture_default_str();
  command
      .add_option("--frequency-penalty", sampling.frequency_penalty,
                  "subtracted for each time that a token is in the reply")
      ->capture_default_str();
  command.add_option("--logit-bias", biases, "ID=VALUE, added to a token's logit; -inf forbids it")
      ->allow_extra_args(false);
  command.add_option("--seed", sampling.seed, "same seed, same text")->capture_default_str();
  command.add_option("--stop", stop_strings, "text that ends the reply and is not part of it")
      ->allow_extra_args(false);
  command.add_option("--stop-id", stop_ids, "token that ends the reply, besides the model's own")
      ->allow_extra_args(false);
  command.add_flag("--ignore-eos", ignore_eos, "continue at the model's own stop tokens");
  command.add_flag("--slide", slide,
                   "drop the oldest half when the context is full, instead of ending");
}

Request ReplyOptions::request(const LoadedModel& model, std::vector<int32_t> prompt) const {
  Request request{.prompt = std::move(prompt), .sampling = sampling};
  for (const std::string& bias : biases) request.sampling.logit_bias.push_back(parse_bias(bias));
  if (!ignore_eos) request.stop_ids = model.stop_ids();
  for (const std::string& text : stop_ids) {
    int32_t id = -1;
    check(parse(text, id) && 0 <= id && id < model.config().vocab, ErrorCode::Usage,
          "--stop-id: expected 0 to {}, got {}", model.config().vocab - 1, text);
    request.stop_ids.push_back(id);
  }
  request.slide = slide;
  return request;
}

}  // namespace ingot::cli
