package dev.warpwright.ir.text;

import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Expr;
import dev.warpwright.ir.Range;
import dev.warpwright.ir.Region;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.Var;
import dev.warpwright.ir.visit.Walk;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a block reads and writes where its text does not say it: the elements that it names by its
 * iteration variables, and all of a buffer whose elements it finds otherwise, for example by a loop
 * inside it. What it writes counts as written only, and buffers of its own do not count.
 */
record BlockRegions(List<Region> reads, List<Region> writes) {
  static BlockRegions of(@Nullable Stmt init, Stmt body) {
    Stmt all = init == null ? body : Stmts.seq(init, body);
    Set<Buffer> own = new HashSet<>();
    Set<Var> bound = new HashSet<>();
    Map<Buffer, Set<Region>> written = new LinkedHashMap<>();
    Map<Buffer, Set<Region>> read = new LinkedHashMap<>();
    Walk.statements(
        all,
        s -> {
          if (s instanceof Stmt.Alloc alloc) {
            own.add(alloc.buffer());
          } else if (s instanceof Stmt.For loop) {
            bound.add(loop.var());
          } else if (s instanceof Stmt.Let let) {
            bound.add(let.var());
          } else if (s instanceof Stmt.TileMap map) {
            bound.addAll(map.vars());
          } else if (s instanceof Stmt.TileReduce reduce) {
            bound.addAll(reduce.vars());
            bound.addAll(reduce.reduceVars());
          } else if (s instanceof Stmt.Block block) {
            block.iterVars().forEach(v -> bound.add(v.var()));
          }
        });
    Walk.all(
        all,
        s -> {
          if (s instanceof Stmt.Store store) {
            add(written, store.buffer(), store.indices(), bound);
          }
        },
        e -> {
          if (e instanceof Expr.Load load) {
            add(read, load.buffer(), load.indices(), bound);
          }
        });
    own.forEach(written::remove);
    read.keySet().removeAll(own);
    read.keySet().removeAll(written.keySet());
    return new BlockRegions(regions(read), regions(written));
  }

  private static void add(
      Map<Buffer, Set<Region>> regions, Buffer buffer, List<Expr> indices, Set<Var> bound) {
    Set<Region> known = regions.computeIfAbsent(buffer, b -> new LinkedHashSet<>());
    boolean named = indices.stream().noneMatch(index -> mentions(index, bound));
    known.add(
        named
            ? new Region(buffer, indices.stream().map(Range::at).toList())
            : Region.whole(buffer));
  }

  private static boolean mentions(Expr index, Set<Var> bound) {
    boolean[] found = {false};
    Walk.expressions(
        index, e -> found[0] |= e instanceof Expr.Load || e instanceof Var v && bound.contains(v));
    return found[0];
  }

  private static List<Region> regions(Map<Buffer, Set<Region>> regions) {
    List<Region> all = new ArrayList<>();
    regions.forEach(
        (buffer, each) -> {
          Region whole = Region.whole(buffer);
          if (each.contains(whole)) {
            all.add(whole);
          } else {
            all.addAll(each);
          }
        });
    return all;
  }
}
