#include "spec/model_settings.h"

namespace ingot {

// Ceilings lie far above any published model; below them no count of bytes overflows 63 bits.
std::vector<Setting> model_settings(ModelConfig& m) {
  RopeConfig& r = m.rope;
  return {
      integer_setting("model.dim", m.dim, {1, 65536}, "", "Width of the residual stream."),
      integer_setting("model.layers", m.layers, {1, 1024}, "", "Transformer layers."),
      integer_setting("model.heads", m.heads, {1, 1024}, "", "Query heads; must divide dim."),
      integer_setting("model.kv_heads", m.kv_heads, {1, 1024}, "",
                      "Key and value heads; must divide heads."),
      integer_setting("model.head_dim", m.head_dim, {2, 1024}, "",
                      "Width of a head: dim / heads, even."),
      integer_setting("model.ffn", m.ffn, {1, 262144}, "", "Hidden width of the MLP."),
      integer_setting("model.vocab", m.vocab, {1, 4194304}, "tokens",
                      "Rows of the embedding; at least the tokenizer's vocabulary."),
      integer_setting("model.context", m.context, {1, 1048576}, "tokens",
                      "Longest sequence the rotary table covers."),
      flag_setting("model.tied", m.tied, "Whether the output head shares the embedding."),
      enum_setting<Activation>(
          "model.activation", m.activation,
          {{"swiglu", Activation::SwiGlu}, {"relu_squared", Activation::ReluSquared}},
          "Activation of the MLP."),
      number_setting("model.norm_eps", m.norm_eps, {kTiny, 1}, "",
                     "Added to the mean square in RMSNorm."),
      flag_setting("model.qk_norm", m.qk_norm,
                   "Whether queries and keys pass an RMSNorm over each head."),
      integer_setting("model.window", m.window, {0, 1048576}, "tokens",
                      "Sliding attention window; 0 = unlimited."),
      number_setting("model.softcap", m.softcap, {0, kHuge}, "",
                     "Soft cap c of the output logits, c·tanh(logit/c); 0 = off."),
      number_setting("model.init_std", m.init_std, {kTiny, 10}, "",
                     "Standard deviation of initial weights; divided by sqrt(2·layers) for the "
                     "projections back into the stream."),
      number_setting("model.rope.theta", r.theta, {kTiny, kHuge}, "",
                     "Base of the rotary frequencies."),
      enum_setting<RopeStyle>(
          "model.rope.style", r.style,
          {{"half_split", RopeStyle::HalfSplit}, {"interleaved", RopeStyle::Interleaved}},
          "Pairs that are rotated: (i, i + head_dim/2) as in Hugging Face, or (2i, 2i+1) as in "
          "llama2.c."),
      enum_setting<RopeScaling>("model.rope.scaling", r.scaling,
                                {{"none", RopeScaling::None}, {"llama3", RopeScaling::Llama3}},
                                "Frequency scaling for long contexts."),
      number_setting("model.rope.factor", r.factor, {kTiny, kHuge}, "",
                     "llama3 scaling: how much longer the context becomes."),
      number_setting("model.rope.low_freq_factor", r.low_freq_factor, {kTiny, kHuge}, "",
                     "llama3 scaling: wavelengths above original_context / this are scaled in "
                     "full."),
      number_setting("model.rope.high_freq_factor", r.high_freq_factor, {kTiny, kHuge}, "",
                     "llama3 scaling: wavelengths below original_context / this are left alone."),
      integer_setting("model.rope.original_context", r.original_context, {1, 1048576}, "tokens",
                      "llama3 scaling: context before scaling."),
  };
}

}  // namespace ingot
