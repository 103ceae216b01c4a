// How fast MinHash signatures are made, 14 buckets of 8, 5-grams, one thread.
//
// minhash_bench [FOLDER]: FOLDER, ../shared/data/text/novels_en unless given, holds .txt files.
// They are cut at newlines into documents of about 4 KB. Prints MB/s of text, best of several
// interleaved runs in CPU time of the thread, for the whole and for its parts.
#include <fmt/format.h>

#include <memory>

#include "data/bench_text.h"
#include "ingest/dedup/minhash.h"

namespace {

using namespace ingot;

void measure(const std::string& label, const std::vector<std::string>& texts) {
  const auto splitter = make_splitter("spacy-en");
  MinHashSettings sha1;
  sha1.hash = ShingleHash::Sha1;
  MinHasher with_xxh64({}, *splitter), with_sha1(sha1, *splitter);
  MinHashSettings one;  // nearly all but the kernel
  one.buckets = one.hashes = 1;
  MinHasher without_kernel(one, *splitter);
  std::string normal;
  WordList words;
  const auto speeds =
      bench::mb_per_s(texts, {[&](const std::string& text) { with_xxh64.signature(text); },
                              [&](const std::string& text) { with_sha1.signature(text); },
                              [&](const std::string& text) {
                                cpu::force_isa(cpu::Isa::Generic);
                                with_xxh64.signature(text);
                                cpu::force_isa(cpu::best_isa());
                              },
                              [&](const std::string& text) { without_kernel.signature(text); },
                              [&](const std::string& text) {
                                text::normalize(text::NormalForm::Datatrove010, text, normal);
                              },
                              [&](const std::string& text) { splitter->words(text, words); }});
  fmt::print("{:6}  signatures {:.1f} MB/s, with SHA-1 {:.1f}, with the generic kernel {:.1f}\n",
             label, speeds[0], speeds[1], speeds[2]);
  fmt::print("        without kernel {:.0f}, normalisation {:.0f}, splitter {:.0f}\n", speeds[3],
             speeds[4], speeds[5]);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto texts = bench::read_texts(argc > 1 ? argv[1] : "../shared/data/text/novels_en");
    measure("4 KB", bench::cut(texts, 4 << 10));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "minhash_bench: {}\n", error.what());
    return 1;
  }
}
