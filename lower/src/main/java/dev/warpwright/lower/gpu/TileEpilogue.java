package dev.warpwright.lower.gpu;

import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.lower.pass.LoweringException;
import java.util.ArrayList;
import java.util.List;

/**
 * What happens to accumulators behind the pipelined loop: maps from fragments to fragments, then
 * the result's tile, which leaves from registers.
 */
final class TileEpilogue {
  private final PipelinedProgram program;
  private final MapLowering maps;

  TileEpilogue(PipelinedProgram program, ThreadCode code) {
    this.program = program;
    this.maps = new MapLowering(code);
  }

  /** The result's tile, if the program has one in shared memory. */
  private ResultTile staging() {
    List<Stmt> epilogue = program.epilogue();
    Stmt before = epilogue.size() < 2 ? null : epilogue.get(epilogue.size() - 2);
    return ResultTile.of(before, program.result());
  }

  /** The code for one work item. */
  Stmt code(WorkItems.Item item) {
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
      stmts.add(staging().at(item).direct(maps, true));
    }
    return Stmts.seq(stmts);
  }

  private static boolean writesShared(Stmt s) {
    return Accesses.of(s).writes().stream().anyMatch(b -> b.scope() == Scope.SHARED);
  }
}
