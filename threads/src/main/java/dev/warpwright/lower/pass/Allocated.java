package dev.warpwright.lower.pass;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Stmt;
import java.util.List;

/** What a body allocates, apart from what it does. */
public final class Allocated {
  private Allocated() {}

  /**
   * Takes a body apart; loops and conditions keep what they allocate.
   *
   * @param s any statement
   * @param buffers are added to, outermost first
   * @param stmts are added to, in order
   */
  public static void apart(Stmt s, List<Buffer> buffers, List<Stmt> stmts) {
    switch (s) {
      case Stmt.Seq(List<Stmt> inner) -> inner.forEach(each -> apart(each, buffers, stmts));
      case Stmt.Alloc(Buffer buffer, Stmt body) -> {
        buffers.add(buffer);
        apart(body, buffers, stmts);
      }
      default -> stmts.add(s);
    }
  }
}
