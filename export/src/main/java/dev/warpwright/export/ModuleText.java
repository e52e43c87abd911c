package dev.warpwright.export;

import dev.warpwright.compiler.program.PackedConstant;
import dev.warpwright.export.Exported.Sample;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Layout;
import dev.warpwright.ir.Layout.Mode;
import dev.warpwright.ir.Layout.Swizzle;
import dev.warpwright.ir.Program.Role;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A model as a {@code torch.nn.Module}: its weights are parameters under the names that the model's
 * file has, and are packed for the kernels when they are loaded.
 */
final class ModuleText {
  private static final String HELPERS =
      """
      def _stored():
          \"""The weights of the model's file, by name.\"""
          data = bytearray((_HERE / "weights.safetensors").read_bytes())
          start = 8 + int.from_bytes(data[:8], "little")
          types = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16,
                   "BF16": torch.bfloat16}
          weights = {}
          for name, entry in json.loads(bytes(data[8:start])).items():
              first, end = entry["data_offsets"]
              weights[name] = torch.frombuffer(
                  data, dtype=torch.uint8, count=end - first, offset=start + first
              ).clone().view(types[entry["dtype"]]).reshape(entry["shape"])
          return weights


      def _tf32(x):
          \"""Rounded to the nearest number of 10 fraction bits, ties away from zero.\"""
          x = x.float().contiguous()
          return torch.where(
              x.isfinite(), ((x.view(torch.int32) + 0x1000) & -0x2000).view(torch.float32), x)


      def _interleaved(a, b, rows, group):
          \"""So many rows of a and of b (None: zeros) in turns.\"""
          both = a.new_zeros((2, rows) + a.shape[1:])
          both[0, :len(a)] = a
          if b is not None:
              both[1, :len(b)] = b
          both = both.reshape((2, rows // group, group) + a.shape[1:])
          return both.transpose(0, 1).reshape((2 * rows,) + a.shape[1:])


      class _Packed:
          \"""A weight as the kernels read it: padded with zeros, rounded, in their order.

          at: where it begins in the block of constants, in bytes; shape: padded; size: elements, gaps
          among them; layout: for each dimension extent and stride of its digits, the fastest first
          (None: row by row); swizzle: bits, base and shift of what is XORed into offsets.
          \"""

          def __init__(self, at, values, dtype, shape, size, layout=None, swizzle=(0, 0, 0)):
              self.at = at
              self.values = values
              self.dtype = dtype
              self.shape = shape
              self.size = size
              self.layout = layout
              self.swizzle = swizzle

          def offsets(self, device):
              total = torch.zeros((), dtype=torch.int64, device=device)
              for extent, digits in zip(self.shape, self.layout):
                  rest = torch.arange(extent, device=device)
                  at = torch.zeros_like(rest)
                  for number, (many, stride) in enumerate(digits):
                      last = number == len(digits) - 1
                      at += (rest if last else rest % many) * stride
                      rest = rest // many
                  total = total[..., None] + at
              bits, base, shift = self.swizzle
              mask = ((1 << bits) - 1) << (base + shift)
              return total ^ ((total & mask) >> shift)

          def into(self, constants, weights):
              values = self.values(weights)
              padded = values.new_zeros(self.shape)
              padded[tuple(slice(0, extent) for extent in values.shape)] = values
              packed = torch.zeros(self.size, dtype=self.dtype, device=values.device)
              if self.layout is None:
                  packed[:padded.numel()] = padded.to(self.dtype).flatten()
              else:
                  packed[self.offsets(values.device)] = padded.to(self.dtype)
              packed = packed.view(torch.uint8)
              constants[self.at:self.at + packed.numel()] = packed

      """;

  private static final String MODULE =
      """

      class Model(torch.nn.Module):
          \"""The model, for inference: its parameters want no gradients.\"""

          def __init__(self):
              super().__init__()
              for name, value in _stored().items():
                  owner = self
                  *path, last = name.split(".")
                  for part in path:
                      if part not in owner._modules:
                          owner.add_module(part, torch.nn.Module())
                      owner = owner._modules[part]
                  owner.register_parameter(last, torch.nn.Parameter(value, requires_grad=False))
              self.register_buffer("_constants", None, persistent=False)
              self.repack()
              self.register_load_state_dict_post_hook(lambda module, keys: module.repack())

          def repack(self):
              \"""Packs the parameters for the kernels; needed after they were changed in place.\"""
              weights = dict(self.named_parameters())
              device = next(iter(weights.values())).device
              target = _target(device)
              constants = torch.frombuffer(
                  bytearray((_HERE / _FILES[target]).read_bytes()), dtype=torch.uint8).to(device)
              with torch.no_grad():
                  for each in _PACKED[target]:
                      each.into(constants, weights)
              if device.type == "cuda":
                  # A kernel may read constants before what stands in front of it has ended.
                  torch.cuda.current_stream(device).synchronize()
              self._constants = constants

          def _apply(self, fn, recurse=True):
              before = next(self.parameters()).device
              super()._apply(fn, recurse)
              after = next(self.parameters()).device
              if before != after and _target(before) != _target(after):
                  self.repack()
              return self

      """;

  private ModuleText() {}

  /** Whether there are weights that could be others. */
  static boolean has(Exported exported) {
    return exported.sample() != null && !exported.sample().weights().names().isEmpty();
  }

  /**
   * The module.
   *
   * @param variants the same model for one or more targets
   */
  static String of(List<Exported> variants, Signature signature) {
    Exported exported = variants.getFirst();
    String name = ProjectText.name(exported);
    StringBuilder out = new StringBuilder();
    out.append(
        String.format(
            Locale.ROOT,
            """
            \"""%1$s, as a torch.nn.Module whose weights are parameters.

                from FOLDER import Model
                model = Model().cuda()
                model.load_state_dict(torch.load("state_dict.pth"))  # others than those of the file

            Inputs may have any leading dimensions and are converted to the kernels' type.
            \"""
            import json
            import pathlib

            import torch

            if __package__:
                from .torch_op import %2$s_with, _target
            else:
                from torch_op import %2$s_with, _target

            _HERE = pathlib.Path(__file__).resolve().parent


            """,
            TorchText.docText(exported.about()),
            name));
    out.append(HELPERS);
    out.append("\n_FILES = {");
    out.append(
        variants.stream()
            .map(v -> "\"" + v.target().name() + "\": \"" + v.constantsFile() + "\"")
            .collect(Collectors.joining(", ")));
    out.append("}  # constants, also those that are no parameters\n\n_PACKED = {\n");
    for (Exported variant : variants) {
      out.append("    \"").append(variant.target().name()).append("\": [\n");
      packed(out, variant);
      out.append("    ],\n");
    }
    out.append("}\n").append(MODULE);
    forward(out, exported, signature, name);
    return out.toString();
  }

  private static void packed(StringBuilder out, Exported exported) {
    Sample sample = exported.sample();
    if (sample == null) {
      return;
    }
    for (PackedConstant constant : sample.weights().packed()) {
      String values = sample.weights().values(constant);
      if (values == null) {
        continue;
      }
      Buffer buffer = constant.buffer();
      Buffer logical = constant.constant().buffer();
      List<String> shape = new ArrayList<>();
      for (int d = 0; d < logical.rank(); d++) {
        shape.add(Long.toString(logical.extent(d)));
      }
      out.append(
          String.format(
              Locale.ROOT,
              "        _Packed(%d, lambda w: %s,\n                %s, %s, %d%s),\n",
              sample.constants().get(buffer),
              values,
              TorchText.dtype(buffer),
              tuple(shape),
              buffer.storageElements(),
              layout(constant.where())));
    }
  }

  private static String layout(@Nullable Layout layout) {
    if (layout == null) {
      return "";
    }
    List<String> dimensions = new ArrayList<>();
    for (List<Mode> modes : layout.dimensions()) {
      dimensions.add(
          tuple(
              modes.stream()
                  .map(mode -> "(" + mode.extent() + ", " + mode.stride() + ")")
                  .toList()));
    }
    String text = ",\n                " + tuple(dimensions);
    Swizzle swizzle = layout.swizzle();
    return swizzle.isIdentity()
        ? text
        : String.format(
            Locale.ROOT, "%s, (%d, %d, %d)", text, swizzle.bits(), swizzle.base(), swizzle.shift());
  }

  /** A tuple in Python. */
  private static String tuple(List<String> parts) {
    return "(" + String.join(", ", parts) + (parts.size() == 1 ? ",)" : ")");
  }

  private static void forward(
      StringBuilder out, Exported exported, Signature signature, String name) {
    List<Buffer> inputs = exported.buffers(Role.INPUT);
    List<Buffer> outputs = exported.buffers(Role.OUTPUT);
    String names = inputs.stream().map(signature.text()::of).collect(Collectors.joining(", "));
    out.append(String.format(Locale.ROOT, "    def forward(self, %s):\n", names));
    out.append(
        String.format(
            Locale.ROOT,
            "        leading = %s.shape[:-1]\n",
            signature.text().of(inputs.getFirst())));
    String rows =
        inputs.stream()
            .map(
                b ->
                    String.format(
                        Locale.ROOT,
                        "%s.reshape(-1, %d).to(%s).contiguous()",
                        signature.text().of(b),
                        b.extent(1),
                        TorchText.dtype(b)))
            .collect(Collectors.joining(",\n            "));
    out.append(
        String.format(
            Locale.ROOT,
            "        results = %s_with(\n            %s, self._constants)\n",
            name,
            rows));
    out.append(
        outputs.size() == 1
            ? "        return results.reshape(leading + results.shape[1:])\n"
            : "        return tuple(each.reshape(leading + each.shape[1:]) for each in results)\n");
  }
}
