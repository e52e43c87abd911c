package dev.warpwright.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.text.IrParser;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.lower.flow.Lowering;
import dev.warpwright.lower.tile.AssignRoles;
import dev.warpwright.lower.tile.PlanPipes;
import dev.warpwright.sim.Arguments;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.verify.FlowMutationTesting.Verdict;
import dev.warpwright.verify.mutation.FlowMutation;
import dev.warpwright.verify.mutation.FlowMutations;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Mistakes with pipes, roles and signals, planted in tile programs: behind the passes that make
 * pipes and roles, and behind the one that makes barriers of them. Each is refused by the verifier
 * or found by the interpreter; the few that are as good as the original have their reason here.
 */
class FlowMutationTest {
  /** Two GEMMs through one ring; items. */
  private static final String CHAIN =
      """
      primfunc chain(A: f32[32, 16], W: f32[16, 4], V: f32[4, 4], y: f32[32, 4])$ATTRS {
        alloc As: f32[4, 4] shared
        alloc Ws: f32[4, 4] shared
        alloc Vs: f32[4, 4] shared
        persistent t in 5 {
          alloc h: f32[4, 4] fragment
          alloc acc: f32[4, 4] fragment
          tile.fill h[0 +: 4, 0 +: 4] = 0.0f32
          pipeline k in 4 $LOOP {
            tile.copy As[0 +: 4, 0 +: 4] <- A[t * 4 +: 4, k * 4 +: 4]
            tile.copy Ws[0 +: 4, 0 +: 4] <- W[k * 4 +: 4, 0 +: 4]
            tile.mma h[0 +: 4, 0 +: 4] += As[0 +: 4, 0 +: 4] * Ws[0 +: 4, 0 +: 4]$INFLIGHT
          }
          tile.fill acc[0 +: 4, 0 +: 4] = 0.0f32
          pipeline k in 1 $LOOP {
            tile.copy Vs[0 +: 4, 0 +: 4] <- V[0 +: 4, 0 +: 4]
            tile.mma acc[0 +: 4, 0 +: 4] += h[0 +: 4, 0 +: 4] * Vs[0 +: 4, 0 +: 4]$INFLIGHT
          }
          tile.copy y[t * 4 +: 4, 0 +: 4] <- acc[0 +: 4, 0 +: 4]
        }
      }
      """;

  /** The same without roles: stages are filled ahead, also those of the next GEMM and item. */
  private static final String AHEAD =
      """
      primfunc chain(A: f32[32, 16], W: f32[16, 4], V: f32[4, 4], y: f32[32, 4]) {
        pipe ring[3] shared (As: f32[4, 4], Ws: f32[4, 4]) lead 2
        for first in 1 {
          produce ring {
            tile.copy As[0 +: 4, 0 +: 4] <- A[0 +: 4, first * 4 +: 4]
            tile.copy Ws[0 +: 4, 0 +: 4] <- W[first * 4 +: 4, 0 +: 4]
          }
        }
        persistent t in 5 {
          alloc h: f32[4, 4] fragment
          alloc acc: f32[4, 4] fragment
          tile.fill h[0 +: 4, 0 +: 4] = 0.0f32
          for k in 4 {
            if k + 1 < 4 {
              produce ring {
                tile.copy As[0 +: 4, 0 +: 4] <- A[t * 4 +: 4, (k + 1) * 4 +: 4]
                tile.copy Ws[0 +: 4, 0 +: 4] <- W[(k + 1) * 4 +: 4, 0 +: 4]
              }
            } else {
              produce ring {
                tile.copy As[0 +: 4, 0 +: 4] <- V[0 +: 4, 0 +: 4]
              }
            }
            consume ring {
              tile.mma h[0 +: 4, 0 +: 4] += As[0 +: 4, 0 +: 4] * Ws[0 +: 4, 0 +: 4]
            }
          }
          tile.fill acc[0 +: 4, 0 +: 4] = 0.0f32
          for k in 1 {
            if t + 1 < 5 {
              produce ring {
                tile.copy As[0 +: 4, 0 +: 4] <- A[(t + 1) * 4 +: 4, k * 4 +: 4]
                tile.copy Ws[0 +: 4, 0 +: 4] <- W[k * 4 +: 4, 0 +: 4]
              }
            }
            consume ring {
              tile.mma acc[0 +: 4, 0 +: 4] += h[0 +: 4, 0 +: 4] * As[0 +: 4, 0 +: 4]
            }
          }
          tile.copy y[t * 4 +: 4, 0 +: 4] <- acc[0 +: 4, 0 +: 4]
        }
      }
      """;

  /** What is under way on both sides of a ring. */
  private static final String UNDER_WAY =
      """
      primfunc ring(a: f32[24, 4], b: f32[24, 4], y: f32[4, 4]) {
        pipe p[4] shared (s: f32[4, 4], t: f32[4, 4]) hold 1 lag 1
        roles {
          role load warps 1 {
            for k in 6 {
              produce p {
                tile.copy s[0 +: 4, 0 +: 4] <- a[k * 4 +: 4, 0 +: 4] [inflight = 1]
                tile.copy t[0 +: 4, 0 +: 4] <- b[k * 4 +: 4, 0 +: 4] [inflight = 1]
              }
            }
          }
          role math warps 4 {
            alloc acc: f32[4, 4] fragment
            tile.fill acc[0 +: 4, 0 +: 4] = 0.0f32
            for k in 6 {
              consume p {
                tile.mma acc[0 +: 4, 0 +: 4] += s[0 +: 4, 0 +: 4] * t[0 +: 4, 0 +: 4] [inflight = 1]
              }
            }
            tile.copy y[0 +: 4, 0 +: 4] <- acc[0 +: 4, 0 +: 4]
          }
        }
      }
      """;

  /** Rows that one role's instances hand to another role by counters, a part each. */
  private static final String HANDED =
      """
      primfunc handed(a: f32[16, 4], c: i32[5], x: f32[16, 4], y: f32[16, 4]) {
        roles {
          role first[2] as g warps 1 {
            for w in 4 {
              tile.copy x[w * 4 + g * 2 +: 2, 0 +: 4] <- a[w * 4 + g * 2 +: 2, 0 +: 4]
              signal c[w] by 1
            }
          }
          role second warps 4 {
            for w in 4 {
              await c[w] >= 2
              tile.copy y[w * 4 +: 4, 0 +: 4] <- x[w * 4 +: 4, 0 +: 4]
            }
          }
        }
      }
      """;

  /** Parts of tiles that blocks add up. */
  private static final String PARTS =
      """
      primfunc parts(a: f32[24, 8], y: f32[8, 8]) {
        bind bx: blockIdx.x in 6 {
          alloc acc: f32[4, 8] fragment
          tile.copy acc[0 +: 4, 0 +: 8] <- a[bx * 4 +: 4, 0 +: 8]
          combine acc at bx % 2 part bx / 2 of 3 {
            tile.copy y[bx % 2 * 4 +: 4, 0 +: 8] <- acc[0 +: 4, 0 +: 8]
          }
        }
      }
      """;

  private static final String GEMM =
      """
      primfunc gemm(A: f16[128, 160], B: f16[16, 160], C: f16[128, 16])
          [consumers = 1, share = "rows"] {
        persistent m in 2 {
          alloc acc: f32[64, 16] fragment
          tile.fill acc[0 +: 64, 0 +: 16] = 0.0f32
          pipeline k in 5 [hold = 1, stages = 3] {
            alloc As: f16[64, 32] shared
            alloc Bs: f16[16, 32] shared
            tile.copy As[0 +: 64, 0 +: 32] <- A[m * 64 +: 64, k * 32 +: 32]
            tile.copy Bs[0 +: 16, 0 +: 32] <- B[0 +: 16, k * 32 +: 32]
            tile.mma acc[0 +: 64, 0 +: 16] += As[0 +: 64, 0 +: 32] * Bs[0 +: 16, 0 +: 32]^T
              [inflight = 1, instr = "wgmma.m64n16k16.f32.f16"]
          }
          tile.copy C[m * 64 +: 64, 0 +: 16] <- acc[0 +: 64, 0 +: 16]
        }
      }
      """;

  private static PrimFunc parse(String text) {
    return new IrParser(Intrinsics::find).primFunc("test", text);
  }

  private static PrimFunc planned(String attrs, String loop, String inflight) {
    String text =
        CHAIN.replace("$ATTRS", attrs).replace("$LOOP", loop).replace("$INFLIGHT", inflight);
    return AssignRoles.apply(PlanPipes.apply(parse(text)));
  }

  private static List<PrimFunc> programs() {
    return List.of(
        parse(UNDER_WAY),
        parse(HANDED),
        parse(PARTS),
        parse(AHEAD),
        planned(" [consumers = 1]", "[hold = 1, stages = 3]", " [inflight = 1]"),
        planned(" [consumers = 2]", "[stages = 3]", ""),
        planned(" [consumers = 2, resident = 64]", "[stages = 3]", ""),
        planned(" [consumers = 2, share = \"rows\"]", "[stages = 3]", ""));
  }

  private static FlowMutationTesting testing(PrimFunc func) {
    return new FlowMutationTesting(func, () -> Arguments.random(func.params(), 3, Map.of()));
  }

  /** Tries all mutants; gives what became of them by kind, and those that nobody found. */
  private static List<FlowMutationTesting.Result> all(
      PrimFunc func, List<FlowMutation> kinds, Map<String, Map<Verdict, Integer>> seen) {
    FlowMutationTesting testing = testing(func);
    List<FlowMutationTesting.Result> left = new ArrayList<>();
    for (FlowMutation.Mutated mutant : testing.mutants(kinds)) {
      FlowMutationTesting.Result result = testing.test(mutant);
      seen.computeIfAbsent(mutant.mutation().name(), n -> new TreeMap<>())
          .merge(result.verdict(), 1, Integer::sum);
      if (result.verdict() == Verdict.SURVIVED || result.verdict() == Verdict.UNREPORTED) {
        left.add(result);
      }
    }
    return left;
  }

  @Test
  void eachKindIsFoundInTilePrograms() {
    Map<String, Map<Verdict, Integer>> seen = new TreeMap<>();
    List<String> left = new ArrayList<>();
    for (PrimFunc func : programs()) {
      for (FlowMutationTesting.Result result : all(func, FlowMutations.ALL, seen)) {
        left.add(func.name() + ": " + result + "\n" + IrPrinter.text(result.mutant().func()));
      }
    }
    seen.forEach((kind, verdicts) -> System.out.println(kind + " " + verdicts));
    assertThat(left).isEmpty();
    Set<String> kinds =
        FlowMutations.ALL.stream().map(FlowMutation::name).collect(Collectors.toSet());
    assertThat(kinds).hasSameSizeAs(FlowMutations.ALL);
    kinds.removeAll(seen.keySet());
    assertThat(kinds).as("planted nowhere").isEmpty();
  }

  @Test
  void mistakesWithBarriersAreFoundInTilePrograms() {
    String[] text = {""};
    Lowering.lower(
        parse(GEMM),
        GpuTarget.SM_90A,
        (pass, behind) -> text[0] = pass.equals("LowerPipes") ? behind.get() : text[0]);
    Map<String, Map<Verdict, Integer>> seen = new TreeMap<>();
    List<String> left = new ArrayList<>();
    for (FlowMutationTesting.Result result : all(parse(text[0]), FlowMutations.BARRIERS, seen)) {
      left.add(result.toString());
    }
    seen.forEach((kind, verdicts) -> System.out.println(kind + " " + verdicts));
    assertThat(left).as(text[0]).isEmpty();
    assertThat(new HashSet<>(seen.keySet())).hasSizeGreaterThan(15);
  }
}
