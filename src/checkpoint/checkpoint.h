// Checkpoints: complete or absent, verified by checksum, readable under any layout.
//
// A checkpoint is a folder `step_00000100/` holding
//   rank_0.safetensors …  each rank's ranges of "weight:NAME", "moment1:NAME" and, if the optimizer
//                         has one, "moment2:NAME"; flat. Weights are F32, or F64 in a run in fp64;
//                         moments have their own dtype. Imported weights are in up to four files,
//                         which were written in parallel
//   tokenizer.bin         Tokenizer::serialize() of the run's tokenizer, unless it is the byte
//                         tokenizer
//   hf/NAME               files without weights of a model that came from a Hugging Face folder
//   manifest.json         written last: state, id of the run, resolved config (only [model] without
//                         a run), stop ids, tensor ranges, size and XXH3-64 of each file
// The folder is written under a temporary name, synced, and renamed, so it appears complete or not
// at all.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/weights.h"
#include "core/storage/state_section.h"
#include "core/storage/storage.h"
#include "parallel/comm/control.h"
#include "parallel/shard/parameter_store.h"
#include "spec/run/run_config.h"
#include "spec/table/tensor_table.h"

namespace ingot {

struct RunState {
  int64_t step = 0;     // completed steps
  int64_t tokens = 0;   // trained tokens
  int64_t samples = 0;  // the data counter
  double last_loss = 0.0;
  std::string data = {};        // what `samples` counts, as JSON; see data_identity.h
  SavedSections sections = {};  // other state that the run continues from
  std::string run = {};         // id of the run; empty: an older program's run
};

// Where imported weights came from. All empty: the weights were initialised here.
struct Origin {
  std::string format = {};        // "Hugging Face", "llama2.c"
  std::string path = {};          // as given to the import
  std::string architecture = {};  // "LlamaForCausalLM", if the format has such names
  bool operator==(const Origin&) const = default;
};

// What a checkpoint keeps besides numbers, from the first save of a run to the last.
struct AuxiliaryFiles {
  std::string tokenizer = {};  // Tokenizer::serialize(); empty for the byte tokenizer
  Origin origin = {};
  // Contents by name of files from a Hugging Face folder: config.json, tokenizer_config.json,
  // generation_config.json, the chat template, …
  std::map<std::string, std::string> hf_files = {};
  // Ids that end a text, besides the tokenizer's EOS, from the model's files: ascending, each once
  // (exchange/hf/stop_ids.h).
  std::vector<int32_t> stop_ids = {};
};

struct CheckpointInfo {
  std::string dir;
  RunState state;
  std::string config_toml;  // resolved run config; only [model] if there are only weights
  ModelConfig model;        // from config_toml
  uint64_t hash = 0;        // config_hash at save time
  std::string tokenizer;    // "byte" or the path of the tokenizer file inside dir
  bool has_optimizer = false;
  int64_t bytes = 0;
  Origin origin;
};

// Saves the whole state of a run; every rank calls it. If the store is replicated, each rank writes
// a part. A failed save throws on every rank, leaves no partial checkpoint visible and does not
// touch older ones. `timeout`: how long a rank waits for the others, each time. Returns the folder.
std::string save_checkpoint(Storage& storage, Control& control, const std::string& run_dir,
                            const RunConfig& config, const RunState& state,
                            const TensorTable& parameters, const ParameterStore& store,
                            const AuxiliaryFiles& auxiliary_files,
                            Timeout timeout = kDefaultTimeout);

// Reads tensors by name and element range; any number of ranks may have written them. Copies share
// the manifest, which is read once; each copy opens its own files.
class CheckpointReader {
 public:
  // Reads the manifest; throws ErrorCode::Data if it is missing or damaged.
  CheckpointReader(std::shared_ptr<Storage> storage, std::string dir);
  CheckpointReader(const CheckpointReader& other);
  CheckpointReader& operator=(const CheckpointReader& other);
  ~CheckpointReader();
  const CheckpointInfo& info() const;
  const std::string& manifest_text() const;  // unchanged
  // The parameter's number of elements; throws ErrorCode::Data if the checkpoint does not have it.
  int64_t numel(const std::string& name) const;
  // Elements [range) of the flattened tensor into `out` (contiguous, any shape), converted to out's
  // dtype: F64, F32, BF16 or F16. what: "weight", "moment1", "moment2". Thread-safe.
  void read(const std::string& what, const std::string& name, ShardRange range,
            const Tensor& out) const;
  // The dtype in which a weight is stored.
  DType dtype(const std::string& name) const;
  AuxiliaryFiles auxiliary_files() const;
  // Checks sizes and checksums of all files; throws ErrorCode::Data naming the first bad one.
  void verify() const;

 private:
  struct Contents;
  struct Files;
  std::shared_ptr<const Contents> contents_;
  std::unique_ptr<Files> files_;
};

// weights.read() of all elements of a parameter into a tensor on any device.
void read_weight(Context& ctx, const Weights& weights, const std::string& name, const Tensor& out);

// reader.read() into a tensor on any device.
void read_tensor(Context& ctx, const CheckpointReader& reader, const std::string& what,
                 const std::string& name, ShardRange range, const Tensor& out);

// Restores masters, moments and weights of this rank's shards and publishes them. Moments are zero
// if the checkpoint has only weights. Throws ErrorCode::Data if it belongs to another model.
RunState load_checkpoint(const CheckpointReader& reader, const TensorTable& parameters,
                         ParameterStore& store);

// Restores only weights, from another run or imported ones. Optimizer states are zero.
void load_weights(const CheckpointReader& reader, const TensorTable& parameters,
                  ParameterStore& store);

// Throws ErrorCode::Config, naming a parameter, if a run cannot begin from the checkpoint.
void check_same_shapes(const CheckpointReader& reader, const TensorTable& parameters);

// Complete checkpoints of a run, oldest first. Leftovers of interrupted saves are not listed.
std::vector<std::string> list_checkpoints(Storage& storage, const std::string& run_dir);

// The same, and step folders without a manifest. Those have lost files: an interrupted save does
// not leave such folders.
std::vector<std::string> list_step_folders(Storage& storage, const std::string& run_dir);

// Removes the oldest complete checkpoints beyond `keep` and leftovers of interrupted saves. Never
// removes the newest one that verifies.
void retain_checkpoints(std::shared_ptr<Storage> storage, const std::string& run_dir, int64_t keep);

// Writes a checkpoint folder with weights only, in the dtypes in which they are stored, into up to
// four files of `file_bytes` or more, in parallel. Throws like NewFolder, and ErrorCode::Data for a
// weight that is NaN or infinite; then no folder is made.
void write_weights(Storage& storage, const std::string& dir, const TensorTable& parameters,
                   const Weights& weights, const AuxiliaryFiles& auxiliary_files,
                   int64_t file_bytes = int64_t{256} << 20);

}  // namespace ingot
