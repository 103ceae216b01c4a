// Prediction with a fastText model, after facebookresearch/fastText 0.9.2 (MIT). Written anew
// because the library trusts the file: a truncated one ended the process, one with a wrong count
// hung it.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <unordered_map>

#include "core/error/error.h"
#include "core/text/utf8.h"
#include "ingest/clean/language/language.h"

namespace ingot {
namespace {

constexpr int32_t kMagic = 793712314, kNewestVersion = 12;
constexpr int32_t kSupervised = 3;
constexpr std::string_view kEndOfLine = "</s>", kLabelPrefix = "__label__";
enum Loss : int32_t {
  kHierarchicalSoftmax = 1,
  kNegativeSampling = 2,
  kSoftmax = 3,
  kOneVsAll = 4
};

class Reader {
 public:
  Reader(std::string_view bytes, const std::string& name) : rest_(bytes), name_(name) {}

  template <class T>
  T take() {
    T value;
    const std::string_view bytes = take_bytes(sizeof(T));
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
  std::string_view take_bytes(size_t count) {
    expect(count <= rest_.size(), "it ends too early");
    const std::string_view bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return bytes;
  }
  std::string_view take_string() {
    const size_t end = rest_.find('\0');
    expect(end != std::string_view::npos, "it ends too early");
    return take_bytes(end + 1).substr(0, end);
  }
  size_t left() const { return rest_.size(); }

  void expect(bool ok, const char* what) const {
    check(ok, ErrorCode::Data, "{}: not a supervised fastText model that Ingot reads: {}", name_,
          what);
  }

 private:
  std::string_view rest_;
  const std::string& name_;
};

struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<float> values;

  explicit Matrix(Reader& reader) {
    rows = reader.take<int64_t>();
    columns = reader.take<int64_t>();
    constexpr int64_t kMax = int64_t{1} << 40;
    reader.expect(rows > 0 && columns > 0 && columns < kMax && rows < kMax / columns,
                  "a matrix of odd size");
    const auto count = static_cast<size_t>(rows * columns);
    const std::string_view bytes = reader.take_bytes(count * sizeof(float));
    values.resize(count);
    std::memcpy(values.data(), bytes.data(), bytes.size());
  }
  std::span<const float> row(int64_t i) const {
    return {values.data() + i * columns, static_cast<size_t>(columns)};
  }
  float dot(int64_t i, std::span<const float> vector) const {
    float sum = 0;
    const std::span<const float> weights = row(i);
    for (size_t k = 0; k < weights.size(); ++k) sum += weights[k] * vector[k];
    return sum;
  }
};

uint32_t hash(std::string_view text) {
  uint32_t h = 2166136261u;
  for (const char byte : text) {
    h ^= static_cast<uint32_t>(static_cast<int8_t>(byte));  // the sign is spread, as there
    h *= 16777619u;
  }
  return h;
}

class FasttextDetector final : public LanguageDetector {
 public:
  explicit FasttextDetector(Reader& reader) {
    reader.expect(reader.left() >= 8 && reader.take<int32_t>() == kMagic, "wrong magic number");
    const auto version = reader.take<int32_t>();
    reader.expect(version > 0 && version <= kNewestVersion, "unknown version");
    read_arguments(reader, version);
    read_dictionary(reader);
    reader.expect(reader.take<uint8_t>() == 0, "it is quantised (.ftz); use the .bin file");
    input_ = Matrix(reader);
    reader.expect(reader.take<uint8_t>() == 0, "its output is quantised; use the .bin file");
    output_ = Matrix(reader);
    reader.expect(input_->rows == num_words_ + bucket_ && input_->columns == dim_,
                  "input of another size");
    reader.expect(output_->rows == static_cast<int64_t>(labels_.size()) && output_->columns == dim_,
                  "output of another size");
    if (loss_ == kHierarchicalSoftmax) build_tree();
  }

  const std::vector<std::string>& labels() const override { return labels_; }

  void score(std::string_view text, std::vector<float>& scores) const override {
    scores.assign(labels_.size(), 0);
    const std::vector<float> hidden = mean_of_features(text);
    switch (loss_) {
      case kHierarchicalSoftmax:
        return score_tree(hidden, scores);
      case kSoftmax:
        return score_softmax(hidden, scores);
      case kNegativeSampling:
      case kOneVsAll:
        for (size_t i = 0; i < scores.size(); ++i) {
          scores[i] =
              std::exp(shifted_log(stepped_sigmoid(output_->dot(static_cast<int64_t>(i), hidden))));
        }
    }
  }

  size_t label_of(std::string_view language) const override {
    const auto place = std::find(labels_.begin(), labels_.end(), language);
    check(place != labels_.end(), ErrorCode::Config,
          "clean.language.languages: expected labels of the model, {}, got «{}»",
          fmt::join(labels_, " "), language);
    return static_cast<size_t>(place - labels_.begin());
  }

 private:
  static constexpr int64_t kUnbuilt = int64_t{1} << 50;
  struct Node {
    int64_t left = -1, right = -1, count = kUnbuilt;
  };

  void read_arguments(Reader& reader, int32_t version) {
    dim_ = reader.take<int32_t>();
    for (int i = 0; i < 4; ++i) reader.take<int32_t>();  // window, epochs, least count, negatives
    word_n_grams_ = reader.take<int32_t>();
    loss_ = static_cast<Loss>(reader.take<int32_t>());
    reader.expect(reader.take<int32_t>() == kSupervised, "it is not supervised");
    bucket_ = reader.take<int32_t>();
    min_n_ = reader.take<int32_t>();
    max_n_ = reader.take<int32_t>();
    if (version == 11) max_n_ = 0;  // supervised models of that version had none
    reader.take<int32_t>();         // how often the rate was updated
    reader.take<double>();          // sampling threshold
    reader.expect(dim_ > 0 && bucket_ >= 0 && loss_ >= kHierarchicalSoftmax && loss_ <= kOneVsAll &&
                      min_n_ >= 0 && max_n_ <= 64 && word_n_grams_ <= 64 &&
                      (bucket_ > 0 || (max_n_ <= 0 && word_n_grams_ <= 1)),
                  "odd arguments");
  }

  void read_dictionary(Reader& reader) {
    const auto size = reader.take<int32_t>();
    num_words_ = reader.take<int32_t>();
    const auto num_labels = reader.take<int32_t>();
    reader.take<int64_t>();  // tokens
    const auto pruned = reader.take<int64_t>();
    reader.expect(num_words_ >= 0 && num_labels > 0 && size == int64_t{num_words_} + num_labels,
                  "an odd dictionary");
    reader.expect(pruned <= 0, "its dictionary is pruned");
    for (int32_t i = 0; i < size; ++i) {
      const std::string_view entry = reader.take_string();
      const auto count = reader.take<int64_t>();
      const bool is_label = reader.take<int8_t>() == 1;
      reader.expect(is_label == (i >= num_words_), "words and labels mixed");
      if (is_label) {
        reader.expect(count >= 0 && count < kUnbuilt, "a label of odd count");
        const size_t prefix = entry.starts_with(kLabelPrefix) ? kLabelPrefix.size() : 0;
        labels_.emplace_back(entry.substr(prefix));
        label_counts_.push_back(count);
      } else {
        words_.emplace(entry, i);
      }
    }
  }

  // The sum of rows of the input matrix.
  struct Sum {
    const Matrix& matrix;
    std::vector<float> values;
    size_t count = 0;

    void add(int64_t row) {
      const std::span<const float> weights = matrix.row(row);
      for (size_t k = 0; k < values.size(); ++k) values[k] += weights[k];
      ++count;
    }
  };

  // Over the words of the text, their character n-grams and word n-grams.
  std::vector<float> mean_of_features(std::string_view text) const {
    Sum sum{*input_, std::vector<float>(static_cast<size_t>(dim_))};
    std::vector<int32_t> hashes;
    const auto add_token = [&](std::string_view token) {
      const auto place = words_.find(std::string(token));
      if (place == words_.end() && token.starts_with(kLabelPrefix)) return;
      if (place != words_.end()) sum.add(place->second);
      if (token != kEndOfLine) add_character_n_grams(token, sum);
      if (word_n_grams_ > 1) hashes.push_back(static_cast<int32_t>(hash(token)));
    };
    constexpr std::string_view kSeparators(" \n\r\t\v\f\0", 7);
    for (size_t at = 0; (at = text.find_first_not_of(kSeparators, at)) != std::string_view::npos;) {
      const size_t end = std::min(text.find_first_of(kSeparators, at), text.size());
      add_token(text.substr(at, end - at));
      at = end;
    }
    add_token(kEndOfLine);
    add_word_n_grams(hashes, sum);
    const auto scale =
        static_cast<float>(1.0 / static_cast<double>(std::max<size_t>(sum.count, 1)));
    for (float& value : sum.values) value *= scale;
    return std::move(sum.values);
  }

  void add_character_n_grams(std::string_view token, Sum& sum) const {
    if (max_n_ <= 0) return;
    const std::string word = "<" + std::string(token) + ">";
    for (size_t i = 0; i < word.size(); ++i) {
      if (text::is_continuation(word[i])) continue;
      size_t end = i;
      for (int32_t n = 1; end < word.size() && n <= max_n_; ++n) {
        do ++end;
        while (end < word.size() && text::is_continuation(word[end]));
        if (n < min_n_ || (n == 1 && (i == 0 || end == word.size()))) continue;
        sum.add(num_words_ +
                hash(std::string_view(word).substr(i, end - i)) % static_cast<uint32_t>(bucket_));
      }
    }
  }

  void add_word_n_grams(const std::vector<int32_t>& hashes, Sum& sum) const {
    for (size_t i = 0; i < hashes.size(); ++i) {
      auto h = static_cast<uint64_t>(static_cast<int64_t>(hashes[i]));
      const size_t end = std::min(hashes.size(), i + static_cast<size_t>(word_n_grams_));
      for (size_t j = i + 1; j < end; ++j) {
        h = h * 116049371u + static_cast<uint64_t>(static_cast<int64_t>(hashes[j]));
        sum.add(num_words_ + static_cast<int64_t>(h % static_cast<uint64_t>(bucket_)));
      }
    }
  }

  // The Huffman tree over the labels' counts, which come in falling order.
  void build_tree() {
    const auto n = static_cast<int64_t>(labels_.size());
    tree_.resize(static_cast<size_t>(2 * n - 1));
    for (size_t i = 0; i < labels_.size(); ++i) tree_[i].count = label_counts_[i];
    int64_t leaf = n - 1, inner = n;
    const auto take_smaller = [&] {
      const bool is_leaf = leaf >= 0 && tree_[static_cast<size_t>(leaf)].count <
                                            tree_[static_cast<size_t>(inner)].count;
      return is_leaf ? leaf-- : inner++;
    };
    for (int64_t i = n; i < 2 * n - 1; ++i) {
      Node& node = tree_[static_cast<size_t>(i)];
      node.left = take_smaller();
      node.right = take_smaller();
      // Sums may wrap in a damaged file; the tree stays one, since all its leaves are below
      // kUnbuilt.
      node.count =
          static_cast<int64_t>(static_cast<uint64_t>(tree_[static_cast<size_t>(node.left)].count) +
                               static_cast<uint64_t>(tree_[static_cast<size_t>(node.right)].count));
    }
  }

  // The library's table of 512 steps.
  static double stepped_sigmoid(float x) {
    if (x < -8) return 0;
    if (x > 8) return 1;
    const double step = std::floor((x + 8) * 512 / 8 / 2) * 2 * 8 / 512 - 8;
    return 1 / (1 + std::exp(-step));
  }
  static float shifted_log(double x) { return static_cast<float>(std::log(x + 1e-5)); }

  void score_tree(std::span<const float> hidden, std::vector<float>& scores) const {
    const auto n = static_cast<int64_t>(labels_.size());
    const float least = shifted_log(0);
    std::vector<std::pair<int64_t, float>> stack{{2 * n - 2, 0.0f}};
    while (!stack.empty()) {
      const auto [index, log_score] = stack.back();
      stack.pop_back();
      if (log_score < least) continue;
      const Node& node = tree_[static_cast<size_t>(index)];
      if (node.left < 0) {
        scores[static_cast<size_t>(index)] = std::exp(log_score);
        continue;
      }
      const float right = 1 / (1 + std::exp(-output_->dot(index - n, hidden)));
      stack.emplace_back(node.left, log_score + shifted_log(1.0 - right));
      stack.emplace_back(node.right, log_score + shifted_log(right));
    }
  }

  void score_softmax(std::span<const float> hidden, std::vector<float>& scores) const {
    for (size_t i = 0; i < scores.size(); ++i)
      scores[i] = output_->dot(static_cast<int64_t>(i), hidden);
    const float top = *std::max_element(scores.begin(), scores.end());
    float sum = 0;
    for (float& value : scores) sum += value = std::exp(value - top);
    for (float& value : scores) value = std::exp(shifted_log(value / sum));
  }

  int32_t dim_ = 0, word_n_grams_ = 0, bucket_ = 0, min_n_ = 0, max_n_ = 0, num_words_ = 0;
  Loss loss_ = kSoftmax;
  std::unordered_map<std::string, int64_t> words_;
  std::vector<std::string> labels_;
  std::vector<int64_t> label_counts_;
  std::optional<Matrix> input_, output_;
  std::vector<Node> tree_;
};

}  // namespace

std::unique_ptr<const LanguageDetector> make_fasttext_detector(std::string_view model,
                                                               const std::string& name) {
  Reader reader(model, name);
  return std::make_unique<FasttextDetector>(reader);
}

}  // namespace ingot
