"""Packs the parameters of exported modules as the exporter packed them; needs PyTorch, no GPU."""
import ctypes
import importlib.util
import pathlib
import subprocess
import sys
import types

import torch


class NoLibrary:
    def __getattr__(self, name):
        function = types.SimpleNamespace()
        object.__setattr__(self, name, function)
        return function


subprocess.run = lambda *_, **__: None
ctypes.CDLL = lambda _: NoLibrary()
for number, folder in enumerate(map(pathlib.Path, sys.argv[1::2])):
    name = f"export{number}"
    spec = importlib.util.spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)])
    package = importlib.util.module_from_spec(spec)
    sys.modules[name] = package
    spec.loader.exec_module(package)
    module = sys.modules[name + ".module"]
    model = package.Model()
    # The names are those of the original, which a strict load demands.
    state = torch.load(sys.argv[2 + 2 * number], weights_only=True)
    model.load_state_dict(state)
    for target, file in module._FILES.items():
        wanted = torch.frombuffer(bytearray((folder / file).read_bytes()), dtype=torch.uint8)
        got = torch.full_like(wanted, 0x55)
        covered = torch.zeros_like(wanted, dtype=torch.bool)
        for each in module._PACKED[target]:
            each.into(got, dict(model.named_parameters()))
            covered[each.at:each.at + each.size * torch.empty((), dtype=each.dtype).element_size()] = True
        assert torch.equal(got[covered], wanted[covered]), f"{folder} {target}"
        print(f"packed {int(covered.sum())} of {wanted.numel()} bytes")
    # Other weights give another block, the first ones the first.
    before = model._constants.clone()
    model.load_state_dict({key: value + 1 for key, value in state.items()})
    assert not torch.equal(before, model._constants), folder
    model.load_state_dict(state)
    assert torch.equal(before, model._constants), folder
