#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A transformers model with random weights, loaded both ways.

usage: model.py make FOLDER             sharded files, tied weights
       model.py save FOLDER MEMORY      the same weights, 256-aligned, by
                                        k80fs.save() to MEMORY
       model.py compare OUT OUT [bits]
       model.py logits mem|file FOLDER LOADER OUT
                                        the first logits to OUT, and the time

LOADER is the example of libk80mem(3), which the first logits of "mem" go
through; "file" is from_pretrained().
"""
import importlib.util
import json
import os
import sys
import time

START = time.monotonic()


def config():
    import transformers
    return transformers.LlamaConfig(
        hidden_size=2048, intermediate_size=8192, num_hidden_layers=16,
        num_attention_heads=32, num_key_value_heads=8, vocab_size=32000,
        max_position_embeddings=4096, tie_word_embeddings=True)


def make(folder):
    import torch
    import transformers
    torch.manual_seed(1)
    with torch.device("cuda"):
        model = transformers.AutoModelForCausalLM.from_config(config())
    model.to(torch.bfloat16).save_pretrained(folder, max_shard_size="500MB")
    print(sum(p.numel() for p in model.parameters()), "parameters,",
          len([n for n in os.listdir(folder) if n.endswith(".safetensors")]),
          "files")


def save(folder, memory):
    import k80fs
    with open(f"{folder}/model.safetensors.index.json", encoding="utf-8") as f:
        names = sorted(set(json.load(f)["weight_map"].values()))
    for name in names:
        k80fs.save(f"{memory}/{name}",
                   k80fs.safetensors(f"{memory}/{name}"), {"format": "pt"})


def logits(mode, folder, loader, out):
    import torch
    import transformers
    # what both ways need of it is a matter of seconds
    import transformers.models.llama.modeling_llama
    torch.zeros(1, device="cuda")
    ready = time.monotonic()
    if mode == "mem":
        spec = importlib.util.spec_from_file_location("loader", loader)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        model = module.load(folder, config())
    else:
        model = transformers.AutoModelForCausalLM.from_pretrained(
            folder, dtype=torch.bfloat16, device_map="cuda").eval()
    loaded = time.monotonic()
    tokens = torch.arange(1, 65, device="cuda").reshape(1, -1)
    with torch.no_grad():
        result = model(tokens).logits.float().cpu()
    end = time.monotonic()
    assert model.lm_head.weight.data_ptr() == \
        model.model.embed_tokens.weight.data_ptr()
    torch.save(result, out)
    print(f"start {ready - START:.2f} load {loaded - ready:.2f} "
          f"first logits {end - START:.2f}")


def compare(first, second, what="close"):
    import torch
    a, b = torch.load(first), torch.load(second)
    apart = float((a - b).norm() / a.norm())
    # BF16 has eight bits, and other places of weights are other kernels' work
    assert apart < 5e-2, apart
    assert what != "bits" or torch.equal(a, b), apart
    print("equal bit for bit" if torch.equal(a, b) else
          f"{apart:.2g} of their norm apart, {float((a - b).abs().max()):.2g} "
          "at most")


if __name__ == "__main__":
    {"make": make, "save": save, "logits": logits, "compare": compare}[
        sys.argv[1]](*sys.argv[2:])
