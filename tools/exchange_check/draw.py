"""Random config.json files of every family, over the members that transformers computes with.

A member may be there, be null where null means something, or be missing, and is spelt as files of any age spell it.
What Ingot does not compute is drawn too, rarely: `refused` names these members, one of which its message must name.
"""
import dataclasses
import random as random_module

TOKENS = 40  # of the ids that logits are compared of
MISSING = object()
TANH_GELU = ["gelu_pytorch_tanh", "gelu_new", "gelu_fast", "gelu_python_tanh", "gelu_accurate"]


@dataclasses.dataclass
class Drawn:
    family: str
    config: dict
    rope: str  # kind of rotary scaling
    refused: list  # members of which Ingot does not compute this value
    as_saved: bool  # config.json as transformers writes it again, else as it was drawn
    dtype: str  # of weights
    norms_in_fp32: bool  # beside weights of 16 bits
    files: int
    copied_head: bool  # a tied head is in the files too
    bare_names: bool  # tensors without "model." before them
    seed: int  # of weights and ids


class Draw:
    def __init__(self, family, seed):
        self.random = random_module.Random(f"{family} {seed}")
        self.family, self.config, self.refused, self.rope = family, {}, [], "learned"
        self.seed = seed

    def chance(self, p):
        return self.random.random() < p

    def one_of(self, *values):
        return self.random.choice(values)

    def number(self, low, high):
        """Between them, spread over magnitudes; few digits, as people write."""
        value = low * (high / low)**self.random.random()
        return float(f"{value:.3g}")

    def put(self, key, *values):
        """One of these values, or none."""
        value = self.one_of(*values)
        if value is not MISSING:
            self.config[key] = value
        return value

    def refuse(self, key, *values):
        """Rarely, a value that Ingot does not compute."""
        if self.chance(0.02):
            self.config[key] = self.one_of(*values)
            self.refused.append(key)
            return True
        return False

    # What all of them but GPT-2 have.

    def shape(self, default_kv_heads, default_head_dim, divided):
        """Heads, widths; `divided`: whether the width must be a multiple of the heads."""
        config, random = self.config, self.random
        without_kv_heads = self.chance(0.15)
        heads = (default_kv_heads or 1) * random.randint(1, 2) if without_kv_heads else random.randint(1, 6)
        if not without_kv_heads:
            kv_heads = self.one_of(*[n for n in range(1, heads + 1) if heads % n == 0])
            config["num_key_value_heads"] = kv_heads
            if kv_heads == heads and self.family in ("llama", "qwen2", "qwen3", "olmo2") and self.chance(0.5):
                config["num_key_value_heads"] = None
        head_dim = 2 * self.one_of(1, 2, 3, 4, 5, 8, 12, 16) if heads < 16 else 4
        dim = heads * head_dim
        if default_head_dim is not None and self.chance(0.1):
            head_dim = default_head_dim
        elif default_head_dim is None and self.chance(0.4):
            if self.family in ("llama", "mistral") and self.chance(0.5):
                config["head_dim"] = None
        else:
            config["head_dim"] = head_dim
            dim = random.randint(1, 12) * heads if divided else random.randint(3, 64)
        config.update(num_attention_heads=heads, hidden_size=dim, intermediate_size=random.randint(1, 80),
                      num_hidden_layers=random.randint(1, 5), vocab_size=random.randint(40, 130),
                      max_position_embeddings=self.one_of(TOKENS, 64, 100, 4096))
        self.put("tie_word_embeddings", MISSING, True, False)
        self.put("rms_norm_eps", MISSING, 1e-5, 1e-6, self.number(1e-9, 0.1))
        return head_dim

    def gate(self, key, default):
        if self.refuse(key, "gelu", "relu", "quick_gelu", "relu2", "gelu_python"):
            return
        if self.chance(0.3):
            self.config[key] = self.one_of("silu", "swish", *TANH_GELU)
        else:
            self.put(key, MISSING, default)

    def flags(self, *keys):
        for key in keys:
            self.put(key, MISSING, True, False)

    def window(self):
        # Under dynamic scaling tokens come one by one, and transformers' cache of a window of 1 forgets nothing.
        return self.random.randint(2 if self.rope == "dynamic" else 1, 30)

    def layer_types(self):
        return [self.one_of("full_attention", "sliding_attention") for _ in range(self.config["num_hidden_layers"])]

    def switched_windows(self):
        config = self.config
        used = self.put("use_sliding_window", MISSING, False, True, True)
        window = self.put("sliding_window", MISSING, None, self.window(), self.window())
        layers = config["num_hidden_layers"]
        self.put("max_window_layers", MISSING, *range(layers + 2))
        if self.chance(0.4):
            sees_all = used is not True or window is None  # transformers has no window for a layer then
            config["layer_types"] = ["full_attention"] * layers if sees_all else self.layer_types()

    def yarn(self, scaling):
        scaling["factor"] = self.number(1, 40)
        if self.chance(0.7):
            scaling["original_max_position_embeddings"] = self.random.randint(8, 48)
            if self.chance(0.03):
                scaling["factor"] = None  # the ratio of the two contexts
                self.refused.append("factor")
        for key, value in (("attention_factor", self.number(0.5, 2)), ("beta_fast", self.number(2, 64)),
                           ("beta_slow", self.number(0.05, 1.5)), ("mscale", self.number(0.3, 3)),
                           ("mscale_all_dim", self.number(0.3, 3))):
            scaling.update({key: value} if self.chance(0.4) else {key: None} if self.chance(0.15) else {})
        if self.chance(0.02):
            scaling["attention_factor"] = 0.0
            self.refused.append("attention_factor")
        if self.chance(0.06):
            scaling["truncate"] = self.one_of(True, True, False, None)
            if not scaling["truncate"]:
                self.refused.append("truncate")

    def rope_members(self, head_dim):
        kinds = ["default", "default", "linear", "yarn", "yarn", "llama3"] + ["dynamic"] * (head_dim > 2)
        self.rope = self.one_of(*kinds)
        config, scaling, theta = self.config, {}, self.one_of(10000.0, 10000, self.number(20, 1e7))
        if self.rope == "linear":
            scaling["factor"] = self.number(0.5, 16)
        elif self.rope == "dynamic":
            config["max_position_embeddings"] = self.random.randint(6, TOKENS)
            scaling["factor"] = self.number(1, 8)
        elif self.rope == "yarn":
            self.yarn(scaling)
        elif self.rope == "llama3":
            scaling.update(factor=self.number(1, 40), low_freq_factor=self.number(0.3, 2),
                           high_freq_factor=self.number(2.5, 8))
            if self.chance(0.8):
                scaling["original_max_position_embeddings"] = self.random.randint(8, 64)
        if self.chance(0.1):
            scaling["partial_rotary_factor"] = 1.0
        if self.rope != "default" and self.chance(0.02):
            scaling["partial_rotary_factor"] = 0.5
            self.refused.append("partial_rotary_factor")
        self.spell_rope(scaling, theta)

    def spell_rope(self, scaling, theta):
        config = self.config
        if self.rope != "default" or self.chance(0.5):
            scaling[self.one_of("rope_type", "type")] = self.rope
            if "type" in scaling and self.chance(0.3):
                scaling["rope_type"] = self.rope
        if not scaling:
            self.put("rope_scaling", MISSING, None)
            self.put("rope_theta", MISSING, theta, theta)
            return
        place = self.one_of("rope_parameters", "rope_parameters", "rope_scaling", "both")
        inside = self.chance(0.5)
        if inside:
            scaling["rope_theta"] = theta
            if self.chance(0.1):
                config["rope_theta"] = 3.0 * theta  # what stands inside counts
        else:
            self.put("rope_theta", MISSING, theta, theta)
        for key in ("rope_scaling", "rope_parameters"):
            if place in (key, "both"):
                config[key] = dict(scaling)
        if place == "rope_parameters" and self.chance(0.2):
            config["rope_scaling"] = None

    def harmless(self):
        config = self.config
        for key, value in (("use_cache", self.chance(0.5)), ("initializer_range", 0.01), ("bos_token_id", 0),
                           ("eos_token_id", self.one_of(1, [1, 2])), ("pad_token_id", None),
                           ("transformers_version", self.one_of("4.31.0", "4.57.1", "5.2.0"))):
            if self.chance(0.5):
                config[key] = value
        self.put(self.one_of("torch_dtype", "dtype"), MISSING, "float32", "bfloat16", "float16")

    # The families.

    def llama(self):
        self.rope_members(self.shape(None, None, True))
        self.gate("hidden_act", "silu")
        self.flags("attention_bias", "mlp_bias")
        self.put("pretraining_tp", MISSING, 1)

    def mistral(self):
        self.rope_members(self.shape(8, None, False))
        self.gate("hidden_act", "silu")
        if not self.refuse("sliding_window", 0):  # nothing is seen
            self.put("sliding_window", MISSING, None, self.window(), self.window())

    def qwen2(self):
        self.rope_members(self.shape(32, None, False))
        self.gate("hidden_act", "silu")
        self.switched_windows()

    def qwen3(self):
        self.rope_members(self.shape(32, 128, False))
        self.gate("hidden_act", "silu")
        self.flags("attention_bias")
        self.switched_windows()

    def olmo2(self):
        self.rope_members(self.shape(None, None, False))
        self.gate("hidden_act", "silu")
        self.flags("attention_bias")

    def gemma2(self):
        self.rope_members(self.shape(4, 256, True))
        self.gate("hidden_activation", "gelu_pytorch_tanh")
        self.flags("attention_bias")
        self.put("hidden_act", MISSING, "gelu_pytorch_tanh", "gelu")
        self.put("query_pre_attn_scalar", MISSING, self.random.randint(1, 100), self.random.randint(4, 32))
        for key in ("attn_logit_softcapping", "final_logit_softcapping"):
            if not self.refuse(key, 0.0):
                self.put(key, MISSING, None, self.number(1, 60))
        self.put("sliding_window", MISSING, self.window(), self.window())
        if self.chance(0.5):
            self.config["layer_types"] = self.one_of(None, self.layer_types(), self.layer_types())
        if not self.refuse("use_bidirectional_attention", True):
            self.put("use_bidirectional_attention", MISSING, None, False)

    def gpt2(self):
        heads = 12 if self.chance(0.1) else self.random.randint(1, 6)
        dim = heads * self.random.randint(1, 20)
        self.config.update(n_embd=dim, n_positions=self.one_of(TOKENS, 64, 100),
                           vocab_size=self.random.randint(40, 130))
        if heads != 12:
            self.config["n_head"] = heads
        if self.chance(0.9):
            self.config["n_layer"] = self.random.randint(1, 4)
        self.put("n_inner", MISSING, None, self.random.randint(1, 80))
        self.put("n_ctx", MISSING, self.config["n_positions"])
        self.put("tie_word_embeddings", MISSING, True, False)
        self.put("layer_norm_epsilon", MISSING, 1e-5, self.number(1e-9, 0.1))
        if not self.refuse("activation_function", "gelu", "relu", "quick_gelu", "silu", "gelu_python"):
            self.put("activation_function", MISSING, "relu2", *TANH_GELU)
        self.put("scale_attn_weights", MISSING, True, False)
        self.put("reorder_and_upcast_attn", MISSING, False, True)
        self.put("add_cross_attention", MISSING, False)
        if not self.refuse("scale_attn_by_inverse_layer_idx", True):
            self.put("scale_attn_by_inverse_layer_idx", MISSING, False)


ARCHITECTURES = {"llama": "LlamaForCausalLM", "mistral": "MistralForCausalLM", "qwen2": "Qwen2ForCausalLM",
                 "qwen3": "Qwen3ForCausalLM", "olmo2": "Olmo2ForCausalLM", "gpt2": "GPT2LMHeadModel",
                 "gemma2": "Gemma2ForCausalLM"}


def draw(seed):
    """The model of a seed; one family after another."""
    family = list(ARCHITECTURES)[seed % len(ARCHITECTURES)]
    one = Draw(family, seed)
    one.config = {"architectures": [ARCHITECTURES[family]], "model_type": family}
    getattr(one, family)()
    one.harmless()
    renamed = one.refuse("architectures", *[[name] for name in ARCHITECTURES.values() if name != ARCHITECTURES[family]])
    keys = list(one.config)
    one.random.shuffle(keys)
    return Drawn(family=family, config={key: one.config[key] for key in keys}, rope=one.rope, refused=one.refused,
                 as_saved=one.chance(0.4) and not renamed,  # which would correct the name
                 dtype=one.one_of("float32", "float32", "bfloat16", "float16"), norms_in_fp32=one.chance(0.2),
                 files=one.one_of(1, 1, 2, 3), copied_head=one.chance(0.5), bare_names=one.chance(0.15), seed=seed)
