package dev.warpwright.lower.gpu;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.lower.pass.LoweringException;
import java.util.ArrayList;
import java.util.List;
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
    ResultTile tile = consumers > 0 && ResultTile.isStoredBy(program.result()) ? staging() : null;
    this.staged =
        tile != null && tile.isForBulkStores()
            ? StagedStore.of(tile.tile(), code.layout(tile.source()), consumers)
            : null;
  }

  /** The shared buffers that it needs. */
  List<Buffer> sharedBuffers() {
    return staged == null ? List.of() : List.of(staged.panels());
  }

  /** The result's tile, if it goes through shared memory. */
  private ResultTile staging() {
    List<Stmt> epilogue = program.epilogue();
    Stmt before = epilogue.size() < 2 ? null : epilogue.get(epilogue.size() - 2);
    return ResultTile.of(before, program.result());
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
    if (!shared) {
      stmts.add(maps.copy((Stmt.TileCopy) item.at().stmt(program.result())));
    } else {
      ResultTile tile = staging().at(item);
      stmts.add(
          staged == null
              ? tile.direct(maps, exact)
              : tile.staged(staged, maps, consumer, group, group, thread));
    }
    return Stmts.seq(stmts);
  }

  private static boolean writesShared(Stmt s) {
    return Accesses.of(s).writes().stream().anyMatch(b -> b.scope() == Scope.SHARED);
  }

  /** What the consumers do behind their last work item. */
  Stmt finish(Expr thread) {
    return staged == null ? Stmt.Seq.EMPTY : StagedStore.finish(thread);
  }
}
