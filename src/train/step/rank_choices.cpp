#include "train/step/rank_choices.h"

#include "core/error/error.h"
#include "core/error/log.h"

namespace ingot {

std::optional<std::string> RankChoices::ask(const std::string& what) {
  if (world_.rank() == 0) return std::nullopt;
  try {
    return world_.board().await(what, world_.deadlines().start);
  } catch (const Error& error) {
    if (world_.loss()) throw;
    log::warn("rank 0 chose nothing: this rank chooses by itself", {{"why", error.what()}});
    return std::nullopt;
  }
}

void RankChoices::tell(const std::string& what, const std::string& choice) {
  if (world_.rank() == 0) world_.board().post(what, choice);
}

}  // namespace ingot
