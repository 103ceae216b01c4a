// The ranks of a run: threads of this process, or processes that a launcher started and of which
// this is one.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/start/launched.h"
#include "core/error/error.h"
#include "parallel/comm/rank_launcher.h"
#include "plan/resolved_run.h"
#include "train/start/agreement.h"

namespace ingot::cli {

// The launcher's variables, read once; nothing without a launcher. Throws like launched().
const std::optional<Launched>& this_launch();
// Whether this process prints for the whole run: it is rank 0, or the only process.
bool leads_run();

// Sets system.ranks to the launcher's number of processes, if there is a launcher. Throws
// ErrorCode::Usage if the settings give another number.
RunConfig with_world(RunConfig config);

// Resolves the run on this machine, for this process' rank or for all ranks in it.
ResolvedRun resolve_started(const ValidConfig& config);

// The ranks of this process: system.ranks threads or, under a launcher, one rank that connects to
// the others. If several processes run on this machine, it binds this one to its cores, so call it
// before threads are started. If a rank is lost and a body does not return, the process ends
// (watchdog.h).
std::unique_ptr<RankLauncher> started_ranks(const ResolvedRun& run);

// Where this process computes, after started_ranks(). Only for ranks that are processes.
RankPlace place_of(const ResolvedRun& run);

// Tells the launcher's other processes, which may wait for this one, that it failed before it
// connected to them. Does nothing without a launcher.
void tell_other_ranks(const Error& error) noexcept;

// The command that resumes the run in `dir`, with the same launcher as this process.
std::string command_to_resume(const std::string& dir);

// The prefix of an error, "rank 1: ": the rank of this process or, if ranks are threads, the one
// that failed; empty if there is only one rank.
std::string speaker_of(const Error& error) noexcept;
// Whether `ingot launch`, which started this rank, shows the error. It does so for a refusal of the
// run, by this rank or by another one.
bool is_shown_by_launch(const Error& error) noexcept;

}  // namespace ingot::cli
