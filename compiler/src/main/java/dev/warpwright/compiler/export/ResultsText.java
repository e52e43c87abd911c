package dev.warpwright.compiler.export;

import dev.warpwright.compiler.bench.Workload;
import dev.warpwright.compiler.export.Exported.Sample;
import dev.warpwright.cuda.HostText;
import dev.warpwright.families.Activation;
import dev.warpwright.families.Epilogue;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Program.Role;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The part of the host program that compares results with what they should be. */
final class ResultsText {
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

  private void write() {
    if (!exported.isChecked()) {
      line("const bool right = true;  // what it should compute is not known here");
      return;
    }
    line("double errors = 0;");
    line("double norm = 0;");
    line("const auto compare = [&](double got, double wanted) {");
    line("  errors += (got - wanted) * (got - wanted);");
    line("  norm += wanted * wanted;");
    line("};");
    switch (exported.workload()) {
      case Workload.Gemm product -> {
        download(product.c());
        product(product);
        verdict("const bool right", "", product.tolerance());
      }
      case Workload.FfnGelu block -> {
        download(block.y());
        feedForward(block);
        verdict("const bool right", "", block.tolerance());
      }
      case null -> sample();
    }
  }

  /** Judges what was compared since the last verdict; {@code of} begins the line. */
  private void verdict(String variable, String of, double tolerance) {
    String right = variable.substring(variable.lastIndexOf(' ') + 1);
    String error = right.replaceFirst("right", "error");
    line(
        String.format(
            Locale.ROOT, "const double %s = errors == 0 ? 0 : std::sqrt(errors / norm);", error));
    line(String.format(Locale.ROOT, "%s = %s <= %.0e;", variable, error, tolerance));
    line(
        String.format(
            Locale.ROOT,
            "std::printf(\"%srelative error %%.2e: %%s\\n\", %s, %s ? \"right\" : \"WRONG\");",
            of,
            error,
            right));
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

  private void product(Workload.Gemm product) {
    boolean many = product.batch().isMany();
    out.append(
        """
          // A thousand elements, among them the first and the last, in double precision.
          std::mt19937 generator(7);
          const auto pick = [&](int sample, std::size_t count) {
            return sample == 0 ? 0 : sample == 1 ? count - 1 : generator() % count;
          };
          for (int sample = 0; sample < 1000; ++sample) {
        """);
    if (many) {
      line("  const std::size_t z = pick(sample, kBatch);");
    }
    line("  const std::size_t i = pick(sample, kM);");
    line("  const std::size_t j = pick(sample, kN);");
    line("  double sum = 0;");
    if (product.k() > 0) {
      line("  for (std::size_t k = 0; k < kK; ++k) {");
      line(String.format(Locale.ROOT, "    sum += %s * %s;", a(product), b(product)));
      line("  }");
    }
    line(String.format(Locale.ROOT, "  compare(%s, %s);", matrix(product.c()), epilogue(product)));
    line("}");
  }

  private String a(Workload.Gemm product) {
    return value(
        product.a(),
        (product.a().rank() == 3 ? "z * kM * kK + " : "")
            + (product.layout().transposedA() ? "k * kM + i" : "i * kK + k"));
  }

  private String b(Workload.Gemm product) {
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
  private String epilogue(Workload.Gemm product) {
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
    String activated =
        switch (epilogue.activation()) {
          case NONE -> "x";
          case RELU -> "std::max(x, 0.0)";
          case GELU -> "0.5 * x * (1 + std::erf(x / std::sqrt(2.0)))";
          case GELU_TANH ->
              "0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))";
          case SILU -> "x / (1 + std::exp(-x))";
        };
    return activated + behind;
  }

  private void feedForward(Workload.FfnGelu block) {
    String x = signature.text().of(block.x());
    String w1 = signature.text().of(block.w1());
    String w2 = signature.text().of(block.w2());
    String y = signature.text().of(block.y());
    out.append(
        String.format(
            Locale.ROOT,
            """
              // The first and the last row, a hundred elements of each, in double precision.
              std::mt19937 generator(7);
              for (std::size_t i : {std::size_t{0}, std::size_t{kM - 1}}) {
                std::vector<double> hidden(kHidden);
                for (std::size_t h = 0; h < kHidden; ++h) {
                  double sum = 0;
                  for (std::size_t k = 0; k < kInputs; ++k) {
                    sum += value(%1$s[i * kInputs + k]) * value(%2$s[h * kInputs + k]);
                  }
                  hidden[h] = 0.5 * sum * (1 + std::erf(sum / std::sqrt(2.0)));
                }
                for (int sample = 0; sample < 100; ++sample) {
                  const std::size_t j = generator() %% kOutputs;
                  double sum = 0;
                  for (std::size_t h = 0; h < kHidden; ++h) {
                    sum += hidden[h] * value(%3$s[j * kHidden + h]);
                  }
                  compare(value(%4$s[i * kOutputs + j]), sum);
                }
              }
            """,
            x,
            w1,
            w2,
            y));
  }

  /** Each output by itself, so that a small one that is wrong does not hide beside a large one. */
  private void sample() {
    Sample sample = exported.sample();
    if (sample == null) {
      throw new IllegalStateException("nothing to compare with");
    }
    List<Buffer> outputs = exported.buffers(Role.OUTPUT);
    List<String> all = new ArrayList<>();
    for (Buffer output : outputs) {
      String name = signature.text().of(output);
      download(output);
      line(
          String.format(
              Locale.ROOT,
              "const std::vector<float> expected_%s = read_file<float>(\"%s\", %s.size());",
              name,
              SampleFiles.expected(name),
              name));
      line(String.format(Locale.ROOT, "for (std::size_t i = 0; i < %s.size(); ++i) {", name));
      line(String.format(Locale.ROOT, "  compare(value(%s[i]), expected_%s[i]);", name, name));
      line("}");
      if (outputs.size() == 1) {
        verdict("const bool right", "", sample.tolerance());
        return;
      }
      verdict("const bool right_" + name, name + ": ", sample.tolerance());
      line("errors = norm = 0;");
      all.add("right_" + name);
    }
    line("const bool right = " + String.join(" && ", all) + ";");
  }

  private void line(@Nullable String text) {
    out.append("  ").append(text).append('\n');
  }
}
