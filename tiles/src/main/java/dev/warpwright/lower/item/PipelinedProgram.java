package dev.warpwright.lower.item;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.ForKind;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.gpu.Guards;
import dev.warpwright.lower.gpu.TileSums;
import dev.warpwright.lower.gpu.WarpgroupInstruction;
import dev.warpwright.lower.pass.LoweringException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a tile program whose products are pipelined: work items, and for each of them a
 * pipelined loop of copies and products, then an epilogue.
 *
 * <pre>{@code
 * persistent t in tiles {            work: one loop, or loops bound to block indices
 *   tile.fill acc = 0                fills
 *   pipeline k in steps {            loop
 *     tile.copy As <- A              loads; an operand may go on to a fragment
 *     tile.mma acc += As * Bs^T      products; sums of a tile's rows may follow
 *   }
 *   tile.map Cs <- f(acc)            epilogue
 *   tile.copy C <- Cs
 * }
 * }</pre>
 *
 * @param work the loops over work items, outermost first
 * @param result the copy that stores the tile of the result, the last statement
 */
public record PipelinedProgram(
    List<Stmt.For> work,
    List<Buffer> allocations,
    List<Stmt.TileFill> fills,
    Stmt.For loop,
    List<Stmt.TileCopy> loads,
    List<Stmt.TileMma> products,
    List<Stmt> epilogue,
    Stmt.TileCopy result) {

  /** Whether any product of a program names an instruction of warpgroups. */
  public static boolean isForWarpgroups(PrimFunc program) {
    boolean[] found = {false};
    Walk.statements(
        program.body(),
        s -> found[0] |= s instanceof Stmt.TileMma mma && WarpgroupInstruction.isNamedBy(mma));
    return found[0];
  }

  /**
   * Takes a program apart.
   *
   * @throws LoweringException if it has another form
   */
  public static PipelinedProgram of(PrimFunc program) {
    return new Parser().parse(program.body());
  }

  /** The fragments among the allocations, but for operands of products. */
  public List<Buffer> fragments() {
    return allocations.stream()
        .filter(b -> b.scope() == Scope.FRAGMENT)
        .filter(b -> products.stream().noneMatch(mma -> mma.a().buffer() == b))
        .toList();
  }

  /** The statement that fills a fragment before the loop, or null. */
  Stmt.@Nullable TileFill fill(Buffer fragment) {
    return fills.stream().filter(f -> f.to().buffer() == fragment).findFirst().orElse(null);
  }

  private static final class Parser {
    private final List<Stmt.For> work = new ArrayList<>();
    private final List<Buffer> allocations = new ArrayList<>();
    private final List<Stmt.TileFill> fills = new ArrayList<>();
    private final List<Stmt.TileCopy> loads = new ArrayList<>();
    private final List<Stmt.TileMma> products = new ArrayList<>();
    private final List<Stmt> epilogue = new ArrayList<>();
    private Stmt.@Nullable For loop;

    PipelinedProgram parse(Stmt body) {
      for (Stmt s : insideWork(body)) {
        if (loop == null) {
          beforeOrLoop(s);
        } else {
          epilogue.add(epilogue(s));
        }
      }
      if (loop == null) {
        throw new LoweringException("the program has no pipelined loop");
      }
      if (products.isEmpty() || loads.isEmpty()) {
        throw new LoweringException(
            "pipelined loop " + loop.var() + " does not copy operands and multiply them");
      }
      if (epilogue.isEmpty()
          || !(epilogue.getLast() instanceof Stmt.TileCopy result)
          || result.to().buffer().scope() != Scope.GLOBAL) {
        throw new LoweringException("the epilogue does not end by copying a tile of the result");
      }
      return new PipelinedProgram(
          work, allocations, fills, loop, loads, products, epilogue, result);
    }

    /** The statements for one work item. */
    List<Stmt> insideWork(Stmt body) {
      List<Stmt> stmts = flat(body);
      while (stmts.size() == 1
          && stmts.getFirst() instanceof Stmt.For f
          && (f.kind() == ForKind.PERSISTENT || f.kind() == ForKind.THREAD_BOUND)) {
        work.add(f);
        stmts = flat(f.body());
      }
      return stmts;
    }

    private List<Stmt> flat(Stmt s) {
      List<Stmt> result = new ArrayList<>();
      flatten(s, result);
      return result;
    }

    private void flatten(Stmt s, List<Stmt> into) {
      switch (s) {
        case Stmt.Seq(List<Stmt> stmts) -> stmts.forEach(inner -> flatten(inner, into));
        case Stmt.Alloc(Buffer buffer, Stmt inner) -> {
          allocations.add(buffer);
          flatten(inner, into);
        }
        case Stmt.Comment _ -> {}
        case Stmt.For _, Stmt.While _, Stmt.If _, Stmt.Let _ -> into.add(s);
        case Stmt.Store _, Stmt.Evaluate _, Stmt.Block _ -> into.add(s);
        case Stmt.TileCopy _, Stmt.TileFill _, Stmt.TileMma _ -> into.add(s);
        case Stmt.TileMap _, Stmt.TileReduce _, Stmt.Flow _ -> into.add(s);
      }
    }

    private void beforeOrLoop(Stmt s) {
      if (s instanceof Stmt.TileFill fill && fill.to().buffer().scope() == Scope.FRAGMENT) {
        fills.add(fill);
      } else if (s instanceof Stmt.TileFill fill && TileSums.isVector(fill.to().buffer())) {
        return;
      } else if (s instanceof Stmt.For f && f.kind() == ForKind.PIPELINED) {
        loop = f;
        for (Stmt inner : flat(f.body())) {
          step(f, inner);
        }
      } else {
        throw new LoweringException("before the pipelined loop stand fills of sums only");
      }
    }

    private void step(Stmt.For f, Stmt s) {
      if (s instanceof Stmt.TileCopy copy && products.isEmpty()) {
        loads.add(copy);
      } else if (s instanceof Stmt.TileMma mma) {
        products.add(mma);
      } else if (!(TileSums.are(s) && !products.isEmpty())
          && (!(s instanceof Stmt.TileMap map) || !products.isEmpty() || !isOperand(map))) {
        throw new LoweringException(
            "pipelined loop "
                + f.var()
                + " holds more than copies, operands, then GEMMs, then sums of rows");
      }
    }

    /** Whether what a map makes stays in registers. */
    private static boolean isOperand(Stmt.TileMap map) {
      return map.stores().stream().allMatch(store -> store.buffer().scope() == Scope.FRAGMENT);
    }

    private static Stmt epilogue(Stmt s) {
      if (s instanceof Stmt.TileCopy || s instanceof Stmt.TileMap) {
        return s;
      }
      throw new LoweringException("behind a pipelined loop stand maps and copies only");
    }
  }

  /** Extent of the pipelined loop. */
  Expr steps() {
    return loop.extent();
  }

  /** Rows and columns of the result's tile. */
  long tile(int dimension) {
    Region to = result.to();
    int planes = to.buffer().rank() - 2;
    if (planes < 0 || planes > 1 || (planes == 1 && !to.ranges().getFirst().isPoint())) {
      throw new LoweringException("result " + to.buffer().name() + " is no matrix");
    }
    return Guards.extent(to.ranges().get(planes + dimension));
  }
}
