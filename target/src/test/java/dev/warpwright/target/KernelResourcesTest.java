package dev.warpwright.target;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.type.DType;
import java.util.List;
import org.junit.jupiter.api.Test;

class KernelResourcesTest {
  private static Buffer shared(String name, long elements) {
    return Buffer.of(name, DType.F32, Scope.SHARED, elements);
  }

  private static KernelResources resources(Stmt body) {
    return KernelResources.of(
        new Kernel("k", Kernel.Kind.GRID, List.of(), List.of(), body, Attrs.NONE));
  }

  @Test
  void nestedBuffersFollowEachOther() {
    Buffer a = shared("a", 5);
    Buffer b = new Buffer("b", DType.F16, a.shape(), Scope.SHARED, null, 128);
    Buffer local = Buffer.of("local", DType.F32, Scope.LOCAL, 1000);
    KernelResources plan = resources(Stmts.alloc(List.of(a, local, b), Stmt.Seq.EMPTY));
    assertThat(plan.offsets()).containsEntry(a, 0).containsEntry(b, 128).hasSize(2);
    assertThat(plan.sharedBytes()).isEqualTo(138);
    assertThat(plan.alignment()).isEqualTo(128);
    assertThat(plan.overlapping()).isFalse();
    assertThat(plan.dynamicSharedBytes()).isZero();
  }

  @Test
  void siblingsShareSpace() {
    Buffer outer = shared("outer", 64);
    Buffer first = shared("first", 100);
    Buffer second = shared("second", 200);
    KernelResources plan =
        resources(
            Stmts.alloc(
                List.of(outer),
                Stmts.seq(
                    new Stmt.Alloc(first, Stmt.Seq.EMPTY),
                    new Stmt.Alloc(second, Stmt.Seq.EMPTY))));
    assertThat(plan.offsets()).containsEntry(first, 256).containsEntry(second, 256);
    assertThat(plan.sharedBytes()).isEqualTo(256 + 800);
    assertThat(plan.overlapping()).isTrue();
  }

  @Test
  void moreThanStaticMemoryIsDynamic() {
    KernelResources fits = resources(Stmts.alloc(List.of(shared("a", 12 << 10)), Stmt.Seq.EMPTY));
    KernelResources more =
        resources(Stmts.alloc(List.of(shared("a", (12 << 10) + 1)), Stmt.Seq.EMPTY));
    assertThat(fits.dynamic()).isFalse();
    assertThat(more.dynamic()).isTrue();
    assertThat(more.dynamicSharedBytes()).isEqualTo((48 << 10) + 4);
  }
}
