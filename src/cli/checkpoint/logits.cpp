// ingot checkpoint logits CKPT --ids FILE --out FILE.safetensors
#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <vector>

#include "checkpoint/new_output.h"
#include "checkpoint/safetensors.h"
#include "cli/frame/command.h"
#include "cli/frame/output_file.h"
#include "cli/start/model_argument.h"
#include "core/error/error.h"
#include "infer/reply.h"

namespace ingot::cli {
namespace {

// How many sequences it looks like: parts with ids between brackets, or lines without brackets. A
// line each for every id is one.
size_t count_sequences(std::string_view text, size_t num_ids) {
  const bool has_brackets = text.find_first_of("[]") != std::string_view::npos;
  const std::string_view between = has_brackets ? "[]" : "\r\n";
  size_t parts = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_of(between, at), text.size());
    if (text.substr(at, end - at).find_first_of("0123456789") != std::string_view::npos) ++parts;
    at = end + 1;
  }
  return has_brackets || parts < num_ids ? parts : 1;
}

// Whole numbers, with spaces, line ends, commas or brackets between them.
std::vector<int32_t> parse_ids(std::string_view text, const std::string& path) {
  constexpr std::string_view kBetween = " \t\r\n,[]";
  std::vector<int32_t> ids;
  for (size_t at = text.find_first_not_of(kBetween); at != std::string_view::npos;
       at = text.find_first_not_of(kBetween, at)) {
    const size_t end = std::min(text.find_first_of(kBetween, at), text.size());
    int32_t id = -1;
    const auto [stop, error] = std::from_chars(text.data() + at, text.data() + end, id);
    check(error == std::errc{} && stop == text.data() + end, ErrorCode::Data,
          "{}: expected ids of tokens, got \"{}\"", path, on_one_line(text.substr(at, end - at)));
    ids.push_back(id);
    at = end;
  }
  check(!ids.empty(), ErrorCode::Data, "{}: expected ids of tokens, got none", path);
  const size_t sequences = count_sequences(text, ids.size());
  check(sequences == 1, ErrorCode::Data,
        "{}: expected one sequence of ids, got {}: give each a file of its own; if they are one, "
        "write [ before it and ] after it",
        path, sequences);
  return ids;
}

struct Logits {
  ModelArgument chosen;
  std::string ids_path;
  OutputFile out;
  JsonOption json;

  void run() const {
    out.check_free();
    const auto storage = posix_storage();
    const std::vector<int32_t> ids = parse_ids(read_text(*storage, ids_path), ids_path);
    const auto T = static_cast<int64_t>(ids.size());
    const OpenedModel opened = chosen.open({.context = T});
    const int64_t V = opened.model->config().vocab;
    // Logits (T, V): row t is what follows ids[0..t].
    NewFile file(*storage, out.path(), out.existing());
    write_safetensors(*storage, file.path(), {{"logits", {T, V}, DType::F32}},
                      [&](size_t, const PutElements& put) {
                        for_each_logits(*opened.model, ids, [&](std::span<const float> row) {
                          put(Tensor::contiguous(const_cast<float*>(row.data()), DType::F32, {V}));
                        });
                      });
    file.publish();
    fmt::print("{}: logits of {} tokens over {} ids\n", out.path(), T, V);
    json.print({{"out", out.path()}, {"tokens", T}, {"vocab", V}});
  }
};

}  // namespace

void add_checkpoint_logits(Command& checkpoint) {
  auto options = std::make_shared<Logits>();
  auto* logits = checkpoint.add_subcommand(
      "logits", "write the logits of given ids, to compare with another program's");
  options->chosen.add_path_to(*logits);
  logits->add_option("--ids", options->ids_path, "text file of token ids")->required();
  options->out.add_to(*logits, "--out", "file to write (.safetensors)")->required();
  options->chosen.device.add_to(*logits);
  options->json.add_to(*logits);
  logits->callback([options] { options->run(); });
}

}  // namespace ingot::cli
