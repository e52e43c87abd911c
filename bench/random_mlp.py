#!/usr/bin/env python3
"""Writes a fully connected network with random f32 weights as a state dict in safetensors form.

Usage: random_mlp.py FILE WIDTHS, for example random_mlp.py relu64x4.safetensors 64,64,64,64,64
"""
import json
import struct
import sys

import numpy as np

path, widths = sys.argv[1], [int(w) for w in sys.argv[2].split(",")]
random = np.random.default_rng(0)
header, blobs, offset = {}, [], 0
for i, (inputs, outputs) in enumerate(zip(widths, widths[1:])):
    weight = random.standard_normal((outputs, inputs)) / np.sqrt(inputs)
    bias = random.standard_normal(outputs) * 0.1
    for name, values in ((f"{2 * i}.weight", weight), (f"{2 * i}.bias", bias)):
        data = values.astype("<f4").tobytes()
        header[name] = {
            "dtype": "F32",
            "shape": list(values.shape),
            "data_offsets": [offset, offset + len(data)],
        }
        offset += len(data)
        blobs.append(data)
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
with open(path, "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))
