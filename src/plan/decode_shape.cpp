#include "plan/decode_shape.h"

#include <algorithm>

#include "core/error/error.h"
#include "core/tensor/kv_page.h"
#include "plan/workspace.h"

namespace ingot {

DecodeShape decode_shape(const DeviceFacts& facts, const ModelConfig& config,
                         const ModelOptions& options) {
  const bool may_exceed = options.beyond_context && config.positions == Positions::Rotary;
  check(options.context <= config.context || may_exceed, ErrorCode::Usage,
        "the model was built for a context of {} tokens, {} were asked for", config.context,
        options.context);
  DecodeShape shape;
  shape.weights = options.weights;
  shape.packed = facts.kind == DeviceKind::Cpu;
  shape.context = options.context > 0 ? options.context : config.context;
  shape.max_sequences = options.max_sequences;
  shape.max_rows = std::max(options.max_sequences, options.max_rows);
  shape.max_logit_rows = std::max(options.max_sequences, options.max_logit_rows);
  const int64_t pages_of_one = (shape.context + kPageTokens - 1) / kPageTokens;
  shape.pages = options.pages > 0 ? options.pages : options.max_sequences * pages_of_one;
  shape.workspace_bytes = decode_workspace_bytes(facts, config, shape);
  return shape;
}

}  // namespace ingot
