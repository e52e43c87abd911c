package dev.warpwright.ir.verify;

import static dev.warpwright.ir.verify.BrokenRules.expect;
import static dev.warpwright.ir.verify.BrokenRules.function;
import static dev.warpwright.ir.verify.BrokenRules.kernel;
import static dev.warpwright.ir.verify.BrokenRules.valid;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.ThreadAxis;
import dev.warpwright.ir.ThreadBinding;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is wrong with kernels: launches, intrinsics, threads that part, vectors. */
class KernelVerifierTest {
  @Test
  void launch() {
    kernel("kernel k() block(x = 32, y = 64) { }", Rule.LAUNCH, "a block has 2048 threads");
    kernel("kernel k(n: i32 in 1..9) block(x = n) { }", Rule.LAUNCH, "is not constant");
    Var x = Var.index("x");
    Var y = Var.index("y");
    Kernel twice =
        new Kernel(
            "k",
            Kernel.Kind.GRID,
            List.of(),
            List.of(
                new ThreadBinding(ThreadAxis.THREAD_X, x, Exprs.i32(8)),
                new ThreadBinding(ThreadAxis.THREAD_X, y, Exprs.i32(8))),
            Stmt.Seq.EMPTY,
            Attrs.NONE);
    expect(Verifier.verify(twice), Rule.LAUNCH, "two indices threadIdx.x");
  }

  private static final String BUFFERS =
      "alloc s: f16[64, 64] shared alloc r: u32[4] local alloc g: f32[4] local ";

  @Test
  void intrinsics() {
    String head = "kernel k(a: f16[8]) block(tx = 64) { " + BUFFERS;
    kernel(head + "ldmatrix(&g[0], &s[tx, 0]) }", Rule.INTRINSICS, "points at u32, not f32");
    kernel(
        head + "ldmatrix(&r[0], &a[0]) }",
        Rule.INTRINSICS,
        "operand 'row' of ldmatrix points into [shared], not global memory");
    kernel(head + "ldmatrix(r[0], &s[0, 0]) }", Rule.INTRINSICS, "is an address, not a value");
    kernel(head + "sync.named(1.5) }", Rule.INTRINSICS, "is of type i32, not f32");
    kernel(head + "exp(1.0) }", Rule.INTRINSICS, "exp has no effect");
    kernel(head + "a[0] = select(sync(), a[0], a[1]) }", Rule.INTRINSICS, "sync gives no value");
    kernel("host kernel k() { sync() }", Rule.INTRINSICS, "does not run in a host kernel");
    kernel(
        head + "ldmatrix(&r[2], &s[0, 0]) }",
        Rule.IN_BOUNDS,
        "covers 16 bytes of 'r', which has 8 there");
    Buffer a = Buffer.of("a", DType.F32, Scope.GLOBAL, 8);
    Stmt wild =
        new Stmt.Let(
            new Var("p", Type.HANDLE),
            new Expr.AddressOf(a, List.of(Exprs.i32(0))),
            Stmt.Seq.EMPTY);
    expect(
        Verifier.verify(function(List.of(a), wild)),
        Rule.TYPES,
        "the address in 'a' is no argument of an intrinsic");
    valid(head + "let t = ticket(1) if t == 0 { ldmatrix(&r[0], &s[tx, 8]) } }");
  }

  @Test
  void convergence() {
    String head = "kernel k(n: i32 in 1..99) grid(bx = n) block(tx = 128) { " + BUFFERS;
    String load = "ldmatrix(&r[0], &s[tx % 64, 0])";
    kernel(
        head + "if tx < 64 { sync() } }",
        Rule.CONVERGENCE,
        "execute sync together part before it, at tx < 64");
    kernel(head + "let lane = tx % 32 if lane < 8 { " + load + " } }", Rule.CONVERGENCE, "lane");
    kernel(head + "for i in tx { sync() } }", Rule.CONVERGENCE, "at tx");
    kernel(head + "if bx * 128 + tx < n { " + load + " } }", Rule.CONVERGENCE, "ldmatrix");
    kernel(
        head + "if bx < n { } else { if tx == 0 { } else { sync() } } }", Rule.CONVERGENCE, "tx");
    valid(head + "if bx < 5 { sync() } }");
    valid(head + "if tx < 128 { sync() } }");
    valid(head + "let warp = tx / 32 if warp == 1 { " + load + " } }");
    valid(head + "if tx < 64 { " + load + " sync.named(64) } }");
    valid(head + "for i in n { while r[0] < 5u32 { sync() } }  }");
  }

  @Test
  void convergenceWhereTheLastGroupIsNotWhole() {
    String head = "kernel k(n: i32 in 1..99) grid(bx = n) block(tx = 160) { " + BUFFERS;
    kernel(head + "if tx < 64 { group() } }", Rule.CONVERGENCE, "execute group together part");
    kernel(head + "if tx >= 128 { } else { if tx % 128 < 2 { group() } } }", Rule.CONVERGENCE, "2");
    valid(head + "if tx < 128 { group() } }");
    valid(head + "if tx >= 128 { } else { group() } }");
    valid(head + "if tx < 160 { group() } }");
  }

  @Test
  void operandsOfIntrinsics() {
    String head = "kernel k(n: i32 in 1..99) grid(bx = n) block(tx = 128) { ";
    kernel(head + "budget(7) }", Rule.INTRINSICS, "budget takes no 7");
    kernel(head + "budget(7u32) }", Rule.INTRINSICS, "operand 'n' of budget is of type i32");
    valid(head + "budget(8) }");
  }

  @Test
  void vectors() {
    kernel(
        "kernel k(a: f32[64]) { a[ramp(0, 2, 4)] = broadcast(1.0, 4) }",
        Rule.VECTORS,
        "are not consecutive");
    kernel(
        "kernel k(a: f32[64]) { a[ramp(0, 1, 8)] = broadcast(1.0, 8) }",
        Rule.VECTORS,
        "wider than 16 bytes");
    kernel(
        "kernel k() { alloc s: f32[8, 8] shared layout (8:1),(8:8)"
            + " s[0, ramp(0, 1, 4)] = broadcast(1.0, 4) }",
        Rule.VECTORS,
        "4 lanes are not consecutive in 's'");
    valid(
        "kernel k() { alloc s: f32[8, 8] shared layout (8:8),(8:1)^<1,2,1>"
            + " s[0, ramp(0, 1, 4)] = broadcast(1.0, 4) }");
    valid("host kernel k(a: f32[64]) { a[ramp(0, 1, 8)] = broadcast(1.0, 8) }");
  }
}
