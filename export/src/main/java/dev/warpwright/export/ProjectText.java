package dev.warpwright.export;

import dev.warpwright.cuda.HostText;
import dev.warpwright.export.Signature.Argument;
import dev.warpwright.ir.Program.Role;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What makes a project of the sources: build files, a page that explains them, a Python package.
 */
final class ProjectText {
  /** Names that an operator cannot have in its module. */
  private static final Set<String> PYTHON =
      Set.of(
          "and",
          "as",
          "assert",
          "async",
          "await",
          "break",
          "class",
          "continue",
          "ctypes",
          "def",
          "del",
          "elif",
          "else",
          "except",
          "finally",
          "for",
          "from",
          "global",
          "if",
          "import",
          "in",
          "is",
          "lambda",
          "nonlocal",
          "not",
          "or",
          "pass",
          "pathlib",
          "raise",
          "return",
          "subprocess",
          "torch",
          "try",
          "while",
          "with",
          "yield");

  private ProjectText() {}

  /**
   * A name that C++, CMake and Python take, made of any text: {@code digits-64} becomes {@code
   * digits_64}.
   */
  static String name(String text) {
    String name = HostText.identifier(text);
    return PYTHON.contains(name) ? "op_" + name : name;
  }

  static String cmake(Exported exported) {
    return String.format(
        Locale.ROOT,
        """
        cmake_minimum_required(VERSION 3.24)
        project(%1$s LANGUAGES CUDA)

        add_executable(%1$s main.cu)
        add_library(%1$s_op SHARED torch_op.cu)
        foreach(built %1$s %1$s_op)
          set_target_properties(${built} PROPERTIES CUDA_ARCHITECTURES %2$s-real CUDA_STANDARD 17)
          # Products and sums are fused where the source says so, and nowhere else.
          target_compile_options(${built} PRIVATE -fmad=false)
        endforeach()
        """,
        name(exported),
        exported.target().name().substring("sm_".length()));
  }

  /** For make, with tabs where it wants them. */
  static String makefile(Exported exported) {
    return String.format(
        Locale.ROOT,
        """
        NVCC ?= nvcc
        NVCCFLAGS ?= %2$s

        all: %1$s op.so

        %1$s: main.cu kernel.cuh
        \t$(NVCC) $(NVCCFLAGS) -o $@ main.cu

        op.so: torch_op.cu kernel.cuh
        \t$(NVCC) $(NVCCFLAGS) -shared -Xcompiler -fPIC -o $@ torch_op.cu

        check: %1$s
        \t./%1$s

        clean:
        \trm -f %1$s op.so

        .PHONY: all check clean
        """,
        name(exported),
        CudaExport.flags(exported.target()));
  }

  /** Makes the folder a package, so that two exports have two names in one process. */
  static String init(Exported exported) {
    String name = name(exported);
    return ModuleText.has(exported)
        ? String.format(
            Locale.ROOT,
            "from .module import Model\nfrom .torch_op import %1$s, %1$s_with\n\n"
                + "__all__ = [\"Model\", \"%1$s\", \"%1$s_with\"]\n",
            name)
        : String.format(Locale.ROOT, "from .torch_op import %1$s\n\n__all__ = [\"%1$s\"]\n", name);
  }

  static String readme(Exported exported, Signature signature) {
    String name = name(exported);
    List<String> rows =
        signature.arguments().stream()
            .map(
                argument ->
                    String.format(
                        Locale.ROOT,
                        "| `%s` | `%s` | %s |",
                        argument.name(),
                        argument.type(),
                        meaning(exported, signature, argument)))
            .toList();
    String inputs =
        exported.buffers(Role.INPUT).stream()
            .map(signature.text()::of)
            .collect(Collectors.joining(", "));
    return String.format(
        Locale.ROOT,
        """
        # %1$s

        %2$s. Compiled by Warpwright for %3$s; to build it nvcc is enough, to run it a GPU of that kind.

        | build | with |
        |---|---|
        | the program that runs%4$s and times it | `make check`, or `cmake -B build && cmake --build build` |
        | that program and the operator's library, not run | `make` |
        | the PyTorch operator | by itself, when it is imported first |

        %9$s: `%5$s` launches it on a stream and returns a `cudaError_t`. It allocates nothing.

        | argument | type | what |
        |---|---|---|
        %6$s
        | `stream` | `cudaStream_t` | where it runs |

        From PyTorch, with the folder's parent on the path (the folder is a package; its name is yours to choose):

        ```
        from FOLDER import %1$s
        result = %1$s(%7$s)
        ```

        The operator is `torch.ops.warpwright.%1$s` and has a meta function, for `torch.compile`.
        %10$s%8$s""",
        name,
        exported.about(),
        targets(signature),
        exported.isChecked() ? ", checks" : "",
        signature.function(),
        String.join("\n", rows),
        inputs,
        ModuleText.has(exported) ? module(exported) : "",
        signature.isFat()
            ? "`kernel.cuh` and the objects of `target_*.cu`, each compiled for its GPU, are all that an"
                + " application needs"
            : "`kernel.cuh` is all that an application needs",
        compared(exported));
  }

  private static String targets(Signature signature) {
    return signature.variants().stream()
        .map(variant -> variant.target().name())
        .collect(Collectors.joining(", "));
  }

  private static String compared(Exported exported) {
    return exported.sample() instanceof Exported.Sample sample && sample.isDrawn()
        ? String.format(
            Locale.ROOT,
            """

            The program launches all rows of the sample. %s (`%s` has their numbers), and of all the others each element has
            to be written; which rows they are was drawn when this was exported.
            """,
            ResultsText.compared(sample),
            SampleFiles.COMPARED)
        : "";
  }

  private static String module(Exported exported) {
    return String.format(
        Locale.ROOT,
        """

        With weights of your own, for example a later checkpoint of the same network:

        ```
        from FOLDER import Model
        model = Model().cuda()
        model.load_state_dict(torch.load("state_dict.pth"))
        ```

        Its parameters are %s; they are packed for the kernels when they are loaded (`model.repack()` after changes in
        place). `torch.ops.warpwright.%s_with` takes the packed block as its last argument. Constants that were computed
        from other weights keep the values of `%s`.
        """,
        exported.sample() == null
            ? ""
            : exported.sample().weights().names().stream()
                .map(each -> "`" + each + "`")
                .collect(Collectors.joining(", ")),
        name(exported),
        exported.constantsFile());
  }

  private static String meaning(Exported exported, Signature signature, Argument argument) {
    if (argument.buffer() == null) {
      if (argument.name().equals(Signature.WORKSPACE)) {
        return "scratch of `workspace_"
            + name(exported)
            + "` bytes, once given to `prepare_"
            + name(exported)
            + "`";
      }
      if (argument.isPointer() && signature.isFat()) {
        return "the file that `constants_file_" + name(exported) + "` names, in the GPU's memory";
      }
      return argument.isPointer()
          ? "`" + SampleFiles.CONSTANTS + "` in the GPU's memory"
          : "the number of rows";
    }
    String role =
        exported.buffers(Role.INPUT).contains(argument.buffer())
            ? "input"
            : exported.buffers(Role.OUTPUT).contains(argument.buffer())
                ? "output"
                : switch (exported.state().get(argument.buffer())) {
                  case Exported.State.Table _ -> "a table of `kernel.cuh`, copied there once";
                  case Exported.State.Zero _ -> "zeros before the first launch";
                  case null -> "scratch";
                };
    return role
        + ", "
        + signature.shape(argument.buffer())
        + ", from a multiple of "
        + argument.buffer().alignment()
        + " bytes on";
  }

  /** The name of the function and the operator. */
  static String name(Exported exported) {
    return HostText.identifier(exported.program().name());
  }
}
