#include "ops/embedding.h"

#include "ops/common/checks.h"
#include "ops/common/dispatch.h"
#include "ops/kernels/embedding.h"

namespace ingot {
namespace {

// tokens(N) against rows(N, C) and table(V, C).
void check_lookup(const char* op, const Tensor& tokens, const Tensor& rows, const Tensor& table) {
  check_rank(op, "tokens", tokens, 1);
  check_rank(op, "table", table, 2);
  check_dtype(op, "tokens", tokens, DType::I32);
  check_float(op, "rows", rows);
  check_shape(op, "rows", rows, {tokens.shape[0], table.shape[1]});
  check_contiguous(op, "tokens", tokens);
  check_contiguous(op, "rows", rows);
  check_contiguous(op, "table", table);
  check(tokens.device == rows.device && tokens.device == table.device, ErrorCode::Internal,
        "{}: expected tensors on one device, got {}, {} and {}", op, tokens, rows, table);
  if (tokens.device.kind == DeviceKind::Cuda) return;  // the host cannot look at the ids
  const int32_t* ids = tokens.as<int32_t>();
  for (int64_t n = 0; n < tokens.shape[0]; ++n)
    check(ids[n] >= 0 && ids[n] < table.shape[0], ErrorCode::Data,
          "token {} at position {} is outside the vocabulary of {}: was the data made with another "
          "tokenizer?",
          ids[n], n, table.shape[0]);
}

}  // namespace

void embedding_forward(Context& ctx, const Tensor& tokens, const Tensor& table, const Tensor& out) {
  check_lookup("embedding_forward", tokens, out, table);
  check_dtype("embedding_forward", "table", table, out.dtype);
  INGOT_DISPATCH(out, embedding_forward, ctx, tokens, table, out);
}

void embedding_add(Context& ctx, const Tensor& tokens, const Tensor& table, const Tensor& out) {
  check_lookup("embedding_add", tokens, out, table);
  check_dtype("embedding_add", "table", table, out.dtype);
  INGOT_DISPATCH(out, embedding_add, ctx, tokens, table, out);
}

void embedding_backward(Context& ctx, const Tensor& tokens, const Tensor& dout,
                        const Tensor& dtable) {
  check_lookup("embedding_backward", tokens, dout, dtable);
  check_dtype("embedding_backward", "dtable", dtable, accumulation_dtype(dout.dtype));
  INGOT_DISPATCH(dtable, embedding_backward, ctx, tokens, dout, dtable);
}

int64_t embedding_backward_workspace_bytes(const DeviceFacts& facts, int64_t num_tokens) {
  if (facts.kind == DeviceKind::Cpu) return 0;
  // Positions, sorted ids and sorted positions.
  return 3 * align_up(num_tokens * size_of(DType::I32)) + cuda::embedding_sort_bytes(num_tokens);
}

}  // namespace ingot
