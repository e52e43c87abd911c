package dev.warpwright.export;

import dev.warpwright.base.UserError;
import dev.warpwright.cuda.HostText;
import dev.warpwright.export.Exported.Sample;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Program.Role;
import dev.warpwright.ir.accuracy.ErrorBound;
import dev.warpwright.workload.Activation;
import dev.warpwright.workload.Epilogue;
import dev.warpwright.workload.GemmDeviation;
import dev.warpwright.workload.kernel.BoundWorkload;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The part of the host program that compares results with what they should be. */
final class ResultsText {
  /** Multiply-adds that the host program computes in a second. */
  private static final double HOST_WORK = 0x1p29;

  private static final int FEWEST_ROWS = 4;

  private final Exported exported;
  private final Signature signature;
  private final StringBuilder out = new StringBuilder();

  private ResultsText(Exported exported, Signature signature) {
    this.exported = exported;
    this.signature = signature;
  }

  static String of(Exported exported, Signature signature) {
    ResultsText text = new ResultsText(exported, signature);
    text.write();
    return text.out.toString();
  }

  /** Whether there are too many elements to compute all again, so that some are drawn. */
  static boolean isDrawn(Exported exported) {
    if (!exported.isChecked()) {
      return false;
    }
    return switch (exported.workload()) {
      case BoundWorkload.Gemm g ->
          (double) g.batch().count() * g.m() * g.n() * Math.max(1, g.k()) > HOST_WORK;
      case BoundWorkload.Ffn block -> rows(block) < block.m();
      case null -> false;
    };
  }

  /** Rows of a feed-forward block that the host program computes. */
  private static long rows(BoundWorkload.Ffn block) {
    double work = (double) block.hidden() * (block.k() + block.n());
    return Math.min(block.m(), Math.max(FEWEST_ROWS, (long) (HOST_WORK / work)));
  }

  private void write() {
    if (!exported.isChecked()) {
      line("const bool right = true;  // what it should compute is not known here");
      return;
    }
    ErrorBound bound = ErrorBound.of(exported.buffers(Role.OUTPUT).getFirst().dtype());
    out.append(
        String.format(
            Locale.ROOT,
            """
              // Each element may be off what its own products allow: sixteen times the deviation of
              // honest arithmetic, and the rounding of the result.
              double unit = %s;
              double tiny = %s;
              double errors = 0;
              double norm = 0;
              double worst = 0;
              const auto compare = [&](double got, double wanted, double deviation) {
                errors += (got - wanted) * (got - wanted);
                norm += wanted * wanted;
                const double before = %s * deviation;
                const double limit = unit * (std::abs(wanted) + before) + before + tiny;
                const double off = got == wanted ? 0 : std::abs(got - wanted) / limit;
                worst = off <= worst ? worst : std::isnan(off) ? INFINITY : off;
              };
            """,
            bound.unit(),
            bound.tiny(),
            ErrorBound.DEVIATIONS));
    switch (exported.workload()) {
      case BoundWorkload.Gemm product -> {
        download(product.c());
        product(product);
        verdict("const bool right", "", product.tolerance());
      }
      case BoundWorkload.Ffn block -> {
        download(block.y());
        feedForward(block);
        verdict("const bool right", "", block.tolerance());
      }
      case null -> sample(bound);
    }
  }

  /** Judges what was compared since the last verdict; {@code of} begins the line. */
  private void verdict(String variable, String of, double tolerance) {
    String right = variable.substring(variable.lastIndexOf(' ') + 1);
    String error = right.replaceFirst("right", "error");
    line(
        String.format(
            Locale.ROOT, "const double %s = errors == 0 ? 0 : std::sqrt(errors / norm);", error));
    line(String.format(Locale.ROOT, "%s = %s <= %.0e && worst <= 1;", variable, error, tolerance));
    line(
        String.format(
            Locale.ROOT,
            "std::printf(\"%srelative error %%.2e, elements up to %%.2f of their bound%s: %%s\\n\",",
            of,
            exported.sample() instanceof Sample sample && sample.isDrawn()
                ? " in " + sample.compared() + " of " + sample.rows() + " rows"
                : ""));
    line(
        String.format(
            Locale.ROOT, "            %s, worst, %s ? \"right\" : \"WRONG\");", error, right));
  }

  private void download(Buffer buffer) {
    String name = signature.text().of(buffer);
    line(
        String.format(
            Locale.ROOT,
            "const std::vector<%s> %s = download(d_%s, %s);",
            HostText.type(buffer.dtype()),
            name,
            name,
            signature.elements(buffer)));
  }

  private void seed() {
    out.append(
        """
          const unsigned seed = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : std::random_device{}();
          std::printf("elements are drawn with seed %u\\n", seed);
          std::mt19937 generator(seed);
        """);
  }

  private void product(BoundWorkload.Gemm product) {
    boolean many = product.batch().isMany();
    boolean every = !isDrawn(exported);
    out.append(
        every
            ? "  // Every element, in double precision.\n"
            : "  // In double precision: of each row and of each column an element.\n");
    if (!every) {
      seed();
    }
    if (many) {
      line("for (std::size_t z = 0; z < kBatch; ++z) {");
    }
    if (every) {
      line("for (std::size_t at = 0; at < std::size_t{kM} * kN; ++at) {");
      line("  const std::size_t i = at / kN;");
      line("  const std::size_t j = at % kN;");
    } else {
      line("for (std::size_t sample = 0; sample < std::size_t{kM} + kN; ++sample) {");
      line("  const std::size_t i = sample < kM ? sample : generator() % kM;");
      line("  const std::size_t j = sample < kM ? generator() % kN : sample - kM;");
    }
    line("  double sum = 0;");
    line("  double squares = 0;");
    if (product.k() > 0) {
      line("  for (std::size_t k = 0; k < kK; ++k) {");
      line(String.format(Locale.ROOT, "    const double term = %s * %s;", a(product), b(product)));
      line("    sum += term;");
      line("    squares += term * term;");
      line("  }");
    }
    String deviation = deviation(product);
    line(
        String.format(
            Locale.ROOT,
            "  compare(%s, %s, %s);",
            matrix(product.c()),
            epilogue(product),
            deviation));
    line("}");
    if (many) {
      line("}");
    }
  }

  /** As {@link dev.warpwright.workload.GemmDeviation}. */
  private String deviation(BoundWorkload.Gemm product) {
    GemmDeviation spread = product.deviation(0);
    line(
        String.format(
            Locale.ROOT,
            "  const double of_sum = %s * std::sqrt((squares + sum * sum) / 2);",
            spread.relative()));
    Epilogue epilogue = product.epilogue();
    if (epilogue.glu()) {
      throw new UserError(
          product.text()
              + ": a gated linear unit by itself is not exported; export the model that has it, or"
              + " ffn");
    }
    if (epilogue.equals(Epilogue.NONE)) {
      return "of_sum";
    }
    String factor = Double.toString(Math.abs(epilogue.alpha()));
    String most = "factor * std::abs(sum)";
    String gate = "";
    String residual = "";
    List<Epilogue.Operand> operands = epilogue.operands();
    for (int o = 0; o < operands.size(); o++) {
      Buffer buffer = product.extras().get(o);
      switch (operands.get(o)) {
        case ROW_SCALE -> factor += " * std::abs(" + value(buffer, "i") + ")";
        case COLUMN_SCALE -> factor += " * std::abs(" + value(buffer, "j") + ")";
        case ADDEND ->
            most += " + " + Math.abs(epilogue.beta()) + " * std::abs(" + matrix(buffer) + ")";
        case BIAS -> most += " + std::abs(" + value(buffer, "j") + ")";
        case GATE -> gate = " * std::abs(" + matrix(buffer) + ")";
        case RESIDUAL ->
            residual = " + " + 2 * spread.unit() + " * std::abs(" + matrix(buffer) + ")";
      }
    }
    line(String.format(Locale.ROOT, "  const double factor = %s;", factor));
    line(
        String.format(Locale.ROOT, "  const double rounded = %s * (%s);", 2 * spread.unit(), most));
    return String.format(
        Locale.ROOT,
        "(%s * (factor * of_sum + rounded) + rounded%s)%s%s",
        epilogue.activation().slope(),
        spread.offset() == 0 ? "" : " + " + 2 * spread.unit() * spread.offset(),
        gate,
        residual);
  }

  private String a(BoundWorkload.Gemm product) {
    return value(
        product.a(),
        (product.a().rank() == 3 ? "z * kM * kK + " : "")
            + (product.layout().transposedA() ? "k * kM + i" : "i * kK + k"));
  }

  private String b(BoundWorkload.Gemm product) {
    return value(
        product.b(),
        (product.b().rank() == 3 ? "z * kN * kK + " : "")
            + (product.layout().transposedB() ? "j * kK + k" : "k * kN + j"));
  }

  /** The element of a matrix of the result's shape. */
  private String matrix(Buffer buffer) {
    return value(buffer, (buffer.rank() == 3 ? "z * kM * kN + " : "") + "i * kN + j");
  }

  private String value(Buffer buffer, String index) {
    return "value(" + signature.text().of(buffer) + "[" + index + "])";
  }

  /** What follows the sum, as in {@link Epilogue}. */
  private String epilogue(BoundWorkload.Gemm product) {
    Epilogue epilogue = product.epilogue();
    List<Epilogue.Operand> operands = epilogue.operands();
    String linear = epilogue.alpha() == 1 ? "sum" : epilogue.alpha() + " * sum";
    String behind = "";
    for (int o = 0; o < operands.size(); o++) {
      Buffer buffer = product.extras().get(o);
      switch (operands.get(o)) {
        case ROW_SCALE -> linear += " * " + value(buffer, "i");
        case COLUMN_SCALE -> linear += " * " + value(buffer, "j");
        case ADDEND -> linear += " + " + epilogue.beta() + " * " + matrix(buffer);
        case BIAS -> linear += " + " + value(buffer, "j");
        case GATE -> behind += " * " + matrix(buffer);
        case RESIDUAL -> behind += " + " + matrix(buffer);
      }
    }
    if (epilogue.activation() == Activation.NONE) {
      return behind.isEmpty() ? linear : "(" + linear + ")" + behind;
    }
    line(String.format(Locale.ROOT, "  const double x = %s;", linear));
    return epilogue.activation().cpp() + behind;
  }

  private void feedForward(BoundWorkload.Ffn block) {
    String x = signature.text().of(block.x());
    String w1 = signature.text().of(block.w1());
    String w2 = signature.text().of(block.w2());
    String y = signature.text().of(block.y());
    long rows = rows(block);
    String row = "row";
    if (isDrawn(exported)) {
      line(
          String.format(
              Locale.ROOT,
              "// %d rows in double precision, the first and the last among them.",
              rows));
      seed();
      row = "row == 0 ? 0 : row == 1 ? kM - 1 : generator() % kM";
    } else {
      line("// Every element, in double precision.");
    }
    out.append(
        String.format(
            Locale.ROOT,
            """
              for (std::size_t row = 0; row < %7$d; ++row) {
                const std::size_t i = %6$s;
                std::vector<double> hidden(kHidden);
                for (std::size_t h = 0; h < kHidden; ++h) {
                  double sum = 0;
                  for (std::size_t k = 0; k < kInputs; ++k) {
                    sum += value(%1$s[i * kInputs + k]) * value(%2$s[h * kInputs + k]);
                  }
                  hidden[h] = 0.5 * sum * (1 + std::erf(sum / std::sqrt(2.0)));
                }
                for (std::size_t j = 0; j < kOutputs; ++j) {
                  double sum = 0;
                  double squares = 0;
                  for (std::size_t h = 0; h < kHidden; ++h) {
                    const double term = hidden[h] * value(%3$s[j * kHidden + h]);
                    sum += term;
                    squares += term * term;
                  }
                  compare(value(%4$s[i * kOutputs + j]), sum,
                          %5$s * std::sqrt((squares + sum * sum) / 2));
                }
              }
            """,
            x,
            w1,
            w2,
            y,
            block.deviation(1).relative(),
            row,
            rows));
  }

  /** Each output by itself, so that a small one that is wrong does not hide beside a large one. */
  private void sample(ErrorBound first) {
    Sample sample = exported.sample();
    if (sample == null) {
      throw new IllegalStateException("nothing to compare with");
    }
    List<Buffer> outputs = exported.buffers(Role.OUTPUT);
    List<String> all = new ArrayList<>();
    ErrorBound last = first;
    if (sample.isDrawn()) {
      line(
          String.format(
              Locale.ROOT,
              "// %s; of all the others each element has to be written.",
              compared(sample)));
      line(
          String.format(
              Locale.ROOT,
              "const std::vector<int> compared = read_file<int>(\"%s\", %d);",
              SampleFiles.COMPARED,
              sample.compared()));
    }
    for (Buffer output : outputs) {
      String name = signature.text().of(output);
      download(output);
      // Rows behind the sample's, which fill a tile, are nobody's.
      byte[] wanted = sample.files().get(SampleFiles.expected(name));
      String count =
          (output.hasConstantShape() || sample.isDrawn()) && wanted != null
              ? Integer.toString(wanted.length / Float.BYTES)
              : name + ".size()";
      ErrorBound bound = ErrorBound.of(output.dtype());
      if (!bound.equals(last)) {
        line(String.format(Locale.ROOT, "unit = %s;", bound.unit()));
        line(String.format(Locale.ROOT, "tiny = %s;", bound.tiny()));
        last = bound;
      }
      line(
          String.format(
              Locale.ROOT,
              "const std::vector<float> expected_%s = read_file<float>(\"%s\", %s);",
              name,
              SampleFiles.expected(name),
              count));
      line(
          String.format(
              Locale.ROOT,
              "const std::vector<float> deviation_%s = read_file<float>(\"%s\", %s);",
              name,
              SampleFiles.deviation(name),
              count));
      line(String.format(Locale.ROOT, "for (std::size_t i = 0; i < %s; ++i) {", count));
      long features = output.extent(1);
      line(
          String.format(
              Locale.ROOT,
              "  compare(value(%1$s[%2$s]), expected_%1$s[i], deviation_%1$s[i]);",
              name,
              sample.isDrawn()
                  ? String.format(
                      Locale.ROOT, "compared[i / %1$d] * std::size_t{%1$d} + i %% %1$d", features)
                  : "i"));
      line("}");
      if (sample.isDrawn()) {
        line(
            String.format(
                Locale.ROOT,
                "for (std::size_t i = 0; i < std::size_t{%d} * %d; ++i) {",
                sample.rows(),
                features));
        line("  worst = std::isnan(value(" + name + "[i])) ? INFINITY : worst;");
        line("}");
      }
      if (outputs.size() == 1) {
        verdict("const bool right", "", sample.tolerance());
        return;
      }
      verdict("const bool right_" + name, name + ": ", sample.tolerance());
      line("errors = norm = worst = 0;");
      all.add("right_" + name);
    }
    line("const bool right = " + String.join(" && ", all) + ";");
  }

  /** Which rows of a model are compared, where not all are. */
  static String compared(Sample sample) {
    return String.format(
        Locale.ROOT,
        "%d of %d rows, the first and the last among them, are compared with double precision",
        sample.compared(),
        sample.rows());
  }

  private void line(@Nullable String text) {
    out.append("  ").append(text).append('\n');
  }
}
