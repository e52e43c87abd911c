package dev.warpwright.lower.tile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.ScalarParam;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.ir.type.DType;
import dev.warpwright.lower.tile.PackConstants.Form;
import dev.warpwright.lower.tile.PackConstants.Packed;
import dev.warpwright.sim.Arguments;
import dev.warpwright.sim.Interpreter;
import dev.warpwright.sim.NdArray;
import dev.warpwright.sim.Options;
import dev.warpwright.target.intrinsic.Intrinsics;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** With its packed constants a program computes what it did; what moves, moves by vectors. */
class PackConstantsTest {
  private static final String TWO_LAYERS =
      """
      primfunc f(x: f16[M, $I], V: f16[$H, $I], b: f32[$H], W: f16[$O, $H], c: f32[$O], y: f16[M, $O],
          M: i32 in 0..1024) {
        persistent t in (M + 63) / 64 [blocks = 2] {
          alloc a: f16[64, $I] fragment
          alloc acc: f32[64, $H] fragment
          alloc h: f16[64, $H] fragment
          alloc sum: f32[64, $O] fragment
          alloc result: f16[64, $O] fragment
          tile.copy a[0 +: 64, 0 +: $I] <- x[t * 64 +: 64, 0 +: $I] $PREFETCH
          tile.fill acc[0 +: 64, 0 +: $H] = 0.0f32
          pipeline k in $VSTEPS [stages = 1, unrolled = 1] {
            alloc Vs: f16[$H, $VK] shared
            tile.copy Vs[0 +: $H, 0 +: $VK] <- V[0 +: $H, k * $VK +: $VK]
            tile.mma acc[0 +: 64, 0 +: $H] += a[0 +: 64, k * $VK +: $VK] * Vs[0 +: $H, 0 +: $VK]^T
              [instr = "wgmma.m64n$Hk16.f32.f16.ra"]
          }
          tile.map (r in 64, n in $H) {
            h[r, n] = f16(max(acc[r, n] + b[n], 0.0f32))
          }
          tile.fill sum[0 +: 64, 0 +: $O] = 0.0f32
          pipeline k in $WSTEPS [stages = 1, unrolled = 1] {
            alloc Ws: f16[$O, $WK] shared
            tile.copy Ws[0 +: $O, 0 +: $WK] <- W[0 +: $O, k * $WK +: $WK]
            tile.mma sum[0 +: 64, 0 +: $O] += h[0 +: 64, k * $WK +: $WK] * Ws[0 +: $O, 0 +: $WK]^T
              [instr = "wgmma.m64n$Ok16.f32.f16.ra"]
          }
          tile.map (r in 64, n in $O) {
            result[r, n] = f16(sum[r, n] + c[n])
          }
          tile.copy y[t * 64 +: 64, 0 +: $O] <- result[0 +: 64, 0 +: $O]
        }
      }
      """;

  private static PrimFunc program(int inputs, int hidden, int outputs, boolean prefetch) {
    return sliced(inputs, hidden, outputs, prefetch, Math.max(inputs, hidden));
  }

  /** With weights that come by slices of so many columns, or whole where they have no more. */
  private static PrimFunc sliced(
      int inputs, int hidden, int outputs, boolean prefetch, int columns) {
    int ofV = Math.min(inputs, columns);
    int ofW = Math.min(hidden, columns);
    String text =
        TWO_LAYERS
            .replace("$PREFETCH", prefetch ? "[prefetch = 1]" : "")
            .replace("$VSTEPS", String.valueOf(inputs / ofV))
            .replace("$VK", String.valueOf(ofV))
            .replace("$WSTEPS", String.valueOf(hidden / ofW))
            .replace("$WK", String.valueOf(ofW))
            .replace("$I", String.valueOf(inputs))
            .replace("$H", String.valueOf(hidden))
            .replace("$O", String.valueOf(outputs));
    return new IrParser(Intrinsics::find).primFunc("test", text);
  }

  /** The same in tf32: rounded where products take it, nowhere else. */
  private static PrimFunc tf32(PrimFunc func) {
    String text =
        IrPrinter.text(func)
            .replace("f16(max(acc[r, n] + b[n], 0.0f32))", "max(acc[r, n] + b[n], 0.0f32)")
            .replace("f16(sum[r, n] + c[n])", "sum[r, n] + c[n]")
            .replace("k16.f32.f16", "k8.f32.tf32")
            .replace("f16", "f32");
    return new IrParser(Intrinsics::find).primFunc("test", text);
  }

  private static Buffer named(PrimFunc func, String name) {
    return func.buffers().stream().filter(b -> b.name().equals(name)).findFirst().orElseThrow();
  }

  private static Set<Buffer> constants(PrimFunc func) {
    Set<Buffer> constants = new LinkedHashSet<>();
    List.of("V", "b", "W", "c").forEach(name -> constants.add(named(func, name)));
    return constants;
  }

  /** Small integers, whose sums are the same in any order. */
  private static NdArray integers(DType type, Random random, long... shape) {
    return NdArray.zeros(type, shape).fillWith(at -> random.nextInt(5) - 2);
  }

  private static NdArray run(PrimFunc func, Packed packed, int rows, long seed) {
    PrimFunc executed = StrideItems.apply(packed.func());
    Arguments arguments = Arguments.of(executed.params());
    Random random = new Random(seed);
    for (Buffer buffer : func.buffers()) {
      boolean rowed = buffer.name().equals("x") || buffer.name().equals("y");
      long columns = buffer.extent(buffer.rank() - 1);
      NdArray values =
          rowed
              ? integers(buffer.dtype(), random, rows, columns)
              : NdArray.of(buffer).fillWith(at -> random.nextInt(5) - 2);
      Form form = packed.packed().get(buffer);
      if (form == null) {
        arguments.bind(named(executed, buffer.name()), values);
        continue;
      }
      NdArray laid = NdArray.of(buffer.withLayout(form.where())).fillWith(values::get);
      NdArray other = NdArray.of(form.buffer());
      System.arraycopy(laid.bytes(), 0, other.bytes(), 0, laid.bytes().length);
      arguments.bind(form.buffer(), other);
    }
    for (Param param : executed.params()) {
      if (param instanceof ScalarParam scalar) {
        arguments.bind(scalar.var(), rows);
      }
    }
    Interpreter.of(executed, Options.CHECKED).run(arguments);
    return arguments.get(named(executed, "y"));
  }

  @ParameterizedTest
  @CsvSource({
    "64, 64, 32, true", // by 16 bytes everywhere
    "48, 80, 16, true", // groups of 16
    "96, 48, 112, false",
    "16, 16, 16, true"
  })
  void computesTheSame(int inputs, int hidden, int outputs, boolean prefetch) {
    PrimFunc func = program(inputs, hidden, outputs, prefetch);
    computesTheSame(func);
    PrimFunc tf32 = tf32(func);
    computesTheSame(tf32);
    assertThat(PackConstants.apply(tf32, constants(tf32)).packed().values()).allMatch(Form::tf32);
    assertThat(PackConstants.apply(func, constants(func)).packed().values()).noneMatch(Form::tf32);
  }

  /** Slices of 16 columns of K, also of weights whose columns would be permuted by 32. */
  @ParameterizedTest
  @CsvSource({"64, 96, 32, true", "32, 64, 48, false", "64, 80, 112, true"})
  void slicesOfPanelsComputeTheSame(int inputs, int hidden, int outputs, boolean prefetch) {
    PrimFunc func = sliced(inputs, hidden, outputs, prefetch, 16);
    computesTheSame(func);
    computesTheSame(tf32(func));
  }

  private static void computesTheSame(PrimFunc func) {
    Packed packed = PackConstants.apply(func, constants(func));
    assertThat(packed.packed()).containsOnlyKeys(named(func, "V"), named(func, "W"));
    for (int rows : new int[] {1, 64, 200}) {
      NdArray before = run(func, new Packed(func, Map.of()), rows, 3);
      NdArray after = run(func, packed, rows, 3);
      assertThat(after.toDoubles()).containsExactly(before.toDoubles());
    }
  }

  @Test
  void columnsArePermutedWhereConstantsAllow() {
    PrimFunc func = program(32, 32, 32, true);
    String text = IrPrinter.text(PackConstants.apply(func, constants(func)).func());
    String column = "k / 32 * 32 + k % 8 / 2 * 8 + (k % 32 / 16 * 4 + k % 16 / 8 * 2) + k % 2";
    assertThat(text)
        .contains("tile.copy a_rows[0 +: 64, 0 +: 32] <- x[t * 64 +: 64, 0 +: 32] [prefetch = 1]")
        .contains("a[r, k] = a_rows[r, " + column + "]")
        .contains("h[r, n] = f16(max(acc[r, n] + b[" + column.replace('k', 'n') + "], 0.0f32))")
        .contains(
            "result[r, "
                + column.replace('k', 'n')
                + "] = f16(sum[r, n] + c["
                + column.replace('k', 'n')
                + "])");
  }

  /** Of 8 accumulators a thread has neighbours where it wants columns 4 apart. */
  @Test
  void inTf32WhatComesFromAccumulatorsIsPermutedAlways() {
    PrimFunc func = tf32(program(32, 32, 32, false));
    String text = IrPrinter.text(PackConstants.apply(func, constants(func)).func());
    String sums = "n / 8 * 8 + n % 4 * 2 + n % 8 / 4";
    assertThat(text)
        .contains("a[r, k] = a_rows[r, k / 16 * 16 + k % 4 * 4 + (k % 16 / 8 * 2 + k % 8 / 4)]")
        .contains("h[r, n] = max(acc[r, " + sums + "] + b[" + sums + "], 0.0f32)")
        .contains("tile.copy y[t * 64 +: 64, 0 +: 32] <- result[0 +: 64, 0 +: 32]");
  }

  /** Weights that arrive at run time are nobody's to pack: rows come as they are. */
  @Test
  void whatIsNoConstantStays() {
    PrimFunc func = program(32, 32, 32, true);
    Packed packed = PackConstants.apply(func, Set.of());
    assertThat(packed.packed()).isEmpty();
    assertThat(IrPrinter.text(packed.func())).contains("a[r, k] = a_rows[r, k]");
    PrimFunc none = program(32, 32, 32, false);
    assertThat(PackConstants.apply(none, Set.of()).func()).isSameAs(none);
  }

  /**
   * Panels of 32 and 64 bytes lie as in shared memory; for those of 128 a tensor map is as good.
   */
  @Test
  void narrowPanelsLieAsInSharedMemory() {
    PrimFunc func = program(48, 64, 96, false);
    String text = IrPrinter.text(PackConstants.apply(func, constants(func)).func());
    assertThat(text)
        .contains("V: f16[64, 48] layout (64:16),(16:1,3:1024)^<1,3,3>")
        .contains("W: f16[96, 64],");
    PrimFunc other = program(64, 96, 32, false);
    text = IrPrinter.text(PackConstants.apply(other, constants(other)).func());
    assertThat(text)
        .contains("V: f16[96, 64],")
        .contains("W: f16[32, 96] layout (32:32),(32:1,3:1024)^<2,3,3>");
  }

  /** Whole groups of 32 columns are for those that are permuted: a panel of 16 needs none. */
  @Test
  void slicesOfAPanelLieAsInSharedMemory() {
    PrimFunc func = sliced(64, 96, 48, true, 16);
    String text = IrPrinter.text(PackConstants.apply(func, constants(func)).func());
    assertThat(text)
        .contains("V: f16[96, 64] layout (96:16),(16:1,4:1536)^<1,3,3>")
        .contains("W: f16[48, 96] layout (48:16),(16:1,6:768)^<1,3,3>")
        .contains("a[r, k] = a_rows[r, k]");
  }

  /** Slices that share a stage lie in the panels of the stage. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "1 | V: f16[96, 64] layout (96:16),(16:1,4:1536)^<1,3,3>",
        "3 | V: f16[96, 64] layout (96:16),(16:1,4:1536)^<1,3,3>",
        "2 | V: f16[96, 64] layout (96:32),(32:1,2:3072)^<2,3,3>",
        "9 | V: f16[96, 64],", // all four: 128 bytes
      })
  void panelsAreThoseOfAStage(int slices, String packed) {
    String stage = "stages = 1, slices = " + slices;
    String text =
        IrPrinter.text(sliced(64, 96, 16, true, 16))
            .replace("k * 16 +: 16]\n", "k * 16 +: 16] [stream = 1]\n")
            .replace("stages = 1", stage);
    assertThat(text).contains("[stream = 1]", stage);
    PrimFunc func = new IrParser(Intrinsics::find).primFunc("test", text);
    assertThat(IrPrinter.text(PackConstants.apply(func, Set.of(named(func, "V"))).func()))
        .contains(packed);
  }

  /** Only V's columns and W's rows have other readers. */
  @Test
  void whatOthersReadStays() {
    PrimFunc func = program(32, 32, 32, false);
    Packed packed = PackConstants.apply(func, Set.of(named(func, "V")));
    assertThat(packed.packed().keySet()).containsExactly(named(func, "V"));
  }
}
