#include "cli/data/settings_page.h"

#include "ingest/clean/settings.h"
#include "ingest/decontaminate/contamination_index.h"
#include "ingest/dedup/dedup_stage.h"
#include "ingest/tokenize/tokenize.h"
#include "shards/mix/mix.h"
#include "spec/run/mixture_config.h"

namespace ingot::cli {
namespace {

template <class Settings>
std::vector<Setting> declared(Settings settings) {
  std::vector<Setting> rows = with_defaults(settings_of(settings));
  for (Setting& row : rows) row.get = nullptr, row.set = nullptr;
  return rows;
}

}  // namespace

std::vector<SettingSection> data_setting_sections() {
  std::vector<Setting> mix = declared(MixSettings());
  for (Setting& setting : declared(MixSource())) mix.push_back(std::move(setting));
  const std::string as_options =
      "Options of the command: `n_gram` is `--n-gram`. What was begun with other values is not "
      "continued.";
  return {
      {"Mixtures",
       "What `data.train` names when it is a .toml file: a section `[[source]]` for each source.",
       declared(MixtureSource())},
      {"data mix", "The file of `ingot data mix`; a section `[[source]]` for each source.",
       std::move(mix)},
      {"data clean",
       "`--config FILE.toml` and `--set` of `ingot data clean`; defaults are those of the preset.",
       declared(clean_preset("datatrove-0.10"))},
      {"data dedup", as_options, declared(DedupSettings())},
      {"data decontaminate", as_options, declared(ContaminationSettings())},
      {"data tokenize", as_options, declared(TokenizeSettings())},
      {"Reading documents", "Options of every stage that reads documents.",
       declared(ReadSettings())},
  };
}

}  // namespace ingot::cli
