package dev.warpwright.lower.gpu;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Walk;
import dev.warpwright.lower.pass.LoweringException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What happens to accumulators behind the pipelined loop: maps from fragments to fragments, then
 * the result's tile, which leaves through shared memory ({@link StagedStore}) where the program
 * says so and bulk copies can carry it, otherwise from registers.
 */
final class TileEpilogue {
  private final PipelinedProgram program;
  private final ThreadCode code;
  private final MapLowering maps;
  private final boolean exact;
  private final @Nullable StagedStore staged;

  /**
   * The epilogue of a program.
   *
   * @param consumers warpgroups that hold the fragments and may use bulk stores; 0 for none
   * @param exact whether no work item is a tile that lies outside of the result
   */
  TileEpilogue(PipelinedProgram program, ThreadCode code, int consumers, boolean exact) {
    this.exact = exact;
    this.program = program;
    this.code = code;
    this.maps = new MapLowering(code);
    Buffer from = program.result().from().buffer();
    Buffer to = program.result().to().buffer();
    boolean staging =
        consumers > 0
            && from.scope() == Scope.SHARED
            && BulkLoad.storeRefusal(to) == null
            && to.dtype() == from.dtype()
            && !isTransposed(staging());
    this.staged = staging ? StagedStore.of(from, code.layout(source()), consumers) : null;
  }

  /** The shared buffers that it needs. */
  List<Buffer> sharedBuffers() {
    return staged == null ? List.of() : List.of(staged.panels());
  }

  /** The map that computes the tile of the result, if it goes through shared memory. */
  private Stmt.TileMap staging() {
    Buffer shared = program.result().from().buffer();
    List<Stmt> epilogue = program.epilogue();
    Stmt before = epilogue.size() < 2 ? null : epilogue.get(epilogue.size() - 2);
    Stmt.TileMap map =
        switch (before) {
          case Stmt.TileMap m when m.stores().size() == 1 -> m;
          case Stmt.TileCopy copy -> asMap(copy);
          case null, default -> null;
        };
    if (map == null
        || map.stores().getFirst().buffer() != shared
        || !List.copyOf(map.vars()).equals(map.stores().getFirst().indices())
        || FragmentInference.fragments(map).isEmpty()
        || !program.result().from().equals(Region.whole(shared))) {
      throw new LoweringException(
          String.format(
              Locale.ROOT,
              "result tile %s is not computed from fragments, whole, right before it is stored",
              shared.name()));
    }
    return map;
  }

  private static Stmt.TileMap asMap(Stmt.TileCopy copy) {
    Var i = Var.index("i");
    Var j = Var.index("j");
    List<Expr> point = List.of(i, j);
    Expr value = new Expr.Load(copy.from().buffer(), Guards.indices(copy.from(), point));
    Buffer to = copy.to().buffer();
    return new Stmt.TileMap(
        List.of(i, j),
        List.of(
            Exprs.i32(Guards.extent(copy.to().tile().get(0))),
            Exprs.i32(Guards.extent(copy.to().tile().get(1)))),
        List.of(
            new Stmt.Store(to, Guards.indices(copy.to(), point), Exprs.cast(to.dtype(), value))),
        Attrs.NONE);
  }

  /** Whether the map takes elements of fragments at (j, i) to the point (i, j). */
  private static boolean isTransposed(Stmt.TileMap map) {
    List<Expr> across = List.of(map.vars().get(1), map.vars().get(0));
    boolean[] found = {false};
    Walk.expressions(
        map.stores().getFirst().value(),
        e ->
            found[0] |=
                e instanceof Expr.Load load
                    && load.buffer().scope() == Scope.FRAGMENT
                    && load.indices().equals(across));
    return found[0];
  }

  /** The map with its variables in the order in which fragments are indexed. */
  private static Stmt.TileMap alongFragments(Stmt.TileMap map) {
    return isTransposed(map)
        ? new Stmt.TileMap(
            map.vars().reversed(), map.extents().reversed(), map.stores(), map.attrs())
        : map;
  }

  private Buffer source() {
    Set<Buffer> fragments = FragmentInference.fragments(staging());
    return fragments.iterator().next();
  }

  /** The consumers' code for one work item. */
  Stmt code(WorkItems.Item item, Expr consumer, Expr group, Expr thread) {
    List<Stmt> stmts = new ArrayList<>();
    boolean shared = program.result().from().buffer().scope() == Scope.SHARED;
    int last = program.epilogue().size() - (shared ? 2 : 1);
    for (Stmt s : program.epilogue().subList(0, last)) {
      Stmt at = item.at().stmt(s);
      if (writesShared(at)) {
        throw new LoweringException("only the result's tile may be in shared memory behind a loop");
      }
      stmts.add(
          switch (at) {
            case Stmt.TileMap map -> maps.map(map);
            case Stmt.TileCopy copy -> maps.copy(copy);
            default -> throw new LoweringException("neither map nor copy behind a loop");
          });
    }
    Stmt.TileCopy result = (Stmt.TileCopy) item.at().stmt(program.result());
    if (!shared) {
      stmts.add(maps.copy(result));
    } else {
      Stmt.TileMap map = (Stmt.TileMap) item.at().stmt(staging());
      stmts.add(
          staged == null
              ? direct(map, result)
              : staged.store(
                  result.to(),
                  (row, column, register) ->
                      maps.valueAt(map, map.stores().getFirst().value(), row, column, register),
                  consumer,
                  group,
                  thread));
    }
    return Stmts.seq(stmts);
  }

  private static boolean writesShared(Stmt s) {
    return Accesses.of(s).writes().stream().anyMatch(b -> b.scope() == Scope.SHARED);
  }

  /** Stores what the map computes straight to the result. */
  private Stmt direct(Stmt.TileMap map, Stmt.TileCopy result) {
    Region to = result.to();
    // What the map stores at a point of the staging buffer goes to that point of the result's tile.
    List<Expr> indices = Guards.indices(to, map.stores().getFirst().indices());
    Expr value = map.stores().getFirst().value();
    Stmt.Store store = new Stmt.Store(to.buffer(), indices, Exprs.cast(to.buffer().dtype(), value));
    Stmt.TileMap stored =
        alongFragments(new Stmt.TileMap(map.vars(), map.extents(), List.of(store), Attrs.NONE));
    return maps.guarded(
        stored, exact ? Guards.insideOfGrid(to, indices) : Guards.inside(to, indices));
  }

  /** What the consumers do behind their last work item. */
  Stmt finish(Expr thread) {
    return staged == null ? Stmt.Seq.EMPTY : StagedStore.finish(thread);
  }
}
