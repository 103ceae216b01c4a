#!/usr/bin/env python3
"""Are models the same here and in Hugging Face's transformers? Every family, every kind of rotary scaling.

    tools/check_exchange.py --ingot build/cpu/ingot --devices cpu
    tools/check_exchange.py --ingot build/cuda/ingot --devices cpu,cuda [--only llama2,gpt2] [--work DIR] [--jobs N]
    tools/check_exchange.py --ingot build/cpu/ingot --random 700 [--seed S]

Of each model and device, everything in fp32 in both programs (eager attention, no TF32):
  in        saved by transformers, imported: logits, relative to the largest; at most 1e-5
  out       trained here, exported, loaded by transformers: logits, the same
  loss, gradient
            of the first training step; the worst of all parameters, relative to its largest element; at most 1e-4
  50 steps  of AdamW on the same tokens in the same order, twice: from moderate weights, and from peaked ones, where
            rounding grows faster. ours: largest distance of a loss from the mean of torch's runs; noise: largest
            difference between two of torch's runs, whose weights and rotary frequencies differ by the last bit and whose
            batches have their rows in another order. ours is at most twice noise, or 1e-6: nine runs do not show
            all of it. Where it is more than noise, the row says so.
--random takes small models of random config.json instead (exchange_check/draw.py), from number S on: imported,
exported, logits both ways, tensors equal; what is not computed here must be refused by its name. On the CPU.
Needs torch, transformers, safetensors and numpy. Fails when a bound is broken.
"""
import argparse
import concurrent.futures
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
import traceback

RUNS = 9
LIMITS = {"in": 1e-5, "out": 1e-5, "loss": 1e-4, "gradient": 1e-4}
FLOOR = 1e-6  # of losses: some roundings of fp32


def compare_gradients(ours, theirs, model):
    from exchange_check.ours import ingot_names
    from exchange_check.theirs import apart
    theirs, _ = ingot_names(model, theirs)
    if ours.keys() != theirs.keys():
        raise RuntimeError(f"parameters differ: {sorted(ours.keys() ^ theirs.keys())}")
    return max((apart(ours[name], theirs[name].flatten()), name) for name in ours)


def compare_runs(ours, theirs):
    """(ours, noise): ours (steps), theirs (runs, steps)."""
    mean = theirs.mean(0)
    noise = ((theirs.max(0).values - theirs.min(0).values) / mean).max().item()
    return ((ours - mean).abs() / mean).max().item(), noise


def prepare(name, work):
    """Folders of transformers' with the weights of each kind."""
    import torch
    from transformers import AutoModelForCausalLM
    from exchange_check import cases, ours
    shutil.rmtree(os.path.join(work, name), ignore_errors=True)
    folders = {}
    for kind in cases.KINDS:
        folders[kind] = os.path.join(work, name, kind)
        model = AutoModelForCausalLM.from_config(cases.cases()[name], attn_implementation="eager", dtype=torch.float32)
        cases.fill(model, kind)
        model.save_pretrained(folders[kind])
        ours.write_tokenizer(folders[kind])
    return folders


def check_on(device, name, folders, work, ingot, threads):
    from exchange_check import cases, ours, theirs
    from exchange_check.theirs import apart
    from hf_logits import load, logits_of
    program = ours.Program(ingot, device, threads)
    at = lambda what: os.path.join(work, name, f"{device}_{what}")
    batch = (cases.B, cases.T)
    tokens = at("tokens.bin")
    batches = ours.write_tokens(tokens, cases.VOCAB, batch, cases.STEPS)
    ids = batches[0].flatten()[:cases.T].tolist()
    settings = {"optim.lr": theirs.LR, "optim.schedule.warmup": theirs.WARMUP, "optim.beta1": theirs.BETAS[0],
                "optim.beta2": theirs.BETAS[1], "optim.eps": theirs.EPS, "optim.weight_decay": theirs.DECAY,
                "optim.clip": theirs.CLIP}
    found = {"name": name, "rope": cases.rope_kind(cases.cases()[name]), "device": device}

    for kind, folder in folders.items():
        program.import_folder(folder, at(f"{kind}_model"))
        model = load(folder, device)
        if kind == "peaked":
            found["in"] = apart(program.logits(at("peaked_model"), ids, at("in")), logits_of(model, ids))
            loss, gradients = program.gradients(at("peaked_model"), at("gradients"), tokens, batch)
            their_loss, their_gradients = theirs.gradients_of(model, batches[0])
            found["loss"] = abs(loss - their_loss) / their_loss
            found["gradient"], found["worst"] = compare_gradients(gradients, their_gradients, model)
        losses = program.train(at(f"{kind}_model"), at(f"{kind}_run"), tokens, cases.STEPS, batch, settings)
        found[kind] = compare_runs(losses, theirs.runs(model, batches, RUNS))
        found[f"{kind}_loss"] = (losses[0].item(), losses[-1].item())
    program.export(at("peaked_run"), at("exported"))
    found["out"] = apart(program.logits(at("peaked_run"), ids, at("out")),
                         logits_of(load(at("exported"), device), ids))
    return found


def check_model(name, devices, work, ingot, threads):
    import torch
    from exchange_check import theirs
    torch.set_num_threads(threads)
    theirs.plain_fp32()
    start, results = time.monotonic(), []
    try:
        folders = prepare(name, work)
        for device in devices:
            results.append(check_on(device, name, folders, work, ingot, threads))
    except Exception:  # the other models go on
        results.append({"name": name, "failed": traceback.format_exc()})
    results[-1]["seconds"] = time.monotonic() - start
    return results


def broken_bounds(found):
    broken = [what for what, limit in LIMITS.items() if not found[what] <= limit]
    return broken + [kind for kind in ("moderate", "peaked") if not found[kind][0] <= max(2 * found[kind][1], FLOOR)]


def print_row(found):
    if "failed" in found:
        print(f"{found['name']}: {found['failed']}", flush=True)
        return
    pairs = "  ".join(f"{found[kind][0]:7.1e} {found[kind][1]:7.1e}" for kind in ("moderate", "peaked"))
    broken, above = broken_bounds(found), [kind for kind in ("moderate", "peaked") if found[kind][0] > found[kind][1]]
    remark = "BROKEN: " + ", ".join(broken) if broken else f"{', '.join(above)} above noise" if above else ""
    print(f"{found['name']:18}{found['rope']:17}{found['device']:6}{found['in']:8.1e} {found['out']:8.1e} "
          f"{found['loss']:8.1e} {found['gradient']:8.1e}  {pairs}  {remark}".rstrip(), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ingot", required=True, help="the program")
    parser.add_argument("--devices", default="cpu", help="cpu, cuda or both, with a comma between them")
    parser.add_argument("--only", default="", help="names of models, with commas between them")
    parser.add_argument("--work", help="folder for models and runs, which stay; else they are removed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="models at a time")
    parser.add_argument("--random", type=int, default=0, metavar="N", help="so many random models instead")
    parser.add_argument("--seed", type=int, default=0, help="the first random model")
    args = parser.parse_args()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    if args.random:
        from exchange_check import sweep
        seeds = range(args.seed, args.seed + args.random)
        return 1 if sweep.sweep(seeds, args.work, os.path.abspath(args.ingot), args.jobs) else 0
    from exchange_check import cases
    models = cases.cases()
    names = args.only.split(",") if args.only else list(models)
    unknown = set(names) - set(models)
    if unknown:
        parser.error(f"no such model: {', '.join(sorted(unknown))}; there are {', '.join(models)}")
    threads = max(1, (os.cpu_count() or 1) // args.jobs)
    results, start = [], time.monotonic()
    print("                                                                              50 steps from weights that are\n"
          "                                             logits                            moderate         peaked\n"
          "model             rope             device  in       out      loss     gradient  ours    noise    ours    noise")
    with tempfile.TemporaryDirectory() as temporary:
        work = args.work or temporary
        with concurrent.futures.ProcessPoolExecutor(args.jobs, multiprocessing.get_context("spawn")) as pool:
            begun = {name: pool.submit(check_model, name, args.devices.split(","), work, os.path.abspath(args.ingot),
                                       threads)
                     for name in sorted(names, key=lambda name: -models[name].hidden_size)}
            for name in names:
                for found in begun[name].result():
                    print_row(found)
                    results.append(found)
    failed = [found["name"] for found in results if "failed" in found or broken_bounds(found)]
    print(f"{len(results)} rows, {time.monotonic() - start:.0f} s; " +
          (f"broken: {', '.join(failed)}" if failed else "all bounds are kept"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
