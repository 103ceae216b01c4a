"""Random models (draw.py), there and back: is each the same model in both programs, or refused by the right name?"""
import collections
import concurrent.futures
import dataclasses
import json
import multiprocessing
import os
import shutil
import tempfile
import traceback

import torch
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoModelForCausalLM

from exchange_check import cases, theirs
from exchange_check.draw import TOKENS, draw
from exchange_check.ours import Program, write_tokenizer
from exchange_check.theirs import apart
from hf_logits import load, logits_of

LIMIT = 1e-5


def write_json(value, *path):
    with open(os.path.join(*path), "w", encoding="utf-8") as file:
        json.dump(value, file, indent=2)


def write_weights(tensors, folder, files):
    """In so many files, with an index where there are several."""
    names = sorted(tensors)
    if files == 1:
        save_file(tensors, os.path.join(folder, "model.safetensors"), {"format": "pt"})
        return
    index = {}
    for i in range(files):
        file = f"model-{i + 1:05}-of-{files:05}.safetensors"
        part = {name: tensors[name] for name in names[i::files]}
        save_file(part, os.path.join(folder, file), {"format": "pt"})
        index.update(dict.fromkeys(part, file))
    write_json({"metadata": {"total_size": 0}, "weight_map": index}, folder, "model.safetensors.index.json")


def make(drawn, folder):
    """The folder, as transformers saves it or as others have written it."""
    os.makedirs(folder)
    write_json(drawn.config, folder, "config.json")
    model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(folder), attn_implementation="eager",
                                             dtype=torch.float32)
    cases.fill(model, "peaked", drawn.seed)
    model.to(getattr(torch, drawn.dtype)).save_pretrained(folder)
    tensors = load_file(os.path.join(folder, "model.safetensors"))
    os.remove(os.path.join(folder, "model.safetensors"))
    embedding, base = model.get_input_embeddings().weight, model.base_model_prefix + "."
    if drawn.norms_in_fp32:
        tensors = {name: tensor.float() if tensor.dim() == 1 else tensor for name, tensor in tensors.items()}
    if drawn.copied_head and model.config.tie_word_embeddings:
        tensors["lm_head.weight"] = embedding.detach().clone()
    if drawn.bare_names:
        tensors = {name.removeprefix(base): tensor for name, tensor in tensors.items()}
    write_weights(tensors, folder, drawn.files)
    if not drawn.as_saved:
        write_json(drawn.config, folder, "config.json")
    write_tokenizer(folder)


def rounding(folder, ids, expected):
    """How far transformers is from itself when numbers differ by their last bit: in a few models scores are so large
    that this alone is above the limit."""
    found = 0.0
    for seed in range(1, 5):
        model = load(folder)
        theirs.perturb(model, seed)
        found = max(found, apart(logits_of(model, ids), expected))
    return found


def compare(ours, folder, ids):
    """Distance of ours from transformers', and of transformers from itself where that matters."""
    expected = logits_of(load(folder), ids)
    distance = apart(ours, expected)
    return distance, rounding(folder, ids, expected) if not distance <= LIMIT else 0.0


def check_drawn(drawn, work, ingot):
    at = lambda what: os.path.join(work, str(drawn.seed), what)
    program = Program(ingot, "cpu", 1)
    try:
        make(drawn, at("theirs"))
        load(at("theirs"))
    except Exception as error:  # transformers does not take it either
        return {"unmade": f"{type(error).__name__}: {error}"}
    try:
        program.import_folder(at("theirs"), at("model"))
    except RuntimeError as error:
        named = [key for key in drawn.refused if f'"{key}"' in str(error)]
        return {"refused": named} if named else {"failed": f"refused: {error}"}
    if drawn.refused:
        return {"failed": f"taken, although {', '.join(drawn.refused)} is not computed"}
    length = TOKENS
    if drawn.rope == "dynamic":
        scaling = drawn.config.get("rope_parameters") or drawn.config["rope_scaling"]
        length = min(TOKENS, int(drawn.config["max_position_embeddings"] * scaling["factor"]))
    generator = torch.Generator().manual_seed(drawn.seed)
    ids = torch.randint(drawn.config["vocab_size"], (length,), generator=generator).tolist()
    ours = program.logits(at("model"), ids, at("logits"))
    found = {"in": compare(ours, at("theirs"), ids)}
    program.export(at("model"), at("exported"))
    found["out"] = compare(ours, at("exported"), ids)
    program.run("checkpoint", "diff", at("theirs"), at("exported"))
    broken = [way for way, (distance, noise) in found.items() if not distance <= max(LIMIT, 2 * noise)]
    return found if not broken else {**found, "failed": f"logits {', '.join(broken)}"}


def check_seed(seed, work, ingot):
    torch.set_num_threads(1)
    theirs.plain_fp32()
    drawn = draw(seed)
    try:
        found = check_drawn(drawn, work, ingot)
    except Exception:  # the other models go on
        found = {"failed": traceback.format_exc()}
    if "failed" not in found:
        shutil.rmtree(os.path.join(work, str(seed)), ignore_errors=True)
    return {"seed": seed, "drawn": drawn, **found}


def print_failure(found):
    drawn = found["drawn"]
    files = dataclasses.asdict(drawn)
    config = files.pop("config")
    figures = {way: f"{found[way][0]:.1e}, rounding {found[way][1]:.1e}" for way in ("in", "out") if way in found}
    print(f"{found['seed']} {drawn.family} {drawn.rope}: {found['failed']} {figures or ''}\n"
          f"    {json.dumps(config)}\n    {json.dumps(files)}", flush=True)


def print_summary(results):
    print("family   rope      compared refused  worst logits in   out      above the limit by rounding alone")
    groups = collections.defaultdict(list)
    for found in results:
        for key in ((found["drawn"].family, found["drawn"].rope), ("all", "")):
            groups[key].append(found)
    for (family, rope), group in sorted(groups.items(), key=lambda item: (item[0][0] == "all", item[0])):
        same = [found for found in group if "in" in found and "failed" not in found]
        kept = lambda way: max((found[way][0] for found in same if found[way][0] <= LIMIT), default=0.0)
        rounded = [max(found["in"][0], found["out"][0]) for found in same]
        rounded = [distance for distance in rounded if distance > LIMIT]
        print(f"{family:9}{rope:10}{len(same):8}{sum('refused' in found for found in group):8}"
              f"{kept('in'):14.1e}{kept('out'):9.1e}   " +
              (f"{len(rounded)}, at most {max(rounded):.1e}" if rounded else ""))


def sweep(seeds, work, ingot, jobs):
    """The results that failed."""
    with tempfile.TemporaryDirectory() as temporary:
        work = work or temporary
        with concurrent.futures.ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
            results = []
            for future in [pool.submit(check_seed, seed, work, ingot) for seed in seeds]:
                results.append(future.result())
                if "failed" in results[-1]:
                    print_failure(results[-1])
    print_summary(results)
    unmade = [found for found in results if "unmade" in found]
    for found in unmade:
        print(f"{found['seed']} {found['drawn'].family}: not taken by transformers: {found['unmade'][:200]}")
    failed = [found for found in results if "failed" in found]
    print(f"{len(results)} models, {len(unmade)} not taken by transformers, " +
          (f"{len(failed)} failed: {', '.join(str(found['seed']) for found in failed)}" if failed else "none failed"))
    return failed
