package dev.warpwright.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warpwright.cuda.compile.CompileRequest;
import dev.warpwright.cuda.compile.CudaCompiler;
import dev.warpwright.cuda.compile.CudaCompilers;
import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.target.GpuTarget;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class HostileNamesTest {
  private static final List<String> NAMES =
      List.of(
          "",
          " ",
          "0",
          "3d",
          "_",
          "__x",
          "a__b",
          "_Reserved",
          "int",
          "class",
          "and",
          "auto",
          "unsigned",
          "f16",
          "Vec",
          "to_f32",
          "linux",
          "unix",
          "NULL",
          "INFINITY",
          "M_PI",
          "EOF",
          "stdin",
          "assert",
          "max",
          "fmaxf",
          "threadIdx",
          "blockIdx",
          "shared_memory",
          "A",
          "a",
          "a.b",
          "a-b",
          "a b",
          "größe",
          "重み",
          "x\"; asm(\"trap;\"); //",
          "x\n#include \"no.h\"",
          "*/ int y; /*",
          "x\\",
          "x??/",
          "// x",
          "x;}",
          "\u2028",
          "%s%n",
          "a".repeat(500),
          "layers.0.weight",
          "layers.0.weight",
          "errno",
          "printf",
          "exp",
          "y0",
          "gamma",
          "main",
          "float4",
          "size_t",
          "ldmatrix_x4",
          "__syncthreads",
          "cudaMalloc",
          "memcpy");

  @Test
  void namesBecomeIdentifiersOfTheirOwn() {
    Names names = new Names(Set.of());
    Set<String> seen = new HashSet<>();
    for (String name : NAMES) {
      String declared = names.declare(name);
      assertThat(declared).matches("[A-Za-z][A-Za-z0-9_]{0,60}").doesNotContain("__");
      assertThat(seen.add(declared)).as("%s is new", declared).isTrue();
    }
    assertThat(names.declare("layers.0.bias")).isEqualTo("layers_0_bias");
    assertThat(names.declare("aTile")).isEqualTo("a_tile");
  }

  @Test
  void aKernelKeepsItsNameWhereThatIsPossible() {
    assertThat(Names.kernel("mlp_fused")).isEqualTo("mlp_fused");
    assertThat(Names.kernel("Layer1")).isEqualTo("Layer1");
    for (String name : NAMES) {
      assertThat(Names.kernel(name)).matches("[A-Za-z][A-Za-z0-9_]*").doesNotContain("__");
    }
    assertThat(Names.kernel("exp")).isEqualTo("exp_kernel");
    assertThat(Names.kernel("NULL")).isEqualTo("null_kernel");
  }

  @Test
  void commentsEndWithTheirLine() {
    for (String text : NAMES) {
      String safe = CudaPrinter.commentText(text);
      assertThat(safe).matches("[ -~]*").doesNotContain("\\").doesNotContain("??");
    }
  }

  @Test
  void whatIsPrintedCompiles() {
    Optional<CudaCompiler> compiler = CudaCompilers.system();
    assumeTrue(compiler.isPresent(), "no CUDA compiler: hostile names are not compiled");
    List<Kernel> kernels = new ArrayList<>();
    Set<String> functions = new HashSet<>();
    for (String name : NAMES) {
      if (functions.add(Names.kernel(name))) {
        kernels.add(kernel(name));
      }
    }
    String text = CudaPrinter.print(kernels, GpuTarget.SM_80);
    assertThat(text).matches("(?s)[ -~\n]*");
    for (String line : text.lines().toList()) {
      if (line.contains("asm(") || line.contains("#include")) {
        assertThat(line.strip()).startsWith("//");
      }
    }
    assertThat(compiler.get().compile(new CompileRequest(text, "sm_80")).bytes()).isNotEmpty();
  }

  /** Copies an element of each of many buffers, with a remark. */
  private static Kernel kernel(String name) {
    Buffer out = Buffer.of("out", DType.F32, Scope.GLOBAL, 64);
    Var thread = Var.index("threadIdx");
    List<Param> params = new ArrayList<>(List.of(out));
    List<Stmt> stmts = new ArrayList<>();
    for (String each : NAMES) {
      Buffer in = Buffer.of(each, DType.F32, Scope.GLOBAL, 64);
      params.add(in);
      stmts.add(new Stmt.Comment(each));
      stmts.add(
          new Stmt.Store(
              out, List.of(thread), Exprs.max(Exprs.load(out, thread), Exprs.load(in, thread))));
    }
    return new Kernel(
        name,
        Kernel.Kind.GRID,
        params,
        List.of(new ThreadBinding(ThreadAxis.THREAD_X, thread, Exprs.i32(64))),
        Stmts.seq(stmts),
        Attrs.NONE);
  }
}
