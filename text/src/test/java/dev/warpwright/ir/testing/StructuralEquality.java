package dev.warpwright.ir.testing;

import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.text.IrPrinter;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Equality of expressions, statements, PrimFuncs, Kernels and Programs up to the names of variables
 * and buffers (alpha-equivalence). Names of functions, kernels and blocks, attributes and comments
 * count; how sequences are nested does not. Variables and buffers that are declared outside must be
 * the same objects.
 */
public final class StructuralEquality {
  private static final int SHOWN = 120;

  private StructuralEquality() {}

  public static boolean equal(Object a, Object b) {
    return CanonicalForm.of(a).values().equals(CanonicalForm.of(b).values());
  }

  /** The first difference in one line, empty if there is none. */
  public static Optional<String> difference(Object a, Object b) {
    CanonicalForm formA = CanonicalForm.of(a);
    CanonicalForm formB = CanonicalForm.of(b);
    List<Object> valuesA = formA.values();
    List<Object> valuesB = formB.values();
    int length = Math.min(valuesA.size(), valuesB.size());
    for (int i = 0; i < length; i++) {
      if (!valuesA.get(i).equals(valuesB.get(i))) {
        return Optional.of(
            String.format(
                Locale.ROOT,
                "%s and %s differ: in \"%s\" and \"%s\"",
                valuesA.get(i),
                valuesB.get(i),
                header(formA.place(i)),
                header(formB.place(i))));
      }
    }
    return valuesA.size() == valuesB.size()
        ? Optional.empty()
        : Optional.of("one of the two goes on where the other ends");
  }

  /**
   * A digest in hexadecimal that is the same for equal programs, in every run of the JVM. Variables
   * and buffers declared outside count by name.
   */
  public static String digest(Object node) {
    try {
      MessageDigest sha = MessageDigest.getInstance("SHA-256");
      for (Object value : CanonicalForm.of(node).values()) {
        String text = value instanceof CanonicalForm.Free free ? "free " + free.name() : "" + value;
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        // The length in front keeps two neighbours from running into each other.
        sha.update(
            (value.getClass().getSimpleName() + bytes.length + ":")
                .getBytes(StandardCharsets.UTF_8));
        sha.update(bytes);
      }
      return HexFormat.of().formatHex(sha.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  private static String header(Object place) {
    String text =
        switch (place) {
          case Expr e -> IrPrinter.text(e);
          case Stmt s -> IrPrinter.text(s);
          case PrimFunc f -> IrPrinter.text(f);
          case Kernel k -> IrPrinter.text(k);
          case Program p -> IrPrinter.text(p);
          default -> place.getClass().getSimpleName();
        };
    String line = text.lines().findFirst().orElse("");
    return line.length() <= SHOWN ? line : line.substring(0, SHOWN) + "…";
  }
}
