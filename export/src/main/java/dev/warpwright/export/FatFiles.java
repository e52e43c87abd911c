package dev.warpwright.export;

import dev.warpwright.base.UserError;
import dev.warpwright.export.Exported.Sample;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Program.Role;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** The files of an export for several targets. */
final class FatFiles {
  private FatFiles() {}

  /**
   * The files by name.
   *
   * @param same what is exported, for each target under the same name
   * @throws UserError if a target is there twice, or they take or give other types
   */
  static Map<String, byte[]> of(List<Exported> same) {
    String name = ProjectText.name(same.getFirst());
    TreeSet<Integer> targets = new TreeSet<>();
    for (Exported each : same) {
      if (!targets.add(each.target().arch())) {
        throw new UserError("--target: " + each.target().name() + " is there twice");
      }
      if (!types(each).equals(types(same.getFirst()))) {
        throw new UserError(
            "--target: for "
                + each.target().name()
                + " it takes or gives other types than for "
                + same.getFirst().target().name()
                + "; export them into two folders");
      }
    }
    List<Exported> variants =
        same.stream()
            .map(
                each ->
                    each.sample() == null
                        ? each
                        : each.with(
                            each.sample()
                                .withConstants("constants_" + each.target().name() + ".bin")))
            .toList();
    Exported first = variants.getFirst();
    Signature signature = new Signature(variants);
    Map<String, String> texts = new LinkedHashMap<>();
    texts.put("kernel.cuh", FatText.header(variants, signature, name));
    for (Exported each : same) {
      Exported named = each.besideOthers();
      String target = each.target().name();
      texts.put("kernel_" + target + ".cuh", HeaderText.of(named, new Signature(named)));
      texts.put("target_" + target + ".cu", FatText.unit(named, name));
      CudaExport.traces(texts, named, false);
    }
    texts.put("main.cu", HostProgramText.of(first, signature));
    texts.put("torch_op.cu", TorchBuildText.library(first, signature));
    texts.put("torch_op.py", TorchText.module(first, signature));
    if (ModuleText.has(first)) {
      texts.put("module.py", ModuleText.of(variants, signature));
    }
    texts.put("__init__.py", ProjectText.init(first));
    texts.put("CMakeLists.txt", FatText.cmake(variants, name));
    texts.put("Makefile", FatText.makefile(variants, name));
    texts.put("README.md", ProjectText.readme(first, signature));
    Map<String, byte[]> files = CudaExport.bytes(texts);
    for (Exported each : variants) {
      Sample sample = each.sample();
      if (sample != null) {
        files.putAll(sample.files());
      }
    }
    return files;
  }

  private static List<String> types(Exported exported) {
    List<Buffer> buffers = new java.util.ArrayList<>(exported.buffers(Role.INPUT));
    buffers.addAll(exported.buffers(Role.OUTPUT));
    return buffers.stream().map(b -> b.name() + " " + b.dtype()).toList();
  }
}
