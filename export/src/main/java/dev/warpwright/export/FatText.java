package dev.warpwright.export;

import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.HostText;
import dev.warpwright.export.Exported.State;
import dev.warpwright.export.Signature.Argument;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Program.Role;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.target.GpuTarget;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * What is exported for several GPUs: a source for each, which alone knows its kernels' workspace
 * and tables, and a header that picks one at run time.
 */
final class FatText {
  private FatText() {}

  /** What a target's functions begin with: {@code digits_sm_80}. */
  static String prefix(String name, GpuTarget target) {
    return name + "_" + target.name();
  }

  /** The source of a target. */
  static String unit(Exported variant, String name) {
    Signature own = new Signature(variant);
    String prefix = prefix(name, variant.target());
    ScalarParam rows = variant.rows();
    String row = rows == null ? "" : "int " + own.text().of(rows);
    StringBuilder out = new StringBuilder();
    out.append(
        String.format(
            Locale.ROOT,
            """
            // %1$s for %2$s, as kernel.cuh calls it:
            //   nvcc %3$s -c target_%2$s.cu
            #include "kernel_%2$s.cuh"

            // Pieces of the workspace begin at multiples of 256 bytes.
            inline std::size_t rounded(std::size_t bytes) {
              return (bytes + 255) / 256 * 256;
            }

            """,
            name,
            variant.target().name(),
            CudaExport.flags(variant.target())));
    out.append("extern \"C\" std::size_t " + prefix + "_workspace(" + row + ") {\n");
    out.append("  std::size_t end = 0;\n");
    for (Buffer buffer : variant.program().workspace()) {
      out.append("  end += " + bytes(own, buffer) + ";\n");
    }
    out.append("  return end;\n}\n\n");
    out.append(
        "extern \"C\" cudaError_t "
            + prefix
            + "_prepare("
            + join("void* workspace", row, "cudaStream_t stream")
            + ") {\n");
    out.append("  cudaError_t status = cudaSuccess;\n");
    if (!variant.state().isEmpty()) {
      out.append("  char* at = static_cast<char*>(workspace);\n");
      for (Buffer buffer : variant.program().workspace()) {
        State state = variant.state().get(buffer);
        if (state != null) {
          String call =
              state instanceof State.Zero
                  ? String.format(
                      Locale.ROOT, "cudaMemsetAsync(at, 0, %s, stream)", bytes(own, buffer))
                  : String.format(
                      Locale.ROOT,
                      "cudaMemcpyAsync(at, %1$s, sizeof(%1$s), cudaMemcpyHostToDevice, stream)",
                      own.table(buffer));
          out.append("  if (status == cudaSuccess) {\n    status = " + call + ";\n  }\n");
        }
        out.append("  at += " + bytes(own, buffer) + ";\n");
      }
    } else {
      out.append("  static_cast<void>(workspace);\n  static_cast<void>(stream);\n");
      out.append(rows == null ? "" : "  static_cast<void>(" + own.text().of(rows) + ");\n");
    }
    out.append("  return status;\n}\n\n");
    launch(out, variant, own, prefix);
    return out.toString();
  }

  private static void launch(StringBuilder out, Exported variant, Signature own, String prefix) {
    List<String> parameters = new ArrayList<>();
    List<String> passed = new ArrayList<>();
    List<Buffer> workspace = variant.program().workspace();
    StringBuilder pieces = new StringBuilder();
    for (Argument argument : own.arguments()) {
      Buffer buffer = argument.buffer();
      String constant = argument.type().startsWith("const") ? "const " : "";
      if (buffer != null && workspace.contains(buffer)) {
        pieces.append(
            String.format(
                Locale.ROOT,
                "  %1$s %2$s = reinterpret_cast<%1$s>(at);\n  at += %3$s;\n",
                argument.type(),
                argument.name(),
                bytes(own, buffer)));
        passed.add(argument.name());
      } else if (argument.isPointer()) {
        parameters.add(constant + "void* " + argument.name());
        passed.add(
            buffer == null
                ? argument.name()
                : "static_cast<" + argument.type() + ">(" + argument.name() + ")");
      } else {
        parameters.add("int " + argument.name());
        passed.add(argument.name());
      }
    }
    parameters.add("void* workspace");
    parameters.add("cudaStream_t stream");
    passed.add("stream");
    out.append("extern \"C\" cudaError_t " + prefix + "_launch(\n    ");
    out.append(LaunchText.wrapped(parameters, 2)).append(") {\n");
    out.append(
        pieces.isEmpty()
            ? "  static_cast<void>(workspace);\n"
            : "  char* at = static_cast<char*>(workspace);\n" + pieces);
    out.append("  return " + own.function() + "(\n      ");
    out.append(LaunchText.wrapped(passed, 3)).append(");\n}\n");
  }

  private static String bytes(Signature own, Buffer buffer) {
    return String.format(
        Locale.ROOT,
        "rounded(sizeof(%s) * (%s))",
        HostText.type(buffer.dtype()),
        own.elements(buffer));
  }

  private static String join(String... parts) {
    return Arrays.stream(parts).filter(part -> !part.isEmpty()).collect(Collectors.joining(", "));
  }

  /** The header. */
  static String header(List<Exported> variants, Signature signature, String name) {
    Exported exported = variants.getFirst();
    ScalarParam rows = exported.rows();
    String row = rows == null ? "" : "int " + signature.text().of(rows);
    String given = rows == null ? "" : signature.text().of(rows);
    StringBuilder out = new StringBuilder();
    out.append("// " + exported.about() + ".\n//\n// For ");
    out.append(variants.stream().map(v -> v.target().name()).collect(Collectors.joining(", ")));
    out.append(
        """
        ; which one is found at run time. Link target_*.cu, each compiled for its GPU alone.
        #pragma once

        #include <cuda_runtime.h>

        #include <cstddef>

        """);
    Set<String> types = new TreeSet<>();
    for (Role role : List.of(Role.INPUT, Role.OUTPUT)) {
      exported.buffers(role).forEach(b -> types.add(CudaPrinter.definition(b.dtype())));
    }
    types.stream().filter(each -> !each.isEmpty()).forEach(each -> out.append(each).append('\n'));
    HeaderText.constants(exported)
        .forEach(
            (constant, value) ->
                out.append(
                    String.format(Locale.ROOT, "constexpr int %s = %d;\n", constant, value)));
    List<String> erased = new ArrayList<>();
    List<String> names = new ArrayList<>();
    List<String> typed = new ArrayList<>();
    for (Argument argument : signature.arguments()) {
      typed.add(argument.type() + " " + argument.name());
      names.add(argument.name());
      erased.add(
          argument.isPointer()
              ? (argument.type().startsWith("const") ? "const void*" : "void*")
              : "int");
    }
    erased.add("cudaStream_t");
    names.add("stream");
    typed.add("cudaStream_t stream = nullptr");
    out.append("\nextern \"C\" {\n");
    for (Exported variant : variants) {
      String prefix = prefix(name, variant.target());
      out.append("std::size_t " + prefix + "_workspace(" + row + ");\n");
      out.append(
          "cudaError_t "
              + prefix
              + "_prepare("
              + join("void* workspace", row, "cudaStream_t stream")
              + ");\n");
      out.append("cudaError_t " + prefix + "_launch(\n    ");
      out.append(LaunchText.wrapped(erased, 2)).append(");\n");
    }
    out.append("}\n\n");
    out.append(target(variants, name));
    out.append("// Bytes of the workspace that a launch needs; 0 where no target fits.\n");
    out.append("inline std::size_t workspace_" + name + "(" + row + ") {\n");
    choose(out, variants, name, target -> prefix(name, target) + "_workspace(" + given + ")", "0");
    out.append("// Once for each workspace: copies tables and sets counters there.\n");
    out.append(
        "inline cudaError_t prepare_"
            + name
            + "("
            + join("void* workspace", row, "cudaStream_t stream = nullptr")
            + ") {\n");
    choose(
        out,
        variants,
        name,
        target -> prefix(name, target) + "_prepare(" + join("workspace", given, "stream") + ")",
        "cudaErrorNoKernelImageForDevice");
    if (!exported.buffers(Role.CONSTANT).isEmpty()) {
      out.append("// The file with the constants for the current GPU, and its bytes.\n");
      out.append("inline const char* constants_file_" + name + "() {\n");
      choose(out, variants, name, t -> '"' + of(variants, t).constantsFile() + '"', "\"\"");
      out.append("inline std::size_t constants_bytes_" + name + "() {\n");
      choose(out, variants, name, t -> Long.toString(bytes(of(variants, t))), "0");
    }
    out.append("// Launches on the current GPU; pointers are to its memory.\n");
    out.append("inline cudaError_t " + signature.function() + "(\n    ");
    out.append(LaunchText.wrapped(typed, 2)).append(") {\n");
    choose(
        out,
        variants,
        name,
        target -> prefix(name, target) + "_launch(" + String.join(", ", names) + ")",
        "cudaErrorNoKernelImageForDevice");
    return out.toString().stripTrailing() + "\n";
  }

  private static Exported of(List<Exported> variants, GpuTarget target) {
    return variants.stream().filter(v -> v.target() == target).findFirst().orElseThrow();
  }

  /** Of the file of constants. */
  static long bytes(Exported exported) {
    Exported.Sample sample = Objects.requireNonNull(exported.sample());
    byte[] file = sample.files().get(exported.constantsFile());
    return file == null ? 0 : file.length;
  }

  private static void choose(
      StringBuilder out,
      List<Exported> variants,
      String name,
      Function<GpuTarget, String> call,
      String none) {
    out.append("  switch (target_" + name + "()) {\n");
    for (Exported variant : variants) {
      out.append("    case " + number(variant.target()) + ":\n");
      out.append("      return " + call.apply(variant.target()) + ";\n");
    }
    out.append("  }\n  return " + none + ";\n}\n\n");
  }

  /** 80 for sm_80, 90 for sm_90a. */
  static int number(GpuTarget target) {
    return target.arch();
  }

  /** Code of a target runs on GPUs of the same major version and the same or a later minor one. */
  private static String target(List<Exported> variants, String name) {
    StringBuilder out = new StringBuilder();
    out.append(
        String.format(
            Locale.ROOT,
            """
            // The target that the current GPU runs: the newest of its major version; 0 for none.
            inline int target_%s() {
              int device = 0;
              int major = 0;
              int minor = 0;
              if (cudaGetDevice(&device) != cudaSuccess ||
                  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) !=
                      cudaSuccess ||
                  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) !=
                      cudaSuccess) {
                return 0;
              }
              int best = 0;
              for (const int target : {%s}) {
                if (target / 10 == major && target %% 10 <= minor && target > best) {
                  best = target;
                }
              }
              return best;
            }

            """,
            name,
            variants.stream()
                .map(v -> Integer.toString(number(v.target())))
                .collect(Collectors.joining(", "))));
    return out.toString();
  }

  /** For CMake. */
  static String cmake(List<Exported> variants, String name) {
    StringBuilder out = new StringBuilder();
    out.append(
        String.format(
            Locale.ROOT,
            """
            cmake_minimum_required(VERSION 3.24)
            project(%s LANGUAGES CUDA)

            # A library for each GPU, compiled for it alone.
            """,
            name));
    for (Exported variant : variants) {
      out.append(
          String.format(
              Locale.ROOT,
              """
              add_library(%1$s OBJECT target_%2$s.cu)
              set_target_properties(%1$s PROPERTIES CUDA_ARCHITECTURES %3$s-real CUDA_STANDARD 17
                                    POSITION_INDEPENDENT_CODE ON)
              # Multiply-adds are fused where the source says so, and nowhere else.
              target_compile_options(%1$s PRIVATE -fmad=false)
              """,
              prefix(name, variant.target()),
              variant.target().name(),
              variant.target().name().substring("sm_".length())));
    }
    String libraries =
        variants.stream().map(v -> prefix(name, v.target())).collect(Collectors.joining(" "));
    out.append(
        String.format(
            Locale.ROOT,
            """

            add_executable(%1$s main.cu)
            add_library(%1$s_op SHARED torch_op.cu)
            foreach(built %1$s %1$s_op)
              set_target_properties(${built} PROPERTIES CUDA_ARCHITECTURES %2$s-real CUDA_STANDARD 17)
              target_link_libraries(${built} PRIVATE %3$s)
            endforeach()
            """,
            name,
            variants.getFirst().target().name().substring("sm_".length()),
            libraries));
    return out.toString();
  }

  /** For make; {@code make -j} compiles for all GPUs at once. */
  static String makefile(List<Exported> variants, String name) {
    String objects =
        variants.stream()
            .map(v -> "target_" + v.target().name() + ".o")
            .collect(Collectors.joining(" "));
    StringBuilder out = new StringBuilder();
    out.append(
        String.format(
            Locale.ROOT,
            """
            NVCC ?= nvcc
            NVCCFLAGS ?= -std=c++17 -fmad=false -O3
            OBJECTS = %2$s

            all: %1$s op.so

            %1$s: main.cu kernel.cuh $(OBJECTS)
            \t$(NVCC) $(NVCCFLAGS) -o $@ main.cu $(OBJECTS)

            op.so: torch_op.cu kernel.cuh $(OBJECTS)
            \t$(NVCC) $(NVCCFLAGS) -shared -Xcompiler -fPIC -o $@ torch_op.cu $(OBJECTS)

            """,
            name,
            objects));
    for (Exported variant : variants) {
      String target = variant.target().name();
      out.append(
          String.format(
              Locale.ROOT,
              """
              target_%1$s.o: target_%1$s.cu kernel_%1$s.cuh
              \t$(NVCC) %2$s -Xcompiler -fPIC -c -o $@ target_%1$s.cu

              """,
              target,
              CudaExport.flags(variant.target())));
    }
    out.append(
        String.format(
            Locale.ROOT,
            """
            check: %1$s
            \t./%1$s

            clean:
            \trm -f %1$s op.so $(OBJECTS)

            .PHONY: all check clean
            """,
            name));
    return out.toString();
  }
}
