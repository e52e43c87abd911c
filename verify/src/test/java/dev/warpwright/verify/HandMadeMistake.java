package dev.warpwright.verify;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.verify.Problem;
import dev.warpwright.ir.verify.Verifier;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * A mistake that somebody might make in a kernel's text: lines that stand there, and those that
 * stand there instead.
 */
record HandMadeMistake(String kernel, String name, List<Edit> edits) {
  /** Consecutive lines, without their indentation, and what they become. */
  record Edit(List<String> before, List<String> after, int place) {}

  /** Kernels with a list of mistakes. */
  static final List<String> KERNELS = List.of("gemm_bf16_sm90", "ffn_bf16_sm90_m16");

  /** All mistakes in a kernel. */
  static List<HandMadeMistake> in(String kernel) {
    List<HandMadeMistake> mistakes = new ArrayList<>();
    for (String block : resource(kernel + ".mistakes").split("(?m)^(?=\\[)")) {
      List<String> lines = block.lines().filter(line -> !line.isBlank()).toList();
      if (!block.startsWith("[")) {
        continue;
      }
      String title = lines.getFirst().substring(1, lines.getFirst().length() - 1);
      int at = title.indexOf(" @");
      int place = at < 0 ? 1 : Integer.parseInt(title.substring(at + 2));
      mistakes.add(
          new HandMadeMistake(kernel, title, edits(lines.subList(1, lines.size()), place)));
    }
    return mistakes;
  }

  /** A run of lines with minus and one with plus are an edit. */
  private static List<Edit> edits(List<String> lines, int place) {
    List<Edit> edits = new ArrayList<>();
    List<String> before = new ArrayList<>();
    List<String> after = new ArrayList<>();
    for (String line : lines) {
      if (line.startsWith("- ") && !after.isEmpty()) {
        edits.add(new Edit(List.copyOf(before), List.copyOf(after), place));
        before.clear();
        after.clear();
      }
      (line.startsWith("- ") ? before : after).add(line.substring(2).strip());
    }
    edits.add(new Edit(List.copyOf(before), List.copyOf(after), place));
    return edits;
  }

  /** The kernel's text with the mistake. */
  String text() {
    List<String> lines = new ArrayList<>(source(kernel).lines().toList());
    for (Edit edit : edits) {
      int left = edit.place;
      int length = edit.before.size();
      for (int i = 0; i + length <= lines.size() && left > 0; i++) {
        List<String> there = lines.subList(i, i + length);
        if (there.stream().map(String::strip).toList().equals(edit.before) && --left == 0) {
          there.clear();
          lines.addAll(i, edit.after);
        }
      }
      if (left > 0) {
        throw new IllegalStateException(name + ": there is no such place in " + kernel);
      }
    }
    return String.join("\n", lines);
  }

  /**
   * What is said about the kernel with the mistake by default, by parser, verifier or check; empty
   * if nothing.
   */
  String verdict(long seed) {
    try {
      Kernel changed = new IrParser(Intrinsics::find).kernel(kernel, text());
      List<Problem> problems = Verifier.verify(changed);
      if (!problems.isEmpty()) {
        return "refused: " + problems.getFirst();
      }
      return WorkloadCheck.first(changed, CheckOptions.of(seed))
          .map(finding -> finding.kind().text() + ": " + finding.message())
          .orElse("");
    } catch (UserError | IllegalArgumentException e) {
      return "refused: " + e.getMessage();
    }
  }

  /** From the folder of the repository or of one of its modules. */
  private static String source(String kernel) {
    Path here = Path.of("kernels", kernel + ".kernel");
    try {
      return Files.readString(Files.exists(here) ? here : Path.of("..").resolve(here));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String resource(String name) {
    try (InputStream in =
        Objects.requireNonNull(HandMadeMistake.class.getResourceAsStream(name), name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public String toString() {
    return kernel + ": " + name;
  }
}
