#include "cli/eval/item_log.h"

#include <span>

namespace ingot::cli {

ItemLog::ItemLog(const OutputFile& out) {
  if (!out.is_given()) return;
  file_.emplace(*storage_, out.path(), out.existing());
  writer_ = storage_->create(file_->path());
}

void ItemLog::write(const nlohmann::ordered_json& item) {
  if (!file_) return;
  waiting_ += item.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  constexpr size_t kPiece = size_t{1} << 16;
  if (waiting_.size() < kPiece) return;
  writer_->append(std::as_bytes(std::span(waiting_)));
  waiting_.clear();
}

void ItemLog::publish() {
  if (!file_) return;
  writer_->append(std::as_bytes(std::span(waiting_)));
  writer_->sync();
  writer_->close();
  file_->publish();
}

}  // namespace ingot::cli
