// What all stages of `ingot data` share: inputs, processes, progress.
#pragma once

#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/frame/command.h"
#include "cli/frame/command_line.h"
#include "cli/frame/progress_line.h"
#include "cli/remote.h"
#include "ingest/tasks/stage.h"

namespace ingot::cli {

enum class Copies { Refused, Removed };  // of an input, beside it

struct StageOptions {
  std::vector<std::string> inputs;
  std::string out;
  std::string process;  // "K/N"; empty: from srun's or mpirun's environment
  int threads;
  ReadSettings read;
  RemoteOptions remote;
  JsonOption json;

  StageOptions();
  // `read_settings`: names of those of [read] that are options; empty: all.
  void add_to(Command& command, const std::vector<std::string>& read_settings = {});
  // `read`, and how remote files are reached.
  ReadSettings read_settings() const;
  // Throws ErrorCode::Data for an input that would be read twice, as itself or, unless the stage
  // removes copies, as a copy.
  StageInputs stage_inputs(Copies copies = Copies::Refused) const;
  // Says on stderr which process this is, where there are several.
  StageRun stage_run(StageObserver& observer) const;
};

// Reads "K/N", or where that is empty what a launcher left in the environment (process_number()).
// Throws ErrorCode::Usage.
ProcessShare process_share(const std::string& option);

bool is_begun(const std::string& out);  // whether a stage has begun to write there

// Whether remote inputs are to be looked at before the work: by one process, and not again where
// the work in `out` has begun.
bool is_first_look(const std::string& out, ProcessShare share);

// Throws ErrorCode::Data where a file would be read twice; where the work in `out` was begun with
// it, by an older program, that is said and accepted.
void check_read_once(const std::vector<InputFile>& files, const std::string& out);

// Runs `command`; an error says which process it is from, where there are several. `process` as in
// process_share().
void run_as_process(const std::string& process, const std::function<void()>& command);

// How far it is, on stderr.
class StageProgress : public StageObserver {
 public:
  void on_tasks(std::string_view step, int64_t done, int64_t of) override;
  void on_documents(int64_t documents, int64_t text_bytes) override;
  void on_tokens(int64_t tokens) override;
  void on_input(int64_t bytes_read, int64_t of) override;
  void on_waiting(std::string_view step, int64_t tasks_of_others) override;

 private:
  void show();

  std::mutex mutex_;
  ProgressLine line_;
  std::string step_;
  int64_t done_ = 0, of_ = 0, documents_ = 0, bytes_ = 0, tokens_ = 0;
  int64_t bytes_read_ = 0, bytes_total_ = -1;
};

// Runs a stage with progress on stderr and, where this process is the last to finish, prints its
// report by `print` and as JSON; else it says that others still work.
void finish_stage(
    const StageOptions& options,
    const std::function<std::optional<nlohmann::json>(const StageRun& run)>& run_stage,
    const std::function<void(const nlohmann::json& report, const std::string& folder)>& print);

// What a report says about records that were no documents, a line for each reason, and about files
// that hold the same.
void print_what_was_read(const nlohmann::json& report);

}  // namespace ingot::cli
