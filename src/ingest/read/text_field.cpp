#include "ingest/read/text_field.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/error/error.h"
#include "core/error/log.h"
#include "ingest/read/byte_stream.h"
#include "ingest/read/document_reader.h"
#include "ingest/read/remote/begun_streams.h"
#include "ingest/read/remote/remote.h"

namespace ingot {
namespace {

using nlohmann::json;

constexpr int64_t kEnoughRecords = 100;
constexpr size_t kMostFields = 20;
constexpr size_t kMostFiles = 16;

[[noreturn]] void refuse(const std::string& location, const std::string& field,
                         const std::set<std::string>& string_fields) {
  const std::string there =
      string_fields.empty() ? "none" : fmt::format("{}", fmt::join(string_fields, ", "));
  throw Error(ErrorCode::Data,
              fmt::format("{}: no text in the field «{}»; fields that hold strings: {} "
                          "(--text-field)",
                          location, field, there));
}

bool has_fields(const InputFile& file) {
  const std::string kind = file_kind(file.name).kind;
  return kind != ".txt" && kind != ".md" && kind != ".warc";
}

}  // namespace

void TextFieldWatch::on_record_without_text(std::string_view record, const std::string& field,
                                            const std::string& location) {
  if (is_over_) return;
  const json parsed = json::parse(record, nullptr, false);
  if (!parsed.is_object()) return;
  for (const auto& [name, value] : parsed.items()) {
    if (value.is_string() && string_fields_.size() < kMostFields) string_fields_.insert(name);
  }
  if (++records_ == kEnoughRecords) refuse(location, field, string_fields_);
}

#include "spec/settings/rows.h"

std::vector<Setting> settings_of(ReadSettings& section) {
  const std::string prefix = "read.";
  std::vector<Setting> rows;
#include "ingest/read/read.def"
  return rows;
}

#include "spec/settings/end.h"

namespace {

// Of what is stored; what it unpacks to is looked at as it is read.
void check_head(const InputFile& file, Storage& storage) {
  std::error_code error;
  if (!file_kind(file.name).compression.empty() ||
      !std::filesystem::is_regular_file(file.location, error))
    return;
  std::array<char, 4> head{};
  const size_t count = open_byte_stream(storage, file.location)->read(head.data(), head.size());
  check_first_bytes(file, {head.data(), count});
}

// Of files without fields the text is all that there is.
void warn_of_unused_fields(const std::vector<InputFile>& files, ReadSettings& settings) {
  if (files.empty() || std::any_of(files.begin(), files.end(), has_fields)) return;
  ReadSettings defaults;
  const std::vector<Setting> given = settings_of(settings), usual = settings_of(defaults);
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i].name.ends_with("_field") && given[i].get() != usual[i].get())
      log::warn("no_effect",
                {{"setting", given[i].name}, {"why", "no input file has records with fields"}});
}

// Fields that the user named and the first record with text lacks; ids are made up in their place.
void warn_of_absent_fields(const InputFile& file, const Document& first,
                           const ReadSettings& settings) {
  const ReadSettings defaults;
  const auto warn = [&](std::string_view setting, const std::string& field) {
    log::warn("no_such_field", {{"setting", std::string(setting)},
                                {"field", field},
                                {"in", "the first record of " + file.location}});
  };
  if (settings.id_field != defaults.id_field && first.id.starts_with(file.name + ":"))
    warn("read.id_field", settings.id_field);
  if (settings.url_field != defaults.url_field && first.url.empty())
    warn("read.url_field", settings.url_field);
}

void look(const std::vector<InputFile>& files, const ReadSettings& settings, bool remote_too) {
  std::set<std::string> string_fields;
  int64_t without_text = 0;
  size_t num_files = 0;
  for (const InputFile& file : files) {
    if (!has_fields(file) || (is_remote(file.location) && !remote_too)) return;
    if (++num_files > kMostFiles) return;
    const auto reader = open_documents(file, settings);
    Document document;
    if (reader->next(document)) {
      if (remote_too) warn_of_absent_fields(file, document, settings);
      return;
    }
    for (const char* reason : {"no_text", "not_a_string"}) {
      const auto found = reader->counts().skipped.find(reason);
      without_text += found == reader->counts().skipped.end() ? 0 : found->second;
    }
    string_fields.merge(reader->string_fields());
  }
  if (without_text > 0) refuse(files.front().location, settings.text_field, string_fields);
}

}  // namespace

void check_text_field(const std::vector<InputFile>& files, ReadSettings& settings,
                      bool remote_too) {
  if (settings.begun == nullptr) settings.begun = std::make_shared<BegunStreams>();
  if (remote_too)
    for (const InputFile& file : files)
      if (!is_remote(file.location)) check_head(file, *settings.storage);
  if (remote_too) warn_of_unused_fields(files, settings);
  settings.begun->record(true);
  look(files, settings, remote_too);
  settings.begun->record(false);
}

}  // namespace ingot
