package dev.warpwright.schedule.primitive;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Substitution;
import dev.warpwright.schedule.analysis.Access;
import dev.warpwright.schedule.analysis.Accesses;
import dev.warpwright.schedule.analysis.Hull;
import dev.warpwright.schedule.analysis.Ranges;
import dev.warpwright.schedule.analysis.Tree;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Lets blocks read a buffer through a copy.
 *
 * <pre>{@code
 * for i in n { y[i] = f(x[i]) }
 * →
 * alloc x_shared: shared
 * for i in n { x_shared[i] = x[i] }
 * for i in n { y[i] = f(x_shared[i]) }
 * }</pre>
 *
 * <p>The copying block has the name of the new buffer; {@link ComputeAt} moves it to where it is
 * needed. It stands before the first reader: at the top of the function for a parameter, otherwise
 * where the buffer is allocated. A parameter is copied whole, an intermediate under loops as far as
 * it is read.
 *
 * <p>Requires:
 *
 * <ol>
 *   <li>The buffer and the blocks exist; at least one block is given.
 *   <li>Each of the blocks reads the buffer and does not write it.
 *   <li>Nothing writes the buffer from the place of the copy on.
 *   <li>Iterations of parallel loops do not share the copy, if it is on chip.
 *   <li>All of the buffer is written: it was not made smaller around guarded accesses.
 * </ol>
 */
public final class CacheRead {
  private static final String NAME = "cacheRead";

  private CacheRead() {}

  /** The new function, and the name of the copying block and of the copy. */
  public record Result(PrimFunc func, String copy) {}

  public static Result apply(
      PrimFunc func, String bufferName, Scope scope, List<String> readerNames) {
    Check check = new Check(NAME, func);
    Buffer buffer = check.buffer(1, bufferName);
    check.require(1, !readerNames.isEmpty(), "no reader of " + bufferName + " is given", null);
    List<Stmt> readers = new ArrayList<>();
    for (String name : readerNames) {
      Stmt reader = check.block(1, name).getLast();
      check.require(
          2,
          Accesses.read(reader).contains(buffer) && !Accesses.written(reader).contains(buffer),
          "block " + name + " does not just read " + bufferName,
          reader);
      readers.add(reader);
    }
    check.allWritten(5, buffer);
    List<Stmt> path = Tree.pathToAlloc(func, buffer);
    boolean whole = path == null || Tree.loops(path).isEmpty();
    Stmt scopeBody =
        path != null && path.getLast() instanceof Stmt.Alloc alloc ? alloc.body() : func.body();

    String name = Tree.freshName(func, bufferName + "_" + scope.text().replace('.', '_'));
    Buffer copy = buffer.withLayout(null).withScope(scope).withName(name);
    Ranges ranges = Tree.ranges(func, path == null ? List.of() : path);
    List<Access> accesses =
        Accesses.of(scopeBody, buffer).stream().filter(a -> readers.contains(a.leaf())).toList();
    Region box = whole ? Region.whole(buffer) : Hull.of(accesses, ranges);
    Stmt nest = NewNest.copy(name, copy, buffer, box, ranges);
    Stmt placed =
        Tree.insertBefore(
            scopeBody,
            s -> readers.stream().anyMatch(r -> Tree.contains(s, r)),
            List.of(copy),
            nest);

    boolean copied = false;
    for (Access access : Accesses.of(placed, buffer)) {
      copied |= !access.isWrite() && access.leaf() instanceof Stmt.Block b && b.name().equals(name);
      check.require(
          3,
          !(copied && access.isWrite()),
          bufferName + " is written after the place of the copy",
          access.leaf());
    }
    for (Stmt reader : readers) {
      placed =
          Tree.replace(placed, reader, Substitution.ofBuffers(Map.of(buffer, copy)).stmt(reader));
    }
    PrimFunc result = Tree.replace(func, scopeBody, placed);
    return new Result(check.parallelLoopsIndependent(4, result), name);
  }
}
