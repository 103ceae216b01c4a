#include "shards/mix/mix.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "core/device/thread_pool.h"
#include "core/error/error.h"
#include "core/error/log.h"
#include "ledger/records/task_records.h"
#include "ledger/task_folder.h"
#include "shards/mix/plan.h"

namespace ingot {
namespace {

using nlohmann::json;

constexpr int64_t kTokensAtOnce = int64_t{1} << 16;

// The documents that a source gives to a split, in the order the source has them, pass after pass.
class TakeCursor {
 public:
  TakeCursor(const RankedSource& source, const MixTake& take, const TakenContents& taken)
      : source_(source), take_(take), taken_(taken) {}

  // False when all were given.
  bool next() {
    while (true) {
      if (document_ + 1 == source_.num_documents()) {
        ++pass_;
        document_ = -1;
      }
      const bool in_whole = pass_ < take_.whole;
      if (pass_ > take_.whole || (!in_whole && take_.end_of_part == take_.first)) return false;
      ++document_;
      const int64_t rank = source_.rank_of(document_);
      if (rank < take_.first || rank >= (in_whole ? take_.end_of_all : take_.end_of_part)) continue;
      place_ = source_.folder().document(document_);
      if (!taken_.empty() && taken_.split_of(place_.shard->content(place_.document))) continue;
      is_cut_ = !in_whole && take_.last_is_cut && rank == take_.end_of_part - 1;
      num_tokens_ = is_cut_ ? take_.tokens_of_last : place_.num_tokens();
      return true;
    }
  }

  const ShardFolder::Place& place() const { return place_; }
  bool is_cut() const { return is_cut_; }
  int64_t num_tokens() const { return num_tokens_; }
  // Of a cut document in proportion: where its text would be cut, only the tokenizer knows.
  int64_t num_bytes() const {
    const auto bytes = static_cast<double>(place_.shard->num_bytes(place_.document));
    return static_cast<int64_t>(bytes * static_cast<double>(num_tokens_) /
                                static_cast<double>(place_.num_tokens()));
  }

 private:
  const RankedSource& source_;
  const MixTake& take_;
  const TakenContents& taken_;
  int64_t pass_ = 0, document_ = -1;
  ShardFolder::Place place_{};
  bool is_cut_ = false;
  int64_t num_tokens_ = 0;
};

// Source names of all folders, each once, and what the numbers of each folder become.
struct JoinedSources {
  std::vector<ShardSource> sources;
  std::vector<std::vector<int64_t>> numbers;  // [folder][source there]

  explicit JoinedSources(const MixPlan& plan) {
    std::map<std::string, int64_t> known;
    for (const auto& source : plan.sources) {
      std::vector<int64_t>& its = numbers.emplace_back();
      for (const ShardSource& named : source->folder().manifest().sources) {
        const auto [found, is_new] =
            known.emplace(named.name, static_cast<int64_t>(sources.size()));
        if (is_new) sources.push_back({named.name, 0, 0, 0});
        its.push_back(found->second);
      }
    }
  }
};

class SplitWriter {
 public:
  SplitWriter(const std::shared_ptr<Storage>& storage, const MixPlan& plan, size_t split,
              const MixSettings& settings, const std::string& folder)
      : storage_(storage),
        plan_(plan),
        joined_(plan),
        takes_(plan.takes[split]),
        taken_(plan.taken[split]),
        folder_(folder) {
    const ShardManifest& first = plan.sources.front()->folder().manifest();
    manifest_.token_bytes = first.token_bytes;
    manifest_.vocab_size = first.vocab_size;
    manifest_.bos = first.bos;
    manifest_.eos = first.eos;
    manifest_.tokenizer_hash = first.tokenizer_hash;
    manifest_.tokenizer_kind = first.tokenizer_kind;
    writer_ = std::make_unique<ShardWriter>(
        storage, folder,
        ShardSettings{first.token_bytes, settings.shard_tokens, "", first.bos, first.eos},
        WrittenShards{{}, joined_.sources});
    result_.shares.resize(takes_.size());
  }

  MixSplit write(const std::function<void(int64_t tokens)>& progress) {
    std::vector<TakeCursor> cursors;
    std::vector<bool> open;
    for (size_t i = 0; i < takes_.size(); ++i) {
      cursors.emplace_back(*plan_.sources[i], takes_[i], taken_);
      open.push_back(cursors[i].next());
    }
    // The source that is furthest behind its share comes next.
    while (true) {
      size_t behind = open.size();
      for (size_t i = 0; i < open.size(); ++i) {
        if (open[i] && (behind == open.size() || part_done(i) < part_done(behind))) behind = i;
      }
      if (behind == open.size()) break;
      copy(behind, cursors[behind]);
      if (progress) progress(cursors[behind].num_tokens());
      open[behind] = cursors[behind].next();
    }
    finish();
    return std::move(result_);
  }

 private:
  double part_done(size_t source) const {
    return static_cast<double>(result_.shares[source].tokens) /
           static_cast<double>(takes_[source].tokens);
  }

  void copy(size_t source, const TakeCursor& cursor) {
    const ShardReader& shard = *cursor.place().shard;
    const int64_t begin = cursor.place().begin();
    for (int64_t at = 0; at < cursor.num_tokens(); at += kTokensAtOnce) {
      ids_.resize(static_cast<size_t>(std::min(kTokensAtOnce, cursor.num_tokens() - at)));
      shard.tokens(begin + at, ids_);
      writer_->append(ids_);
    }
    const DocumentName name = shard.name(cursor.place().document);
    writer_->end_document(shard.id(cursor.place().document), cursor.num_bytes(),
                          joined_.numbers[source][static_cast<size_t>(name.source)], name.id);
    if (cursor.is_cut()) manifest_.cut_documents.push_back(num_documents_);
    ++num_documents_;
    result_.shares[source].documents += 1;
    result_.shares[source].tokens += cursor.num_tokens();
  }

  void finish() {
    writer_->finish();
    manifest_.shards = writer_->written().shards;
    manifest_.sources = writer_->written().sources;
    for (const MixTake& take : takes_) {
      for (const auto& [reason, count] : take.left_out) manifest_.left_out[reason] += count;
    }
    const std::string tokenizer =
        join_path(plan_.sources.front()->folder().path(), kShardTokenizerName);
    if (storage_->exists(tokenizer)) {
      write_file_atomically(*storage_, join_path(folder_, kShardTokenizerName),
                            read_text(*storage_, tokenizer));
    }
    write_manifest(*storage_, folder_, manifest_);
    for (size_t i = 0; i < takes_.size(); ++i) {
      if (takes_[i].tokens_of_all == 0) continue;
      result_.shares[i].epochs =
          static_cast<double>(takes_[i].tokens) / static_cast<double>(takes_[i].tokens_of_all);
    }
    result_.manifest = manifest_;
  }

  std::shared_ptr<Storage> storage_;
  const MixPlan& plan_;
  JoinedSources joined_;
  const std::vector<MixTake>& takes_;
  const TakenContents& taken_;
  std::string folder_;
  ShardManifest manifest_;
  std::unique_ptr<ShardWriter> writer_;
  MixSplit result_;
  int64_t num_documents_ = 0;
  std::vector<int32_t> ids_;
};

// Members that an older program did not know are those of a new folder alone.
json describe(const MixSettings& settings, const MixPlan& plan, bool of_older_program) {
  json sources = json::array();
  for (size_t i = 0; i < settings.sources.size(); ++i) {
    const MixSource& source = settings.sources[i];
    sources.push_back(
        {{"manifest", fmt::format("{:016x}", manifest_hash(plan.sources[i]->folder().manifest()))},
         {"weight", source.weight},
         {"max_epochs", source.max_epochs},
         {"max_tokens", source.max_tokens}});
  }
  json description = {{"stage", "mix"},
                      {"seed", settings.seed},
                      {"train_tokens", settings.train_tokens},
                      {"valid_tokens", settings.valid_tokens},
                      {"test_tokens", settings.test_tokens},
                      {"shard_tokens", settings.shard_tokens},
                      {"renormalize", settings.when_short == WhenShort::Renormalize},
                      {"sources", sources}};
  if (!of_older_program) description["equal_documents"] = "in one split";
  return description;
}

MixRecord record_of(const MixSplit& split) {
  MixRecord record;
  for (const MixShare& share : split.shares)
    record.shares.push_back({share.tokens, share.documents, share.epochs});
  return record;
}

std::vector<MixShare> shares_in(const MixRecord& record) {
  std::vector<MixShare> shares;
  for (const ShareRecord& share : record.shares)
    shares.push_back({share.tokens, share.documents, share.epochs});
  return shares;
}

bool is_of_older_program(const std::string& stage) {
  const json begun = json::parse(stage, nullptr, false);
  return begun.is_object() && !begun.contains("equal_documents");
}

// The splits get checksums of their own, which must not vouch for bytes that changed before.
void check_hashes(const MixPlan& plan, int64_t threads) {
  ThreadPool pool(static_cast<int>(threads));
  for (const auto& source : plan.sources) {
    const ShardFolder& shards = source->folder();
    pool.run(static_cast<int64_t>(shards.num_shards()), [&](int64_t i, int) {
      const auto number = static_cast<size_t>(i);
      shards.shard(number).check_hashes(shards.manifest().shards[number]);
    });
  }
}

}  // namespace

MixResult mix(std::shared_ptr<Storage> storage, const MixSettings& settings,
              const std::string& folder, int64_t threads,
              const std::function<void(int64_t tokens)>& progress) {
  const std::string stage_path = join_path(folder, "stage.json");
  const bool is_begun = storage->exists(stage_path);
  const bool of_older_program = is_begun && is_of_older_program(read_text(*storage, stage_path));
  const MixPlan plan = plan_mix(settings, !of_older_program);
  const auto num_splits = static_cast<int64_t>(plan.names.size());
  const auto split_folder = [&](int64_t split) {
    return join_path(folder, plan.names[static_cast<size_t>(split)]);
  };
  std::vector<const ShardFolder*> sources;
  for (const auto& source : plan.sources) sources.push_back(&source->folder());
  if (!is_begun) {
    const std::string problem = equal_sources(sources);
    check(problem.empty(), ErrorCode::Config, "{}", problem);
    check_cuts(settings, plan);
  }
  TaskFolder stage(storage, folder, describe(settings, plan, of_older_program), num_splits);
  if (!stage.finished()) check_hashes(plan, threads);
  MixResult result;
  if (of_older_program) {
    log::warn("mix_of_older_program",
              {{"folder", folder}, {"why", "equal documents may be in two of its splits"}});
  } else {
    result.equal = equal_documents(*storage, sources, join_path(folder, "equal_documents.json"));
  }
  std::mutex mutex;
  int64_t tokens_done = 0;
  const auto work = [&](int64_t split) {
    SplitWriter writer(storage, plan, static_cast<size_t>(split), settings, split_folder(split));
    return task_record(record_of(writer.write([&](int64_t tokens) {
      const std::lock_guard lock(mutex);
      tokens_done += tokens;
      if (progress) progress(tokens_done);
    })));
  };
  stage.run({}, std::clamp<int64_t>(threads, 1, num_splits), work, {});

  for (int64_t split = 0; split < num_splits; ++split) {
    const auto number = static_cast<size_t>(split);
    MixSplit& one = result.splits.emplace_back();
    one.name = plan.names[number];
    one.shares = shares_in(task_record_of<MixRecord>(stage, split));
    one.manifest = read_manifest(*storage, split_folder(split));
    one.cut_off_tokens = cut_off_tokens(plan, number);
    one.cut_off_share = share_of_sources(plan, one.cut_off_tokens);
    for (const MixTake& take : plan.takes[number]) one.left_out_tokens += take.left_out_tokens;
  }
  return result;
}

}  // namespace ingot
