#include "train/start/trainer.h"

#include <optional>
#include <utility>

#include "checkpoint/manifest.h"
#include "core/error/error.h"
#include "train/loop.h"
#include "train/start/resume.h"

namespace ingot {
namespace {

// What the ranks of one process have together. Where ranks are threads, rank 0 makes it.
struct OfProcess {
  RunFolder folder;  // rank 0 alone takes it
  std::optional<PreparedRun> prepared = {};
  Companions companions = {};
};

class Preparation {
 public:
  Preparation(std::shared_ptr<Storage> storage, const ResolvedRun& resolved,
              const TrainOptions& options, World& world)
      : storage_(std::move(storage)),
        resolved_(resolved),
        options_(options),
        control_(world.control()),
        deadlines_(world.deadlines()),
        is_process_(!world.process().rendezvous.empty()),
        leads_(world.rank() == 0) {}

  void make(OfProcess& of) {
    std::vector<RankPlace> places;
    if (is_process_)
      places = agree_on_settings(control_, options_.build, resolved_.recorded, options_.place);
    if (leads_) of.folder.take();
    if (is_process_) agree_on_folder(control_, *storage_, dir(), options_.place.host);
    const auto from = resume_point();
    if (leads_ || is_process_) {
      of.prepared = prepare_run(storage_, resolved_, from, options_.accept_schedule, leads_);
      if (leads_)
        for (const auto& source : of.prepared->data.sources) source->compare_in_background();
      of.prepared->places = std::move(places);
      of.companions = companions_of(*of.prepared);
    }
    control_.barrier("prepared", patience());
    if (is_process_) agree_on_contents_of(of);
  }

 private:
  const std::string& dir() const { return resolved_.config.checkpoint.dir; }
  // To verify a checkpoint, or to open the data, may take as long as to save one.
  Patience patience() const { return deadlines_.save; }

  // Rank 0's choice, in the folder as this rank has it.
  std::optional<std::string> resume_point() {
    std::string name;
    if (leads_)
      if (const auto found = find_resume_point(storage_, resolved_, options_.resume))
        name = file_name(*found);
    name = control_.gather("where the run starts", name, patience())[0];
    return name.empty() ? std::nullopt : std::optional(join_path(dir(), name));
  }

  // What came with the weights stays with them, as far as it is about the same tokens.
  Companions companions_of(const PreparedRun& run) const {
    const Tokenizer& tokenizer = *run.data.tokenizer;
    const auto& from = run.resume_from ? run.resume_from : run.init_from;
    Companions kept = from ? CheckpointReader(storage_, *from).companions() : Companions();
    const std::string text = tokenizer.kind() == "byte" ? "" : tokenizer.serialize();
    if (text != kept.tokenizer) {
      kept.hf_files.clear();
      kept.stop_ids.clear();
    }
    kept.tokenizer = text;
    return kept;
  }

  void agree_on_contents_of(const OfProcess& of) {
    const RunData& data = of.prepared->data;
    agree_on_data(control_, "data.train", data.identity);
    if (data.valid) {
      const std::vector<std::string> held_out(data.valid->parts().size(), "held out");
      agree_on_data(control_, "data.valid", identity_of(*data.valid, Packing::Concat, 0, held_out));
    }
    agree_on_contents(control_, "data.tokenizer", of.companions.tokenizer, "give all the same");
    const auto& from = of.prepared->resume_from ? of.prepared->resume_from : of.prepared->init_from;
    agree_on_contents(control_, "the checkpoint to go on from",
                      from ? read_text(*storage_, join_path(*from, kManifestName)) : "",
                      "use a folder on a file system that all machines share");
  }

  std::shared_ptr<Storage> storage_;
  const ResolvedRun& resolved_;
  const TrainOptions& options_;
  Control& control_;
  const Deadlines& deadlines_;
  bool is_process_;
  bool leads_;
};

}  // namespace

TrainResult train(std::shared_ptr<Storage> storage, const ResolvedRun& resolved,
                  const TrainOptions& options) {
  validate(resolved.config);
  OfProcess of{RunFolder(storage, resolved.config.checkpoint.dir)};
  TrainResult result;
  options.ranks([&](World& world) {
    check(world.size() == static_cast<int>(resolved.config.system.ranks), ErrorCode::Internal,
          "train: expected {} ranks, as system.ranks says, got {}", resolved.config.system.ranks,
          world.size());
    const bool is_process = !world.process().rendezvous.empty();
    if (world.rank() == 0) of.folder.set_ranks_of_process(is_process ? 1 : world.size());
    Preparation(storage, resolved, options, world).make(of);
    const SharedRun shared{.prepared = *of.prepared,
                           .storage = storage,
                           .options = options,
                           .folder = of.folder,
                           .companions = of.companions};
    FaultRecord faults(storage, resolved.config.checkpoint.dir, world.process());
    const LossWatch loss_watch(world, faults);
    TrainResult own = Loop(shared, world, faults).go();
    if (world.rank() == 0 || is_process) result = std::move(own);
  });
  return result;
}

}  // namespace ingot
