// How fast documents are cleaned with the preset datatrove-0.10, one thread.
//
// clean_bench [FOLDER]: FOLDER, ../shared/data/text unless given, holds .txt files. They are cut at
// newlines into documents of about 4 KB, and once more into documents of about 64 KB. Prints MB/s
// of text, best of several runs in CPU time of the thread, for the whole and for the parts.
#include <fmt/format.h>

#include "data/bench_text.h"
#include "ingest/clean/cleaner.h"
#include "ingest/clean/filters/c4.h"
#include "ingest/clean/filters/fineweb.h"
#include "ingest/clean/filters/gopher_quality.h"
#include "ingest/clean/filters/gopher_repetition.h"
#include "ingest/clean/language/language.h"

namespace {

using namespace ingot;

void measure(const std::string& label, const std::vector<std::string>& texts) {
  CleanSettings settings = clean_preset("datatrove-0.10");
  const Cleaner cleaner(settings, *posix_storage());
  CleanWorker worker(cleaner);
  Document document;
  const auto splitter = make_splitter(settings.splitter);
  const auto detector = make_script_detector();
  CleanScratch scratch;
  C4LineCounts lines{};
  std::vector<float> scores;
  const auto split = [&](const std::string& text) { splitter->words(text, scratch.words); };
  const auto speeds = bench::mb_per_s(
      texts,
      {[&](const std::string& text) {
         document.text = text;
         worker.clean(document);
       },
       split,
       [&](const std::string& text) {
         split(text);
         gopher_repetition(settings.of<GopherRepetitionSettings>(), text, scratch.words, scratch);
       },
       [&](const std::string& text) {
         split(text);
         gopher_quality(settings.of<GopherQualitySettings>(), settings.version, text,
                        scratch.words);
       },
       [&](const std::string& text) {
         c4_quality(settings.of<C4Settings>(), settings.version, text, *splitter, scratch, lines);
       },
       [&](const std::string& text) {
         fineweb_quality(settings.of<FinewebSettings>(), settings.version, text, *splitter,
                         scratch);
       },
       [&](const std::string& text) { detector->score(text, scores); }});
  // A filter's own time is that of splitter and filter less the splitter's.
  const auto without_splitter = [&](double both) { return 1 / (1 / both - 1 / speeds[1]); };
  const CleanCounts& counts = worker.counts();
  fmt::print("{:8}  whole {:.1f} MB/s, {} of {} documents kept\n", label, speeds[0],
             counts.kept / bench::kRuns, counts.documents / bench::kRuns);
  fmt::print("          splitter {:.0f}, Gopher repetition {:.0f}, Gopher quality {:.0f}",
             speeds[1], without_splitter(speeds[2]), without_splitter(speeds[3]));
  fmt::print(", C4 {:.0f}, FineWeb {:.0f}, script {:.0f}\n", speeds[4], speeds[5], speeds[6]);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto texts = bench::read_texts(argc > 1 ? argv[1] : "../shared/data/text");
    measure("4 KB", bench::cut(texts, 4 << 10));
    measure("64 KB", bench::cut(texts, 64 << 10));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "clean_bench: {}\n", error.what());
    return 1;
  }
}
