package dev.warpwright.export;

import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.HostText;
import dev.warpwright.export.Signature.Argument;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.Program.AllReduce;
import dev.warpwright.ir.Program.BufferArgument;
import dev.warpwright.ir.Program.Carry;
import dev.warpwright.ir.Program.Launch;
import dev.warpwright.ir.Program.Memset;
import dev.warpwright.ir.Program.Role;
import dev.warpwright.ir.Program.ScalarArgument;
import dev.warpwright.ir.Program.Step;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.visit.LaunchOrder;
import dev.warpwright.ir.visit.ScalarEval;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.target.KernelResources;
import dev.warpwright.target.intrinsic.TensorMaps;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The function that launches the kernels, and what it needs. */
final class LaunchText {
  private static final String MAKE_TENSOR_MAP =
      """
      // Tells the driver how a matrix in global memory is cut into boxes; or several, one behind the
      // other.
      inline cudaError_t make_tensor_map(TensorMap* map, const void* matrix, CUtensorMapDataType type,
                                         cuuint64_t rows, cuuint64_t columns, cuuint64_t row_bytes,
                                         cuuint32_t box_rows, cuuint32_t box_columns,
                                         CUtensorMapSwizzle swizzle, cuuint64_t matrices = 0) {
        void* function = nullptr;
        cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
      #if CUDART_VERSION >= 12050
        const cudaError_t status = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function,
                                                                    12000, cudaEnableDefault, &found);
      #else
        const cudaError_t status =
            cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found);
      #endif
        if (status != cudaSuccess || found != cudaDriverEntryPointSuccess) {
          return status != cudaSuccess ? status : cudaErrorNotSupported;
        }
        const cuuint64_t sizes[] = {columns, rows, matrices};
        const cuuint64_t strides[] = {row_bytes, rows * row_bytes};
        const cuuint32_t box[] = {box_columns, box_rows, 1};
        const cuuint32_t steps[] = {1, 1, 1};
        const CUresult result = reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function)(
            reinterpret_cast<CUtensorMap*>(map), type, matrices == 0 ? 2 : 3, const_cast<void*>(matrix),
            sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
            row_bytes % 128 == 0 ? CU_TENSOR_MAP_L2_PROMOTION_L2_128B : CU_TENSOR_MAP_L2_PROMOTION_NONE,
            CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
        return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
      }

      """;

  private final Exported exported;
  private final Signature signature;
  private static final String OVERLAPS =
      """
      // It begins while the launch in front of it ends: no kernel that may still run has to be what
      // writes the constants.
      """;

  private final StringBuilder out = new StringBuilder();

  /** Names of tensor maps, which several launches have in one function. */
  private final Set<String> maps = new HashSet<>();

  private int launches;

  private LaunchText(Exported exported, Signature signature) {
    this.exported = exported;
    this.signature = signature;
  }

  static String of(Exported exported, Signature signature) {
    LaunchText text = new LaunchText(exported, signature);
    text.write();
    return text.out.toString();
  }

  /** Whether a launch makes tensor maps. */
  static boolean hasMaps(Exported exported) {
    return exported.program().kernels().stream()
        .anyMatch(kernel -> !TensorMaps.of(kernel).maps().isEmpty());
  }

  /** The constants of the only launch, by the names that it calls them; none for several. */
  static Map<String, Long> constants(Exported exported) {
    if (!isSingle(exported)) {
      return Map.of();
    }
    Kernel kernel = exported.launches().getFirst().kernel();
    Map<String, Long> constants = new LinkedHashMap<>();
    for (ThreadAxis axis : ThreadAxis.values()) {
      String name = axis.isBlock() ? "kGrid" : "kBlock";
      String text = axis.text();
      constants.put(
          name + Character.toUpperCase(text.charAt(text.length() - 1)),
          ScalarEval.eval(kernel.extent(axis), Map.of()));
    }
    constants.put("kDynamicSharedBytes", (long) KernelResources.of(kernel).dynamicSharedBytes());
    return constants;
  }

  private static boolean isSingle(Exported exported) {
    return exported.launches().size() == 1 && exported.rows() == null;
  }

  private void write() {
    if (hasMaps(exported)) {
      out.append(MAKE_TENSOR_MAP);
    }
    List<String> parameters = new ArrayList<>();
    for (Argument argument : signature.arguments()) {
      parameters.add(argument.type() + " " + argument.name());
    }
    parameters.add("cudaStream_t stream = nullptr");
    out.append(
        "// Launches what is above; pointers are to memory of the GPU, at multiples of 16 bytes.\n");
    if (exported.program().kernels().stream().anyMatch(LaunchOrder::overlaps)) {
      out.append(OVERLAPS);
    }
    head("inline cudaError_t " + signature.function() + "(", parameters);
    ScalarParam rows = exported.rows();
    if (rows != null) {
      String name = signature.text().of(rows);
      line(1, "if (" + name + " == 0) {");
      line(2, "return cudaSuccess;");
      line(1, "}");
      String above = rows.max() < Integer.MAX_VALUE ? " || " + name + " > " + rows.max() : "";
      line(1, "if (" + name + " < " + Math.max(0, rows.min()) + above + ") {");
      line(2, "return cudaErrorInvalidValue;");
      line(1, "}");
    }
    if (!exported.buffers(Role.CONSTANT).isEmpty()) {
      line(1, "const char* const base = static_cast<const char*>(" + Signature.CONSTANTS + ");");
    }
    if (mayFail()) {
      line(1, "cudaError_t status;");
    }
    for (Step step : exported.program().steps()) {
      switch (step) {
        case Launch launch -> launch(launch);
        case Carry(Buffer from, Buffer to) -> carry(from, to);
        case AllReduce sum -> throw sum.alone();
        case Memset(Buffer buffer, int value) -> {
          String name = signature.text().of(buffer);
          line(
              1,
              String.format(
                  Locale.ROOT,
                  "status = cudaMemsetAsync(%s, %d, sizeof(*%s) * (%s), stream);",
                  name,
                  value,
                  name,
                  signature.elements(buffer)));
          giveUp();
        }
      }
    }
    line(1, "return cudaGetLastError();");
    line(0, "}");
  }

  /** One memory for both has what it is to begin as. */
  private void carry(Buffer from, Buffer to) {
    String source = signature.text().of(from);
    String target = signature.text().of(to);
    line(1, "if (" + target + " != " + source + ") {");
    line(
        2,
        String.format(
            Locale.ROOT,
            "status = cudaMemcpyAsync(%s, %s, sizeof(*%s) * (%s),",
            target,
            source,
            target,
            signature.elements(to)));
    line(2, "                         cudaMemcpyDeviceToDevice, stream);");
    line(2, "if (status != cudaSuccess) {");
    line(3, "return status;");
    line(2, "}");
    line(1, "}");
  }

  /** Whether something before a launch may fail. */
  private boolean mayFail() {
    return hasMaps(exported)
        || exported.program().steps().stream().anyMatch(step -> !(step instanceof Launch))
        || exported.program().kernels().stream()
            .anyMatch(
                kernel ->
                    KernelResources.of(kernel).dynamicSharedBytes() > 0
                        || LaunchOrder.overlaps(kernel));
  }

  private void launch(Launch launch) {
    Kernel kernel = launch.kernel();
    String function = CudaPrinter.functionName(kernel);
    int dynamic = KernelResources.of(kernel).dynamicSharedBytes();
    boolean single = isSingle(exported);
    String bytes = single ? "kDynamicSharedBytes" : Integer.toString(dynamic);
    if (dynamic > 0) {
      line(1, "status = cudaFuncSetAttribute(" + function + ",");
      line(
          1,
          "                              cudaFuncAttributeMaxDynamicSharedMemorySize, "
              + bytes
              + ");");
      giveUp();
    }
    Map<Var, Expr> scalars = new HashMap<>();
    Map<Buffer, String> memory = new HashMap<>();
    List<String> arguments = new ArrayList<>();
    for (int i = 0; i < launch.arguments().size(); i++) {
      Param param = kernel.params().get(i);
      arguments.add(
          switch (launch.arguments().get(i)) {
            case BufferArgument(Buffer buffer) -> {
              String pointer = pointer(buffer);
              memory.put((Buffer) param, pointer);
              yield pointer;
            }
            case ScalarArgument(Expr value) -> {
              scalars.put(((ScalarParam) param).var(), value);
              yield signature.text().of(value);
            }
          });
    }
    Substitution at = Substitution.ofVars(scalars);
    for (TensorMaps.Spec map : TensorMaps.of(kernel).maps()) {
      arguments.add(map(map, String.valueOf(memory.get(map.global())), at, arguments));
    }
    launches++;
    // Several launches have several grids in one function.
    String suffix = launches == 1 ? "" : "_" + launches;
    String grid = single ? "(kGridX, kGridY, kGridZ)" : dim(kernel, ThreadAxis.BLOCK_X, at);
    String block = single ? "(kBlockX, kBlockY, kBlockZ)" : dim(kernel, ThreadAxis.THREAD_X, at);
    line(1, "const dim3 grid" + suffix + grid + ";");
    line(1, "const dim3 block" + suffix + block + ";");
    if (LaunchOrder.overlaps(kernel)) {
      overlapping(function, suffix, bytes, arguments);
      return;
    }
    line(
        1,
        String.format(
            Locale.ROOT, "%s<<<grid%s, block%s, %s, stream>>>(", function, suffix, suffix, bytes));
    line(3, wrapped(arguments, 3) + ");");
  }

  /**
   * A launch that may begin before those before it have ended: the kernel waits for them itself.
   */
  private void overlapping(String function, String suffix, String bytes, List<String> arguments) {
    line(1, "cudaLaunchAttribute overlap" + suffix + " = {};");
    line(1, "overlap" + suffix + ".id = cudaLaunchAttributeProgrammaticStreamSerialization;");
    line(1, "overlap" + suffix + ".val.programmaticStreamSerializationAllowed = 1;");
    line(1, "cudaLaunchConfig_t config" + suffix + " = {};");
    line(1, "config" + suffix + ".gridDim = grid" + suffix + ";");
    line(1, "config" + suffix + ".blockDim = block" + suffix + ";");
    line(1, "config" + suffix + ".dynamicSmemBytes = " + bytes + ";");
    line(1, "config" + suffix + ".stream = stream;");
    line(1, "config" + suffix + ".attrs = &overlap" + suffix + ";");
    line(1, "config" + suffix + ".numAttrs = 1;");
    line(1, "status = cudaLaunchKernelEx(&config" + suffix + ", " + function + ",");
    line(3, wrapped(arguments, 3) + ");");
    giveUp();
  }

  private String pointer(Buffer buffer) {
    Long offset = exported.sample() == null ? null : exported.sample().constants().get(buffer);
    if (offset == null) {
      return signature.text().of(buffer);
    }
    String type = HostText.type(buffer.dtype());
    return String.format(
        Locale.ROOT,
        "reinterpret_cast<const %s*>(base + %s)",
        type,
        HeaderText.offset(signature, buffer));
  }

  /** Makes a tensor map, and gives its name. */
  private String map(TensorMaps.Spec map, String matrix, Substitution at, List<String> taken) {
    String name = HostText.identifier(map.global().name()) + "_map";
    for (int i = 2; taken.contains(name) || maps.contains(name); i++) {
      name = HostText.identifier(map.global().name()) + "_map_" + i;
    }
    maps.add(name);
    List<String> shape =
        map.global().shape().stream().map(e -> signature.text().of(at.expr(e))).toList();
    String rows = shape.get(shape.size() - 2);
    String columns = shape.getLast();
    String matrices = shape.size() == 2 ? "" : ", " + shape.getFirst();
    DType dtype = map.global().dtype();
    line(1, "TensorMap " + name + ";");
    line(
        1,
        String.format(
            Locale.ROOT,
            "status = make_tensor_map(&%s, %s, %s, %s, %s,",
            name,
            matrix,
            elementType(dtype),
            rows,
            columns));
    line(
        1,
        String.format(
            Locale.ROOT,
            "                         %s * sizeof(*%s), %d, %d, %s%s);",
            columns,
            matrix,
            map.rows(),
            map.cols(),
            swizzle(map.swizzleBytes()),
            matrices));
    giveUp();
    return name;
  }

  private static String swizzle(int bytes) {
    return "CU_TENSOR_MAP_SWIZZLE_" + (bytes == 0 ? "NONE" : bytes + "B");
  }

  /** The driver's name of a tensor map's elements. */
  static String elementType(DType dtype) {
    String name =
        switch (dtype) {
          case BOOL, I8, U8, F8E4M3, F8E5M2 -> "UINT8";
          case I32 -> "INT32";
          case U32 -> "UINT32";
          case I64 -> "INT64";
          case U64 -> "UINT64";
          case F16 -> "FLOAT16";
          case BF16 -> "BFLOAT16";
          case F32 -> "FLOAT32";
          case F64 -> "FLOAT64";
          case MBARRIER, HANDLE ->
              throw new IllegalArgumentException("no tensor map holds elements of type " + dtype);
        };
    return "CU_TENSOR_MAP_DATA_TYPE_" + name;
  }

  private String dim(Kernel kernel, ThreadAxis first, Substitution at) {
    List<String> extents = new ArrayList<>();
    for (int d = 0; d < 3; d++) {
      Expr extent = kernel.extent(ThreadAxis.values()[first.ordinal() + d]);
      extents.add(signature.text().of(at.expr(extent)));
    }
    while (extents.size() > 1 && extents.getLast().equals("1")) {
      extents.removeLast();
    }
    return "(" + String.join(", ", extents) + ")";
  }

  private void giveUp() {
    line(1, "if (status != cudaSuccess) {");
    line(2, "return status;");
    line(1, "}");
  }

  private void head(String start, List<String> parameters) {
    String joined = String.join(", ", parameters);
    if (start.length() + joined.length() <= 96) {
      line(0, start + joined + ") {");
    } else {
      line(0, start);
      line(2, wrapped(parameters, 2) + ") {");
    }
  }

  /** Parts with commas, in lines of at most 100 columns. */
  static String wrapped(List<String> parts, int depth) {
    StringBuilder text = new StringBuilder();
    int column = 2 * depth;
    for (int i = 0; i < parts.size(); i++) {
      String part = parts.get(i) + (i + 1 < parts.size() ? "," : "");
      if (i > 0 && column + 1 + part.length() > 97) {
        text.append('\n').append("  ".repeat(depth));
        column = 2 * depth;
      } else if (i > 0) {
        text.append(' ');
        column++;
      }
      text.append(part);
      column += part.length();
    }
    return text.toString();
  }

  private void line(int depth, @Nullable String text) {
    out.append("  ".repeat(depth)).append(text).append('\n');
  }
}
