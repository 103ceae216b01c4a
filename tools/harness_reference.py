#!/usr/bin/env python3
"""Runs task files through lm-evaluation-harness and compares them with `ingot eval`, item by item.

    ingot eval FOLDER --tasks a.yaml b.yaml --max-items N --out items.jsonl
    harness_reference.py FOLDER items.jsonl a.yaml b.yaml --max-items N
    harness_reference.py FOLDER items.jsonl a.yaml b.yaml --max-items N --server http://127.0.0.1:PORT

FOLDER is a Hugging Face folder, which the harness's hf backend reads; with --server its local-completions backend asks
an `ingot serve` of the same model (FOLDER is then only the tokenizer). Prints for each task the right answers of both
and the largest difference of a log-probability, and every item whose verdict or text differs, with the gap in nats
between its two likeliest choices; ends with 1 if one differs by more than --tie. Needs `pip install "lm_eval[hf,api]"`.
"""

import argparse
import json
import pathlib
import sys

import lm_eval
import yaml


def model_of(options):
    if not options.server:
        return "hf", dict(pretrained=str(options.model), dtype="float32", device="cpu",
                          max_length=options.max_length, batch_size=8)
    url = options.server.rstrip("/")
    name = pathlib.Path(options.name or options.model).name
    # The server scores what has room for one more token than it reads.
    return "local-completions", dict(model=name, base_url=url + "/v1/completions", tokenizer=str(options.model),
                                     tokenizer_backend="huggingface", max_length=options.max_length, num_concurrent=4)


def compare(kind, sample, ours, tie):
    """(right there, difference of log-probabilities, None or why it differs and whether that is a near-tie)."""
    responses = sample["filtered_resps"]
    if kind == "generate_until":
        right = bool(sample["exact_match"])
        same = responses[0] == ours["generated"] and right == ours["correct"]
        return right, 0.0, None if same else (f"{responses[0]!r} there, {ours['generated']!r} here", False)
    if kind == "loglikelihood_rolling":
        theirs = responses[0]
        return False, abs(theirs - ours["logprobs"][0]), None
    theirs = [response[0] for response in responses]
    apart = max(abs(a - b) for a, b in zip(theirs, ours["logprobs"], strict=True))
    right = bool(sample["acc"])
    if right == ours["correct"]:
        return right, apart, None
    best = sorted(theirs)[-2:]
    gap = best[-1] - best[0] if len(best) > 1 else float("nan")
    return right, apart, (f"gap {gap:.2e}", gap < tie)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("items", type=pathlib.Path, help="what ingot eval wrote as --out")
    parser.add_argument("tasks", nargs="+")
    parser.add_argument("--max-items", type=int, default=None)
    parser.add_argument("--max-length", type=int, default=2048, help="the model's context")
    parser.add_argument("--server")
    parser.add_argument("--name", help="of the model in the server")
    parser.add_argument("--tie", type=float, default=1e-3, help="nats below which a verdict is a near-tie")
    options = parser.parse_args()

    ours = {}
    for line in options.items.read_text().splitlines():
        item = json.loads(line)
        ours[item["task"], item.get("document")] = item
    tasks = [yaml.safe_load(pathlib.Path(path).read_text()) for path in options.tasks]
    backend, arguments = model_of(options)
    results = lm_eval.simple_evaluate(backend, model_args=arguments, tasks=tasks, limit=options.max_items,
                                      bootstrap_iters=0, log_samples=True)
    bad = ties = 0
    for task in tasks:
        name, kind = task["task"], task["output_type"]
        samples = results["samples"][name]
        right = right_here = 0
        widest = 0.0
        for sample in samples:
            mine = ours[name, sample["doc_id"]]
            correct, apart, why = compare(kind, sample, mine, options.tie)
            right += correct
            right_here += bool(mine.get("correct"))
            widest = max(widest, apart)
            if why:
                ties += why[1]
                bad += not why[1]
                print(f"{name}, document {sample['doc_id']}: {'near-tie' if why[1] else 'DIFFERS'}, {why[0]}")
        scores = {key.split(",")[0]: value for key, value in results["results"][name].items()
                  if isinstance(value, float) and "stderr" not in key}
        print(f"{name}: {len(samples)} items, {right} right there, {right_here} here; log-probabilities differ by "
              f"{widest:.1e} at most; there {scores}", flush=True)
    print(f"{bad} differ, {ties} near-ties")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
