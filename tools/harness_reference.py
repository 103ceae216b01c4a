#!/usr/bin/env python3
"""Task files scored by lm-evaluation-harness itself, to compare with
`ingot eval FOLDER --tasks TASK.yaml … --out items.jsonl` item by item.

    harness_reference.py FOLDER items.jsonl TASK.yaml … [--max-items N] [--bos]

FOLDER is a Hugging Face folder; --bos puts BOS before each prompt, as Ingot does where the tokenizer has one.
Ends with 1 if an item differs by more than --tie nats. Needs torch, transformers and lm-eval from PyPI.
"""

import argparse
import collections
import json
import pathlib
import sys

import lm_eval
import yaml
from lm_eval.models.huggingface import HFLM


class WithoutFunctions(yaml.SafeLoader):
    pass


def samples_of(options):
    model = HFLM(pretrained=options.model, dtype="float32", batch_size=options.batch,
                 device="cpu", **({"add_bos_token": True} if options.bos else {}))
    tasks = []
    for path in options.tasks:
        with open(path, encoding="utf-8") as file:
            config = yaml.load(file, WithoutFunctions)
        config.setdefault("task", pathlib.Path(path).stem)
        tasks.append(config)
    result = lm_eval.simple_evaluate(model=model, tasks=tasks, limit=options.max_items or None, log_samples=True,
                                     bootstrap_iters=0)
    print(json.dumps({name: {k: v for k, v in scores.items() if not isinstance(v, str)}
                      for name, scores in result["results"].items()}, indent=1))
    return result["samples"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("items", type=pathlib.Path)
    parser.add_argument("tasks", nargs="+")
    parser.add_argument("--max-items", type=int, default=0)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--bos", action="store_true")
    parser.add_argument("--tie", type=float, default=1e-3)
    options = parser.parse_args()

    ours = collections.defaultdict(dict)
    for line in options.items.read_text().splitlines():
        item = json.loads(line)
        ours[item["task"]][item["document"]] = item
    bad = compared = 0
    widest = 0.0
    for task, samples in samples_of(options).items():
        for sample in samples:
            item = ours[task][sample["doc_id"]]
            compared += 1
            answers = sample["filtered_resps"]
            if "generated" in item:
                if item["generated"] != answers[0]:
                    bad += 1
                    print(f"{task}, document {sample['doc_id']}: {item['generated']!r} and {answers[0]!r}")
                continue
            theirs = [answer[0] if isinstance(answer, (list, tuple)) else answer for answer in answers]
            gap = max(abs(float(a) - b) for a, b in zip(theirs, item["logprobs"], strict=True))
            widest = max(widest, gap / max(1, len(item["logprobs"])))
            if gap > options.tie:
                bad += 1
                print(f"{task}, document {sample['doc_id']}: {theirs} and {item['logprobs']}")
            for metric, key in (("acc", "correct"),):
                if metric in sample and bool(sample[metric]) != item[key]:
                    bad += 1
                    print(f"{task}, document {sample['doc_id']}: {metric} {sample[metric]} and {item[key]}")
    print(f"{compared} items, {bad} differ; largest difference of a log-probability {widest:.2e}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
