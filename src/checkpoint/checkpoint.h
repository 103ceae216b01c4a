// Checkpoints: complete or absent, verified by checksum, readable under any layout.
//
// A checkpoint is a folder `step_00000100/` holding
//   rank_0.safetensors …  each rank's ranges of "weight:NAME", "moment1:NAME", "moment2:NAME"
//                         (flat; F32, or F64 of a run in fp64, moments as they are kept); the last
//                         where the optimizer keeps one. Imported weights: in as many as are
//                         written side by side
//   tokenizer.bin         Tokenizer::serialize() of what the text was encoded with, when it is not
//                         the byte tokenizer
//   hf/NAME               of a model that came from a Hugging Face folder: its files of no weights
//   manifest.json         written last: state, id of the run, resolved config (of weights alone
//                         their [model]), stop ids, tensor ranges, size and XXH3-64 of each file
// The folder is written under a temporary name, synced, and renamed: it is there whole or not at
// all.
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
  SavedSections sections = {};  // what else the run continues from
  std::string run = {};         // which run it is; empty: of a program before runs had ids
};

// Where weights came from that were not initialised here. All empty: they were.
struct Origin {
  std::string format = {};        // "Hugging Face", "llama2.c"
  std::string path = {};          // as it was named to the import
  std::string architecture = {};  // "LlamaForCausalLM", where the format has such names
  bool operator==(const Origin&) const = default;
};

// What a checkpoint keeps besides numbers, from the first save of a run to the last.
struct AuxiliaryFiles {
  std::string tokenizer = {};  // as it serializes; empty for the byte tokenizer
  Origin origin = {};
  // By name, of a Hugging Face folder: config.json, tokenizer_config.json, generation_config.json,
  // the chat template, …
  std::map<std::string, std::string> hf_files = {};
  // Ids of tokens that end a text as the tokenizer's EOS does, of the files that the model came
  // with: ascending, each once (exchange/hf/stop_ids.h).
  std::vector<int32_t> stop_ids = {};
};

struct CheckpointInfo {
  std::string dir;
  RunState state;
  std::string config_toml;  // resolved run config; of weights alone, their [model]
  ModelConfig model;        // from it
  uint64_t hash = 0;        // config_hash at save time
  std::string tokenizer;    // "byte" or the path of the tokenizer file inside dir
  bool has_optimizer = false;
  int64_t bytes = 0;
  Origin origin;
};

// Saves a whole run state; every rank calls it. Of a replicated store each rank writes its share. A
// failed save throws on every rank, leaves no partial checkpoint visible and touches no older one.
// `timeout`: how long a rank waits for the others, each time. Returns the folder.
std::string save_checkpoint(Storage& storage, Control& control, const std::string& run_dir,
                            const RunConfig& config, const RunState& state,
                            const TensorTable& parameters, const ParameterStore& store,
                            const AuxiliaryFiles& auxiliary_files,
                            Timeout timeout = kDefaultTimeout);

// Reads tensors by name and element range, whatever the number of ranks that wrote them. Copies
// share the manifest, which is read once; each has open files of its own.
class CheckpointReader {
 public:
  // Reads the manifest; throws ErrorCode::Data when it is missing or damaged.
  CheckpointReader(std::shared_ptr<Storage> storage, std::string dir);
  CheckpointReader(const CheckpointReader& other);
  CheckpointReader& operator=(const CheckpointReader& other);
  ~CheckpointReader();
  const CheckpointInfo& info() const;
  const std::string& manifest_text() const;  // as it was read
  // Elements of the whole parameter; throws ErrorCode::Data when the checkpoint has none such.
  int64_t numel(const std::string& name) const;
  // Elements [range) of the flattened tensor into `out` (contiguous, any shape), converted to out's
  // dtype: F64, F32, BF16 or F16. what: "weight", "moment1", "moment2". Thread-safe.
  void read(const std::string& what, const std::string& name, ShardRange range,
            const Tensor& out) const;
  // Of a weight, as it is stored.
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

// weights.read() of a whole parameter into a tensor on any device.
void read_weight(Context& ctx, const Weights& weights, const std::string& name, const Tensor& out);

// reader.read() into a tensor on any device.
void read_tensor(Context& ctx, const CheckpointReader& reader, const std::string& what,
                 const std::string& name, ShardRange range, const Tensor& out);

// Restores masters, moments and weights of this rank's shards and publishes them. Moments are zero
// where the checkpoint holds weights alone. Throws ErrorCode::Data when it is of another model.
RunState load_checkpoint(const CheckpointReader& reader, const TensorTable& parameters,
                         ParameterStore& store);

// The weights alone: of another run, or imported. States of the optimizer are zero.
void load_weights(const CheckpointReader& reader, const TensorTable& parameters,
                  ParameterStore& store);

// Throws ErrorCode::Config, naming the parameter, where a run cannot begin from the checkpoint.
void check_same_shapes(const CheckpointReader& reader, const TensorTable& parameters);

// Complete checkpoints of a run, oldest first. Leftovers of interrupted saves are not listed.
std::vector<std::string> list_checkpoints(Storage& storage, const std::string& run_dir);

// The same and folders of steps without a manifest, of which a part was lost: a save that is
// interrupted leaves none such.
std::vector<std::string> list_step_folders(Storage& storage, const std::string& run_dir);

// Removes the oldest complete checkpoints beyond `keep` and leftovers of interrupted saves. Never
// removes the newest one that verifies.
void retain_checkpoints(std::shared_ptr<Storage> storage, const std::string& run_dir, int64_t keep);

// Writes a checkpoint folder of weights alone, in the dtypes that they are stored in. Throws as
// NewFolder, and ErrorCode::Data for a weight that is NaN or infinite; no folder is made then. In
// up to four files of `file_bytes` or more, which are written side by side.
void write_weights(Storage& storage, const std::string& dir, const TensorTable& parameters,
                   const Weights& weights, const AuxiliaryFiles& auxiliary_files,
                   int64_t file_bytes = int64_t{256} << 20);

}  // namespace ingot
