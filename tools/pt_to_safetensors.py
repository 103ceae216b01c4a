#!/usr/bin/env python3
"""A torch state dict (.pt, .pth, .bin) as safetensors, for `ingot checkpoint import`.

    tools/pt_to_safetensors.py pytorch_model.bin model.safetensors
    tools/pt_to_safetensors.py FOLDER          # every pytorch_model*.bin of a Hugging Face folder

Only tensors are loaded: a file that would run code is refused by torch. Tensors that share memory
are written once for each name. Needs torch and safetensors.
"""
import json
import os
import pickle
import sys
import zipfile

import torch
from safetensors.torch import save_file


def load(path):
    # Files of before torch 1.6 are no archives, which alone can be mapped.
    mapped = zipfile.is_zipfile(path)
    try:
        return torch.load(path, map_location="cpu", weights_only=True, mmap=mapped)
    except pickle.UnpicklingError:
        sys.exit(f"{path}: torch refuses it: it holds more than tensors, or it is damaged")
    except (OSError, EOFError, RuntimeError) as error:
        sys.exit(f"{path}: torch cannot read it: {str(error).splitlines()[0]}")


def state_dict_of(path):
    loaded = load(path)
    for key in ("state_dict", "model", "model_state_dict"):  # as training programs wrap it
        if isinstance(loaded, dict) and isinstance(loaded.get(key), dict):
            loaded = loaded[key]
    if not isinstance(loaded, dict) or not all(isinstance(value, torch.Tensor) for value in loaded.values()):
        sys.exit(f"{path}: expected a state dict of tensors")
    return loaded


def convert(path, out):
    if os.path.exists(out):
        sys.exit(f"{out} is there already: remove it first")
    tensors = {name: value.contiguous().clone() for name, value in state_dict_of(path).items()}
    save_file(tensors, out + ".part", metadata={"format": "pt"})
    os.rename(out + ".part", out)
    print(f"{out}: {len(tensors)} tensors")


def safe_name(name):
    return name.replace("pytorch_model", "model").removesuffix(".bin") + ".safetensors"


def convert_folder(folder):
    names = sorted(n for n in os.listdir(folder) if n.startswith("pytorch_model") and n.endswith(".bin"))
    if not names:
        sys.exit(f"{folder}: expected pytorch_model*.bin in it")
    for name in names:
        convert(os.path.join(folder, name), os.path.join(folder, safe_name(name)))
    index = os.path.join(folder, "pytorch_model.bin.index.json")
    if os.path.exists(index):
        with open(index) as file:
            listed = json.load(file)
        listed["weight_map"] = {t: safe_name(f) for t, f in listed["weight_map"].items()}
        with open(os.path.join(folder, "model.safetensors.index.json"), "w") as file:
            json.dump(listed, file, indent=2)


def main():
    if len(sys.argv) in (2, 3) and not os.path.exists(sys.argv[1]):
        sys.exit(f"{sys.argv[1]} does not exist")
    if len(sys.argv) == 2 and os.path.isdir(sys.argv[1]):
        convert_folder(sys.argv[1])
    elif len(sys.argv) == 3:
        convert(sys.argv[1], sys.argv[2])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
