// What the module libingot_sentencepiece.so offers: the only code that links libsentencepiece. It
// is loaded when a model is trained, so that the program starts without the library, and on
// machines that do not have it.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>

namespace ingot {

inline constexpr char kSentencePieceModule[] = "libingot_sentencepiece.so";
inline constexpr char kTrainFunction[] = "ingot_train_sentencepiece";

// `arguments`: SentencePieceTrainer's, by name. `next` gives the next sentence, false at the end;
// `log` gets each line that the library has to say of its progress; neither throws. Sets `model` to
// the file's contents, or `error` to what is wrong.
using TrainFunction = void(const std::unordered_map<std::string, std::string>& arguments,
                           const std::function<bool(std::string&)>& next,
                           const std::function<void(const std::string&)>& log, std::string& model,
                           std::string& error);

}  // namespace ingot
