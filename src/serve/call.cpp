#include "serve/call.h"

#include <fmt/format.h>

#include <cmath>
#include <random>

#include "core/error/error.h"
#include "infer/model.h"

namespace ingot::serve {
namespace {

constexpr int64_t kMostLogprobs = 20;
constexpr size_t kMostStops = 16, kMostStopBytes = 1024;

bool is_false(const Json& value) {
  return value.is_boolean() && !value.get<bool>();
}
bool is_empty_list(const Json& value) {
  return value.is_array() && value.empty();
}
bool is_anything(const Json&) {
  return true;
}

void add_stops(CallFields& fields, Call& call) {
  const Json* stop = fields.find("stop");
  if (stop == nullptr) return;
  const auto add = [&](const Json& one) {
    if (!one.is_string() || one.get_ref<const std::string&>().empty() ||
        one.get_ref<const std::string&>().size() > kMostStopBytes)
      throw ApiError(400, "stop: expected a string, or a list of them, none of them empty", "stop",
                     "invalid_value");
    call.stop.push_back(one.get<std::string>());
  };
  if (!stop->is_array()) return add(*stop);
  if (stop->size() > kMostStops)
    throw ApiError(400, fmt::format("stop: expected at most {} strings", kMostStops), "stop",
                   "invalid_value");
  for (const Json& one : *stop) add(one);
}

void add_bias(CallFields& fields, SamplingOptions& sampling) {
  const Json* bias = fields.find("logit_bias");
  if (bias == nullptr) return;
  const auto refuse = [] {
    throw ApiError(400, "logit_bias: expected an object of token ids and numbers from -100 to 100",
                   "logit_bias", "invalid_value");
  };
  if (!bias->is_object()) refuse();
  for (const auto& [id, value] : bias->items()) {
    const bool is_id =
        !id.empty() && id.size() < 10 && id.find_first_not_of("0123456789") == std::string::npos;
    if (!is_id || !value.is_number() || std::abs(value.get<double>()) > 100) refuse();
    sampling.logit_bias.emplace_back(std::stoi(id), value.get<float>());
  }
}

void add_stop_ids(CallFields& fields, const std::vector<int32_t>& own, Request& request) {
  if (!fields.flag("ignore_eos").value_or(false)) request.stop_ids = own;
  const Json* ids = fields.find("stop_token_ids");
  if (ids == nullptr) return;
  if (!ids->is_array())
    throw ApiError(400, "stop_token_ids: expected a list of ids", "stop_token_ids",
                   "invalid_value");
  for (const Json& id : *ids) {
    if (!id.is_number_integer() || id < 0 || id > INT32_MAX)
      throw ApiError(400, "stop_token_ids: expected a list of ids", "stop_token_ids",
                     "invalid_value");
    request.stop_ids.push_back(id.get<int32_t>());
  }
}

// What both kinds of request may say, but for what they log.
void add_common(CallFields& fields, const std::vector<int32_t>& stop_ids, Call& call) {
  SamplingOptions& sampling = call.request.sampling;
  sampling.temperature = fields.number("temperature").value_or(1.0);
  sampling.top_p = fields.number("top_p").value_or(1.0);
  sampling.top_k = fields.integer("top_k", -1, INT32_MAX).value_or(0);
  if (sampling.top_k < 0) sampling.top_k = 0;
  sampling.min_p = fields.number("min_p").value_or(0.0);
  sampling.repetition_penalty = fields.number("repetition_penalty").value_or(1.0);
  sampling.presence_penalty = fields.number("presence_penalty").value_or(0.0);
  sampling.frequency_penalty = fields.number("frequency_penalty").value_or(0.0);
  const auto seed = fields.integer("seed", INT64_MIN, INT64_MAX);
  sampling.seed = seed ? static_cast<uint64_t>(*seed)
                       : (uint64_t{std::random_device()()} << 32 | std::random_device()());
  add_bias(fields, sampling);
  add_stops(fields, call);
  add_stop_ids(fields, stop_ids, call.request);
  call.num_choices = fields.integer("n", 1, kMostChoices).value_or(1);
  call.stream = fields.flag("stream").value_or(false);
  if (const Json* options = fields.find("stream_options")) {
    if (!call.stream || !options->is_object())
      throw ApiError(400, "stream_options: expected an object, with \"stream\": true",
                     "stream_options", "invalid_value");
    CallFields inner(*options);
    call.include_usage = inner.flag("include_usage").value_or(false);
    inner.harmless("include_obfuscation", is_false);
    inner.refuse_others();
  }
  for (const char* name :
       {"user", "metadata", "safety_identifier", "prompt_cache_key", "service_tier"})
    fields.harmless(name, is_anything);
}

std::vector<int32_t> ids_in(const Json& list, int64_t vocab) {
  std::vector<int32_t> ids;
  for (const Json& id : list) {
    if (!id.is_number_integer() || id < 0 || id >= vocab)
      throw ApiError(400, fmt::format("prompt: expected ids from 0 to {}", vocab - 1), "prompt",
                     "invalid_value");
    ids.push_back(id.get<int32_t>());
  }
  return ids;
}

// A string, ids, or a list of strings or of lists of ids.
std::vector<std::vector<int32_t>> prompts_in(const Json* prompt, LoadedModel& model) {
  const auto refuse = [] {
    throw ApiError(400, "prompt: expected a string, a list of token ids, or a list of those",
                   "prompt", "invalid_value");
  };
  std::vector<std::vector<int32_t>> prompts;
  const int64_t vocab = model.config().vocab;
  const auto add = [&](const Json& one) {
    if (one.is_string())
      prompts.push_back(model.prompt_ids(one.get<std::string>()));
    else if (one.is_array())
      prompts.push_back(ids_in(one, vocab));
    else
      refuse();
  };
  if (prompt == nullptr) refuse();
  const bool is_list = prompt->is_array() && !prompt->empty() && !(*prompt)[0].is_number();
  if (!is_list)
    add(*prompt);
  else
    for (const Json& one : *prompt) add(one);
  for (const auto& ids : prompts)
    if (ids.empty())
      throw ApiError(400, "prompt: expected at least one token", "prompt", "invalid_value");
  return prompts;
}

// Content as one text. Templates take texts alone.
std::string content_of(const Json& message, const std::string& where) {
  const auto found = message.find("content");
  if (found == message.end() || found->is_null()) return "";
  if (found->is_string()) return found->get<std::string>();
  std::string text;
  if (!found->is_array())
    throw ApiError(400, where + ".content: expected a string or a list of parts",
                   where + ".content", "invalid_value");
  for (size_t i = 0; i < found->size(); ++i) {
    const Json& part = (*found)[i];
    const bool is_text = part.is_object() && part.value("type", "") == "text" &&
                         part.contains("text") && part["text"].is_string();
    const std::string place = fmt::format("{}.content.{}", where, i);
    if (!is_text)
      throw ApiError(400, place + ": this server supports parts of type \"text\" alone", place,
                     "unsupported_parameter");
    text += part["text"].get<std::string>();
  }
  return text;
}

// Of messages, what a template gets to see.
Json checked_messages(const Json* messages) {
  if (messages == nullptr || !messages->is_array() || messages->empty())
    throw ApiError(400, "messages: expected a list with at least one message", "messages",
                   "invalid_value");
  Json checked = Json::array();
  for (size_t i = 0; i < messages->size(); ++i) {
    const Json& message = (*messages)[i];
    const std::string where = fmt::format("messages.{}", i);
    if (!message.is_object() || !message.contains("role") || !message["role"].is_string())
      throw ApiError(400, where + ": expected an object with \"role\" and \"content\"", where,
                     "invalid_value");
    for (const auto& [name, value] : message.items()) {
      const bool is_known = name == "role" || name == "content" || name == "name" ||
                            value.is_null() || is_empty_list(value);
      if (!is_known)
        throw ApiError(
            400, fmt::format("{}.{}: this server does not support it: leave it out", where, name),
            where + "." + name, "unsupported_parameter");
    }
    const auto role = message["role"].get<std::string>();
    Json one = {{"role", role == "developer" ? "system" : role},
                {"content", content_of(message, where)}};
    if (message.contains("name")) one["name"] = message["name"];
    checked.push_back(std::move(one));
  }
  return checked;
}

void check_count(const Call& call) {
  if (static_cast<int64_t>(call.prompts.size()) > kMostChoices / call.num_choices)
    throw ApiError(
        400, fmt::format("n: expected at most {} choices, for all prompts together", kMostChoices),
        "n", "invalid_value");
}

}  // namespace

Call chat_call(const Json& body, LoadedModel& model, const ChatFormat& format) {
  CallFields fields(body);
  Call call;
  call.is_chat = true;
  fields.find("model");
  const Json* template_values = fields.find("chat_template_kwargs");
  Json conversation = template_values != nullptr && template_values->is_object() ? *template_values
                                                                                 : Json::object();
  conversation["messages"] = checked_messages(fields.find("messages"));
  add_common(fields, format.stop_ids(), call);
  if (!format.stop_text().empty()) call.stop.push_back(format.stop_text());
  const auto most = fields.integer("max_tokens", 1, INT32_MAX);
  call.request.max_tokens = fields.integer("max_completion_tokens", 1, INT32_MAX)
                                .value_or(most.value_or(model.engine().max_tokens()));
  const bool logs = fields.flag("logprobs").value_or(false);
  const auto top = fields.integer("top_logprobs", 0, kMostLogprobs);
  if (top && !logs)
    throw ApiError(400, "top_logprobs: expected \"logprobs\": true beside it", "top_logprobs",
                   "invalid_value");
  if (logs) call.logprobs = top.value_or(0);
  fields.harmless("tools", is_empty_list);
  fields.harmless("functions", is_empty_list);
  fields.harmless("tool_choice", [](const Json& v) { return v == "none" || v == "auto"; });
  fields.harmless("function_call", [](const Json& v) { return v == "none" || v == "auto"; });
  fields.harmless("parallel_tool_calls", is_anything);
  fields.harmless("store", is_false);
  fields.harmless("modalities", [](const Json& v) { return v == Json::array({"text"}); });
  fields.harmless("response_format", [](const Json& v) { return v == Json{{"type", "text"}}; });
  fields.refuse_others();
  call.request.top_logprobs = call.logprobs;
  try {
    call.prompts.push_back(format.prompt_ids(conversation.dump(), "messages"));
  } catch (const Error& error) {
    throw ApiError(400, error.what(), "messages", "invalid_value");
  }
  check_count(call);
  return call;
}

Call completion_call(const Json& body, LoadedModel& model) {
  CallFields fields(body);
  Call call;
  fields.find("model");
  call.prompts = prompts_in(fields.find("prompt"), model);
  add_common(fields, model.stop_ids(), call);
  call.request.max_tokens = fields.integer("max_tokens", 0, INT32_MAX).value_or(16);
  call.logprobs = fields.integer("logprobs", 0, kMostLogprobs).value_or(-1);
  call.echo = fields.flag("echo").value_or(false);
  if (call.request.max_tokens == 0 && !call.echo)
    throw ApiError(400, "max_tokens: expected at least 1 without \"echo\": true", "max_tokens",
                   "invalid_value");
  const auto best_of = fields.integer("best_of", 1, kMostChoices);
  if (best_of && *best_of != call.num_choices)
    throw ApiError(400, "best_of: this server does not support it: leave it out", "best_of",
                   "unsupported_parameter");
  fields.harmless("suffix", [](const Json& v) { return v == ""; });
  fields.refuse_others();
  call.request.top_logprobs = call.logprobs;
  if (call.echo && call.logprobs >= 0) call.request.prompt_scores_from = 0;
  check_count(call);
  return call;
}

}  // namespace ingot::serve
