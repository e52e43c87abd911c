package dev.warpwright.cli.orders;

import dev.warpwright.base.UserError;
import dev.warpwright.cli.command.Action;
import dev.warpwright.cli.command.Command;
import dev.warpwright.cli.command.KeyValues;
import dev.warpwright.cli.orders.OrderRequest.Task;
import dev.warpwright.cli.output.Progress;
import dev.warpwright.cli.output.Report;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@CommandLine.Command(
    name = "order",
    description = {
      "Orders of tiles and the blocks that they load through a cache.",
      "",
      "search   the order with the least loads, proven where the grid is small",
      "show     one order, step by step",
      "score    ready-made orders, or one, beside the lower bound",
      "measure  what orders cost on the GPU: time, bytes, and which SM did what when",
      "",
      "search, show and score:",
      "grid=4x4       rows and columns of tiles",
      "capacity=4     blocks that the cache holds",
      "policy=        lru, fifo or optimal; default: optimal for search, which is",
      "               exact, lru for show and score",
      "depth=1        blocks of K",
      "chained=0      columns of tiles of a second matmul, which reads the first's",
      "               result",
      "results=past   past the cache, or cached and written back",
      "at=1           tiles at a time",
      "parts=1        search: parts of the second matmul's K, whose partial sums are",
      "               added up; an order as below says itself how many it has",
      "order=         row, column, serpentine, grouped:4, morton, hilbert, nested:4;",
      "               chained: rows:2 of both in turn, halves of rows, mixed:2 rows",
      "               high, tile by tile, partial:4 parts of a row, each added to the",
      "               second result at once, partial:4:8 of eight rows",
      "file=          what search printed, or orders as text: t1 = 1 Order 0:",
      "               [(x, y, gemmId), ...] or t = 1 Order: [(x, y), ...] or",
      "               t1 = 1, parts = 2 Order 0: [(x, y, gemmId, part), ...]",
      "line=          which of them: the line on which it begins; else the first,",
      "               score: all",
      "seconds=30     after which search returns the best so far; seed=1",
      "",
      "measure one GEMM:",
      "M= N= K=       the GEMM; dtype=bf16 or f16",
      "tile=128x128   sizes of tiles, with commas; 256x256 on Hopper: a cluster of",
      "               two blocks",
      "order=         with commas: row,grouped:8,hilbert,explicit:0,0;0,1;...",
      "file= line=    instead: an order as search printed it, or all orders of a file",
      "seconds=300    that Nsight Compute may take to count; seed=1",
      "from=gpu       or recorded: what an H200 said; or simulator, of gpu=h200",
      "",
      "measure two dependent GEMMs in one kernel, C = gelu(A B) and Y = C D:",
      "N2=            columns of Y; the others as above",
      "order=         row,rows:1,halves,mixed:8,partial:2,... or",
      "               explicit:row,column,gemm;... with a part behind it",
      "wait=row       what a tile of Y waits for, with commas: row (of tiles of C),",
      "               rows:4 (the four rows that its own is among), tile (each tile",
      "               of C before it is read), grid (all of C)",
      "from=gpu       or simulator, or model: predicted alone, for gpu=h200",
      ""
    })
public final class OrderCommand extends Command {
  private final Action<OrderRequest> action;
  private final Action<MeasureRequest> measuring;

  @Parameters(index = "0", paramLabel = "search|show|score|measure", description = "What to do.")
  String task = "";

  @Parameters(index = "1..*", arity = "0..*", paramLabel = "KEY=VALUE", description = "See above.")
  List<String> words = List.of();

  @Option(names = "--csv", paramLabel = "FILE", description = "Write a table there.")
  @Nullable Path csv;

  @Option(names = "--svg", paramLabel = "FILE", description = "Draw the order, or the timelines.")
  @Nullable Path svg;

  @Option(
      names = "--timeline",
      paramLabel = "FILE",
      description = "measure: write a row for each work item.")
  @Nullable Path timeline;

  @Option(names = "--no-counters", description = "measure: without Nsight Compute.")
  boolean noCounters;

  public OrderCommand(Action<OrderRequest> action, Action<MeasureRequest> measuring) {
    this.action = action;
    this.measuring = measuring;
  }

  @Override
  public Report perform(Progress progress) {
    if (task.equals("measure") && ChainMeasureRequest.isOne(words)) {
      if (svg != null || timeline != null) {
        throw new UserError("--svg and --timeline are of one GEMM; N2= makes two");
      }
      return ChainMeasureAction.perform(
          ChainMeasureRequest.of(new KeyValues(words), !noCounters, csv), progress);
    }
    if (task.equals("measure")) {
      return measuring.perform(
          MeasureRequest.of(
              new KeyValues(words), !noCounters, new MeasureRequest.Files(csv, svg, timeline)),
          progress);
    }
    if (timeline != null || noCounters) {
      throw new UserError("--timeline and --no-counters belong to order measure");
    }
    Task chosen =
        switch (task) {
          case "search" -> Task.SEARCH;
          case "show" -> Task.SHOW;
          case "score" -> Task.SCORE;
          default ->
              throw new UserError(
                  "order '" + task + "' is none of search, show, score and measure");
        };
    if (svg != null && chosen == Task.SCORE) {
      throw new UserError("--svg " + svg + ": draws one order; use it with search or show");
    }
    return action.perform(
        OrderRequest.of(chosen, new KeyValues(words), new OrderRequest.Files(csv, svg)), progress);
  }
}
