package dev.warpwright.export;

import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.compile.CudaCompilers;
import java.util.LinkedHashMap;
import java.util.Map;

/** Files with machine code, for hosts that have no CUDA compiler. */
final class BinaryFiles {
  private BinaryFiles() {}

  /** The name of the file of machine code. */
  static String cubin(Exported exported) {
    return ProjectText.name(exported) + ".cubin";
  }

  /**
   * Machine code, a manifest that says how it is launched, and a loader in C.
   *
   * @throws dev.warpwright.base.DeviceError if there is no compiler here, or it refuses
   */
  static Map<String, byte[]> ofC(Exported exported) {
    Signature signature = new Signature(exported);
    LaunchPlan plan = LaunchPlan.of(exported, signature);
    String name = ProjectText.name(exported);
    Map<String, String> texts = new LinkedHashMap<>();
    texts.put(name + ".json", ManifestText.of(exported, signature, plan));
    texts.put(name + ".h", LoaderText.of(exported, signature, plan));
    CudaExport.traces(texts, exported, exported.traces().size() == 1);
    Map<String, byte[]> files = new LinkedHashMap<>();
    files.put(cubin(exported), compiled(exported));
    files.putAll(CudaExport.bytes(texts));
    return withSample(files, exported);
  }

  /**
   * Constants, rows and their results; the weights that constants are made of belong to sources.
   */
  private static Map<String, byte[]> withSample(Map<String, byte[]> files, Exported exported) {
    if (exported.sample() != null) {
      files.putAll(exported.sample().files());
      files.remove(SampleFiles.WEIGHTS);
    }
    return files;
  }

  /**
   * A Java class with the machine code in it.
   *
   * @throws dev.warpwright.base.DeviceError if there is no compiler here, or it refuses
   */
  static Map<String, byte[]> ofJava(Exported exported) {
    Signature signature = new Signature(exported);
    LaunchPlan plan = LaunchPlan.of(exported, signature);
    Map<String, String> texts = new LinkedHashMap<>();
    texts.put(
        JavaText.className(exported) + ".java",
        JavaText.of(exported, signature, plan, compiled(exported)));
    CudaExport.traces(texts, exported, exported.traces().size() == 1);
    return withSample(CudaExport.bytes(texts), exported);
  }

  private static byte[] compiled(Exported exported) {
    String source = CudaPrinter.print(exported.program().kernels(), exported.target());
    return CudaCompilers.compile(source, exported.target()).bytes();
  }
}
