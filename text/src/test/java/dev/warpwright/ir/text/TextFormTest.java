package dev.warpwright.ir.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.arith.Simplify;
import dev.warpwright.ir.testing.StructuralEquality;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TextFormTest {
  private final IrParser parser = new IrParser(RoundTripTest::intrinsic);
  private final Var x = Var.index("x");
  private final Buffer a = Buffer.of("a", DType.F32, Scope.GLOBAL, 8, 8);

  private Expr expr(String text) {
    return parser.expr(text, List.of(x), List.of(a));
  }

  private static void assertError(Runnable parse, String message) {
    assertThatThrownBy(parse::run).isInstanceOf(UserError.class).hasMessage(message);
  }

  /** The manual's first example without its lines about regions is the same function. */
  @Test
  void readsAndWritesFollowFromTheBody() throws IOException {
    String manual = Files.readString(Path.of("../docs/text-form.md"));
    Matcher matcher = Pattern.compile("(?ms)^```\n(primfunc layer.*?)^```").matcher(manual);
    assertThat(matcher.find()).isTrue();
    String without = matcher.group(1).replaceAll("(?m)^ +(reads|writes) .*\n", "");
    assertThat(without).doesNotContain("reads").doesNotContain("writes");
    PrimFunc expected = parser.file("a", matcher.group(1)).primFuncs().getFirst();
    PrimFunc inferred = parser.file("a", without).primFuncs().getFirst();
    assertThat(StructuralEquality.difference(inferred, expected)).isEmpty();
  }

  /** By a loop inside, all of the buffer; own buffers and what is written do not count as read. */
  @Test
  void whatABlockGoesThroughIsReadAsAWhole() {
    String text =
        """
        primfunc f(x: f32[4, 8], i: i32[8], y: f32[4]) {
          for r in 4 {
            block b(v: spatial(4) = r) {
              alloc t: f32[1] local
              t[0] = x[v, 0] + x[v, i[v]]
              y[v] = t[0]
              for k in 8 {
                y[v] = y[v] + x[v, k]
              }
            }
          }
        }
        """;
    PrimFunc func = parser.file("a", text).primFuncs().getFirst();
    assertThat(IrPrinter.text(func))
        .contains("reads x[0 +: 4, 0 +: 8], i[v]")
        .contains("writes y[v]");
  }

  @Test
  void examplesOfTheManual() throws IOException {
    String manual = Files.readString(Path.of("../docs/text-form.md"));
    Matcher matcher = Pattern.compile("(?ms)^```\n(.*?)^```").matcher(manual);
    int examples = 0;
    while (matcher.find()) {
      IrFile file = parser.file("text-form.md", matcher.group(1));
      StringBuilder text = new StringBuilder();
      file.primFuncs().forEach(f -> text.append(IrPrinter.text(f)));
      file.kernels().forEach(k -> text.append(IrPrinter.text(k)));
      file.programs().forEach(p -> text.append(IrPrinter.text(p)));
      // Layout and comments at line ends apart, the manual writes what the printer writes.
      assertThat(text.toString().replaceAll("\\s+", " "))
          .isEqualTo(matcher.group(1).replaceAll(" +// this.*", "").replaceAll("\\s+", " "));
      examples++;
    }
    assertThat(examples).isEqualTo(7);
  }

  @Test
  void commentsInAndOutsideOfBodies() {
    PrimFunc f =
        parser.primFunc(
            "f",
            """
            // before
            primfunc f(a: f32[8], // at the end
                // alone, but no statement
                b: f32[8]) {
              // first
              a[0] = b[
                // inside an expression
                1]
              //
              //  indented
            }
            """);
    assertThat(IrPrinter.text(f))
        .isEqualTo(
            """
            // before
            primfunc f(a: f32[8], b: f32[8]) {
              // first
              a[0] = b[1]
              //
              //  indented
            }
            """);
  }

  @Test
  void commentsAboveKernelsStayWithThem() {
    String text =
        """
        program p {
          input a: f32[8]
          // What it is for,
          //
          //  in two paragraphs "with quotes".
          kernel k(a: f32[8]) grid(bx = 8) block(tx = 1) [fast = 1] {
            a[bx] = 1.0f32
          }
          launch k(a)
        }
        """;
    assertThat(IrPrinter.text(parser.program("p", text))).isEqualTo(text);
  }

  @Test
  void numbersTakeTheTypeTheyMeet() {
    assertThat(expr("i64(x) + 1")).isEqualTo(Exprs.add(new Expr.Cast(Type.I64, x), 1));
    assertThat(expr("f64(x) * 0.1"))
        .isEqualTo(Exprs.mul(new Expr.Cast(Type.F64, x), new Expr.FloatImm(Type.F64, 0.1)));
    assertThat(expr("0x10")).isEqualTo(Exprs.i32(16));
    assertThat(expr("-2147483648")).isEqualTo(Exprs.i32(Integer.MIN_VALUE));
    assertThat(expr("18446744073709551615u64")).isEqualTo(new Expr.IntImm(Type.of(DType.U64), -1));
  }

  @Test
  void precedences() {
    for (String text :
        List.of(
            "x - (x - x)",
            "x - x - x",
            "x * (x + 1)",
            "x + 1 << 2",
            "(x & 3) == 1 == true",
            "x / 2 % 3",
            "-x",
            "-(1)",
            "-(-x)",
            "!(x < 1 && x > -3 || x == 0)",
            "~x & x ^ x | x",
            "min(x, 1) - a[x, 0] * 2.0f32")) {
      if (text.contains("== 1 ==")) {
        assertThatThrownBy(() -> expr(text)).hasMessageContaining("comparisons do not chain");
      } else if (text.startsWith("min")) {
        assertThatThrownBy(() -> expr(text)).hasMessageContaining("operands of - differ");
      } else {
        assertThat(IrPrinter.text(expr(text)).replace("x & 3", "x & 3")).isEqualTo(text);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "primfunc f() { b[0] = 1.0 }|f:1:16: expected a statement, found 'b'",
        "primfunc f(a: f32[8]) { a[0] = y }|f:1:32: unknown name 'y'",
        "primfunc f(a: f32[8]) { a[0] = 1 }|f:1:25: store of i32 to 1 lane(s) of a: f32",
        "primfunc f(a: f32[8]) { a[0, 1] = 1.0 }|f:1:25: store to a with 2 indices, its rank is 1",
        "primfunc f(a: f32[8]) { a[0] = 1.0|f:1:35: expected '}', found the end of the text",
        "primfunc f(a: f32[8], a: f32[8]) { }|f:1:23: 'a' is already defined in line 1",
        "primfunc f(n: i32) { for i in n { for i in n { } } }|f:1:39: 'i' is already defined in"
            + " line 1",
        "primfunc f(n: i33) { }|f:1:15: expected a type, found 'i33'",
        "primfunc f(n: i32 in 5..4) { }|f:1:22: empty interval 5..4",
        "primfunc f(n: i32 in 0..99999999999999999999) { }|f:1:25: the number"
            + " '99999999999999999999' does not fit into 64 bits",
        "primfunc f(a: f32[8]) { a[0] = #1 }|f:1:32: unexpected character '#'",
        "primfunc f() { } primfunc|f:1:18: expected the end of the text, found 'primfunc'",
        "primfunc f(a: f32[8]) { foo(1) }|f:1:25: unknown function 'foo'",
        "primfunc f(a: f32[8]) { a[exp(0.5, 1.0)] = 1.0 }|f:1:27: 'exp' takes 1 arguments, found 2",
        "primfunc f(a: f32[8]) { a[99999999999] = 1.0 }|f:1:27: the number '99999999999' does not"
            + " fit into i32",
        "primfunc `f|f:1:10: expected ` at the end of this, found the end of the line",
        "primfunc f(n: i32) { if n { } }|f:1:25: expected a condition, found a value of type i32"
      })
  void errorsSayWhereAndWhat(String textAndMessage) {
    int bar = textAndMessage.lastIndexOf('|');
    assertError(
        () -> parser.primFunc("f", textAndMessage.substring(0, bar)),
        textAndMessage.substring(bar + 1));
  }

  @Test
  void errorsInPrograms() {
    assertError(
        () -> parser.program("p", "program p { input x: f32[4] launch k(x) }"),
        "p:1:36: unknown kernel 'k'");
    assertError(
        () -> parser.program("p", "program p { host kernel k() { } }"),
        "p:1:33: expected a launch of kernel 'k', found '}'");
    assertError(
        () -> parser.kernel("k", "kernel k() grid(x = 1, y = 1, z = 1, w = 1) { }"),
        "k:1:38: a grid has at most three indices");
    assertError(
        () -> parser.file("f", "primfunk f() { }"),
        "f:1:1: expected 'primfunc', 'kernel', 'host kernel' or 'program', found 'primfunk'");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "(", "-", "!", "~", "min(x, ", "x + (", "x + ", "x - ", "a[", "&a[", "select(", "f32("
      })
  void deepExpressionsAreRefused(String piece) {
    assertThatThrownBy(() -> expr(piece.repeat(20_000)))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("levels deep");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{ ",
        "if true { ",
        "if true { } else ",
        "let V = 1 ",
        "alloc V: f32[1] local ",
        "for V in 2 { ",
        "while true { ",
        "block b() { ",
        "block b() { init { "
      })
  void deepStatementsAreRefused(String piece) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 20_000; i++) {
      text.append(piece.replace("V", "v" + i));
    }
    assertThatThrownBy(() -> parser.stmt(text.toString(), List.of(), List.of()))
        .isInstanceOf(UserError.class)
        .hasMessageContaining("levels deep");
  }

  @Test
  void whatParsesCanBeWalked() {
    StringBuilder text = new StringBuilder("primfunc f(a: f32[8], n: i32) {");
    for (int i = 0; i < 490; i++) {
      text.append("let v").append(i).append(" = n + ").append(i).append('\n');
    }
    text.append("if a[0] > 0.0 { a[0] = 1.0").append(" + 1.0".repeat(240)).append("} }");
    PrimFunc f = parser.primFunc("f", text.toString());
    assertThat(StructuralEquality.equal(f, parser.primFunc("g", IrPrinter.text(f)))).isTrue();
    assertThat(IrPrinter.text(Simplify.primFunc(f))).contains("if a[0] > 0.0f32");
  }

  @Test
  void clashingNamesAreNumbered() {
    Var first = Var.index("i");
    Var second = Var.index("i");
    Stmt inner = new Stmt.Store(a, List.of(first, second), Exprs.f32(1));
    Stmt nest =
        Stmt.For.of(
            ForKind.SERIAL,
            first,
            Exprs.i32(8),
            Stmt.For.of(ForKind.SERIAL, second, Exprs.i32(8), inner));
    assertThat(IrPrinter.text(nest))
        .isEqualTo(
            """
            for i in 8 {
              for i_1 in 8 {
                a[i, i_1] = 1.0f32
              }
            }
            """);
  }

  @Test
  void linesAndMarks() {
    Kernel k =
        parser.kernel(
            "k",
            """
            host kernel k(a: f32[8]) {
              for i in 8 {
                a[i] = a[i] + 1.0
              }
            }
            """);
    Stmt.For loop = (Stmt.For) k.body();
    Stmt.Store store = (Stmt.Store) loop.body();
    Printed printed = new IrPrinter().print(k);
    assertThat(printed.line(loop)).hasValue(2);
    assertThat(printed.line(store)).hasValue(3);
    assertThat(printed.line(store.value())).hasValue(3);
    assertThat(printed.line(store.buffer())).hasValue(1);
    assertThat(printed.line(loop.var())).hasValue(2);
    assertThat(printed.line(new Object())).isEmpty();
    assertThat(IrPrinter.withMark(loop).print(k).text())
        .isEqualTo(
            """
            host kernel k(a: f32[8]) {
              for i in 8 {
              ^^^^^^^^^^
                a[i] = a[i] + 1.0f32
              }
            }
            """);
    assertThat(IrPrinter.withMark(store.value()).print(k).text())
        .contains(
            """
                a[i] = a[i] + 1.0f32
                       ^^^^^^^^^^^^^
            """);
  }

  @Test
  void hostileNamesStayNames() {
    Buffer evil = Buffer.of("x: f32[1]) { } kernel evil(\n// ", DType.F32, Scope.GLOBAL, 8);
    PrimFunc f =
        new PrimFunc(
            "f",
            List.of(evil),
            new Stmt.Store(evil, List.of(Exprs.i32(0)), Exprs.f32(1)),
            dev.warpwright.ir.Attrs.NONE);
    String text = IrPrinter.text(f);
    assertThat(text.lines()).hasSize(3);
    PrimFunc parsed = parser.primFunc("f", text);
    assertThat(parsed.params().getFirst().name()).isEqualTo(evil.name());
  }

  @Test
  void differencesAreExplained() {
    PrimFunc f = parser.primFunc("f", "primfunc f(a: f32[8]) { for i in 8 { a[i] = 1.0 } }");
    PrimFunc g = parser.primFunc("f", "primfunc f(b: f32[8]) { for j in 8 { b[j] = 1.0 } }");
    PrimFunc h = parser.primFunc("f", "primfunc f(a: f32[8]) { for i in 4 { a[i] = 1.0 } }");
    assertThat(StructuralEquality.difference(f, g)).isEmpty();
    assertThat(StructuralEquality.difference(f, h))
        .contains("8 and 4 differ: in \"for i in 8 {\" and \"for i in 4 {\"");
    assertThat(StructuralEquality.digest(f))
        .isEqualTo(StructuralEquality.digest(g))
        .isNotEqualTo(StructuralEquality.digest(h));
    assertThat(StructuralEquality.equal(x, Var.index("x"))).isFalse();
  }

  @Test
  void digestIsTheSameInEveryRun() {
    PrimFunc f = parser.primFunc("f", "primfunc f(a: f32[8]) { for i in 8 { a[i] = 1.0 } }");
    assertThat(StructuralEquality.digest(f))
        .isEqualTo("84e9ec7d711fa3ba86d6bd9ddec10d1bf98d163ba4cdc89f4d8de57095200f19");
  }

  @Test
  void programsKeepSharedKernels() {
    Program p =
        parser.program(
            "p",
            """
            program p {
              input x: f32[4]
              output y: f32[4]
              host kernel k(a: f32[4], b: f32[4]) {
                b[0] = a[0]
              }
              launch k(x, y)
              launch k(y, y)
            }
            """);
    assertThat(p.kernels()).hasSize(1);
  }
}
