package dev.warpwright.families.attention;

import dev.warpwright.base.UserError;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Exprs;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Program;
import dev.warpwright.ir.Program.ProgramParam;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.visit.Rewriter;
import dev.warpwright.lower.flow.Lowering;
import dev.warpwright.lower.text.BoundText;
import dev.warpwright.lower.text.TextHoles;
import dev.warpwright.target.DeviceCatalogue;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.target.KernelResources;
import dev.warpwright.target.intrinsic.Intrinsics;
import dev.warpwright.workload.Attention;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * A decode's attention and its output projection, {@code Y = X + O · Wᵀ}, in one launch. Each block
 * computes a part of an entry's keys; the last one of an entry's head combines them; then each
 * multiplies an equal share of the weight's rows, which it has asked for long before.
 *
 * <pre>{@code
 * share of W -> We[0 +: E]                      as much as fits beside the attention's ring
 * a part of the keys, as by combine=last
 * share of W -> Wl[0 +: L]                      in the ring's place, which is free now
 * if last of the head { P = of all parts; signal done }
 * await done == heads
 * for c in chunks of K { P[c] -> ring; Y += W[c] · P[c]ᵀ; more of W -> where it was }
 * }</pre>
 *
 * <p>Blocks wait for all others, so all are on the GPU at once: the kernel's attribute {@code
 * cooperative} lets the driver refuse it otherwise. The product is turned round, as in all GEMMs of
 * few rows: rows of W are the rows of mma.sync, rows of O its columns.
 *
 * @param features rows of W
 */
public record ProjectedAttention(
    Attention attention, AttentionConfig config, GpuTarget target, int features, Kernel kernel) {
  /** Rows of the result that instructions can take beside each other. */
  private static final int MOST_ROWS = 16;

  /** Columns of W in a chunk: four panels of 128 bytes, one for each warp that multiplies. */
  private static final int CHUNK = 256;

  private static final int PANELS = 4;
  private static final int PANEL = 64;

  /** Rows of an instruction. */
  private static final int TILE = 16;

  /** Chunks of O that are under way. */
  private static final int RING = 4;

  /** Bytes for barriers, and what alignment loses. */
  private static final int OTHER_BYTES = 2048;

  private static final Set<String> WORKSPACE =
      Set.of("tops", "totals", "sums", "attended", LastPart.COUNTERS);

  private static final String TEXT =
      """
      kernel projected($PARTS, attended: $T[$M, $KK], W: $T[$N, $KK], X: $T[$M, $N], Y: $T[$M, $N],
          counters: u32[$COUNTERS]) grid($BLOCKS) block(tid = $THREADS) {
        alloc We: $T[$E, 4, $SH, 64] shared layout ($E:$WCHUNK),(4:$WPANEL),($SH:64),(64:1)^<3,3,3> align 1024
        alloc fullW: mbarrier[$SLOTS] shared
        alloc fullP: mbarrier[$RING] shared
        alloc emptyP: mbarrier[$RING] shared
        alloc turn: u32[1] shared
        let n: i32 = (part + $SPLITS * x) * $SH
        if tid == 128 {
          for s in $SLOTS {
            mbarrier.init(&fullW[s], 1)
          }
          for s in $RING {
            mbarrier.init(&fullP[s], 1)
            mbarrier.init(&emptyP[s], 4)
          }
          fence.mbarrier_init()
          for c in $E {
            mbarrier.arrive.expect_tx(&fullW[c], $WBYTES)
            unroll p in 4 {
              bulk.load.2d(&We[c, p, 0, 0], &W[n, c * 256 + p * 64], &fullW[c], $SH, 64)
            }
          }
        }
        sync_threads()
        sync_threads()
        $LATE_PLACES
        alloc Ps: $T[$RING, 4, $RP, 64] shared layout ($RING:$PCHUNK),(4:$PPANEL),($RP:64),(64:1)^<3,3,3> align 1024
        alloc ofWarps: f32[4, $RP, $SH] shared
        $LATE_CHUNKS
        if tid == 0 {
          turn[0] = atomic.add.acq_rel.u32(&counters[x], 1u32)
        }
        sync_threads()
        if turn[0] == $SPLITS_1u32 {
          $COMBINE
          fence.proxy.async.global()
          sync_threads()
          if tid == 0 {
            counters[x] = 0u32
            red.add.release.u32(&counters[$DONE], 1u32)
          }
        }
        if tid < 128 {
          let warp: i32 = tid / 32
          let lane: i32 = tid % 32
          alloc acc: f32[$SUMS] local
          alloc a: u32[4] local
          alloc b: u32[4] local
          alloc x0: f32[$OWN] local
          unroll i in $OWN {
            let e: i32 = i * 128 + tid
            x0[i] = 0.0f32
            if e / $SH < $M && n + e % $SH < $N {
              x0[i] = f32(X[e / $SH, n + e % $SH])
            }
          }
          unroll i in $SUMS {
            acc[i] = 0.0f32
          }
          for c in $CHUNKS {
            let s: i32 = c % $SLOTS
            let ring: i32 = c % $RING
            mbarrier.wait(&fullW[s], c / $SLOTS % 2)
            mbarrier.wait(&fullP[ring], c / $RING % 2)
            $STEP
            sync_warp()
            if lane == 0 {
              mbarrier.arrive(&emptyP[ring])
            }
          }
          unroll mt in $MT {
            unroll nt in $NT {
              unroll i in 4 {
                ofWarps[warp, nt * 8 + lane % 4 * 2 + i % 2, mt * 16 + lane / 4 + i / 2 * 8] =
                  acc[(mt * $NT + nt) * 4 + i]
              }
            }
          }
          bar.sync(1, 128)
          unroll i in $OWN {
            let e: i32 = i * 128 + tid
            let row: i32 = e / $SH
            let col: i32 = e % $SH
            if row < $M && n + col < $N {
              Y[row, n + col] = $T(x0[i] + (ofWarps[0, row, col] + ofWarps[1, row, col]
                + ofWarps[2, row, col] + ofWarps[3, row, col]))
            }
          }
        } else if tid == 128 {
          while load.acquire.u32(&counters[$DONE]) < $DONEu32 {
          }
          fence.proxy.async.global()
          for c in $CHUNKS {
            let ring: i32 = c % $RING
            if c >= $RING {
              mbarrier.wait(&emptyP[ring], (c / $RING + 1) % 2)
              let m: i32 = c - $RING + $SLOTS
              if m < $CHUNKS {
                let s: i32 = m % $SLOTS
                mbarrier.arrive.expect_tx(&fullW[s], $WBYTES)
                $MORE
              }
            }
            mbarrier.arrive.expect_tx(&fullP[ring], $PBYTES)
            unroll p in 4 {
              bulk.load.2d(&Ps[ring, p, 0, 0], &attended[0, c * 256 + p * 64], &fullP[ring], $RP, 64)
            }
          }
          let left: u32 = atomic.add.acq_rel.u32(&counters[$DONE + 1], 1u32)
          if left == $COUNT_1u32 {
            counters[$DONE] = 0u32
            counters[$DONE + 1] = 0u32
          }
        }
      }
      """;

  /** Where weights come when the ring is free, and those that come there. */
  private static final String LATE_PLACES =
      """
      alloc Wl: $T[$L, 4, $SH, 64] shared layout ($L:$WCHUNK),(4:$WPANEL),($SH:64),(64:1)^<3,3,3> align 1024
      """;

  private static final String LATE_CHUNKS =
      """
      if tid == 128 {
        fence.proxy.async()
        for c in $L {
          mbarrier.arrive.expect_tx(&fullW[$E + c], $WBYTES)
          unroll p in 4 {
            bulk.load.2d(&Wl[c, p, 0, 0], &W[n, ($E + c) * 256 + p * 64], &fullW[$E + c], $SH, 64)
          }
        }
      }
      """;

  /** A chunk in the place of one that was multiplied. */
  private static final String MORE =
      """
      unroll p in 4 {
        bulk.load.2d(&$SLOT, p, 0, 0], &W[n, m * 256 + p * 64], &fullW[s], $SH, 64)
      }
      """;

  /** What differs by the place of a chunk. */
  private static final String EITHER =
      """
      if s < $E {
        $OF_EARLY
      } else {
        $OF_LATE
      }
      """;

  /** One panel of a chunk, of which a warp multiplies all. */
  private static final String STEP =
      """
      unroll kk in 4 {
        $LOAD_P
        unroll mt in $MT {
          ldmatrix.x4(&a[0], &$SLOT, warp, mt * 16 + lane % 16, kk * 16 + lane / 16 * 8])
          unroll nt in $NT {
            mma.m16n8k16.f32.$T(&acc[(mt * $NT + nt) * 4], &a[0], &b[$OF_P])
          }
        }
      }
      """;

  /** Of eight rows of O two steps along K are read at once, of sixteen one. */
  private static final String EIGHT =
      """
      if kk % 2 == 0 {
        ldmatrix.x4(&b[0], &Ps[ring, warp, lane % 8, kk * 16 + lane / 8 * 8])
      }
      """;

  private static final String SIXTEEN =
      """
      ldmatrix.x4(&b[0], &Ps[ring, warp, lane / 16 * 8 + lane % 8, kk * 16 + lane / 8 % 2 * 8])
      """;

  /**
   * Lowers, for entries that all have all keys.
   *
   * @throws UserError if the configuration is none for it
   */
  public static ProjectedAttention of(
      Attention attention, AttentionConfig config, GpuTarget target, int features) {
    config.check(attention);
    int rows = attention.batch() * attention.tokens();
    require(config.isForWarpgroups(), "project=%d: give by=wgmma rows=64", features);
    require(
        config.blocks() == 0 && config.tileRows() == AttentionConfig.GROUP_ROWS,
        "project=%d: give rows=64, and no blocks",
        features);
    require(
        attention.rows() <= config.tileRows(),
        "project=%d: %d rows share keys; 64 at most",
        features,
        attention.rows());
    require(rows <= MOST_ROWS, "project=%d: %d rows, not 1 to 16", features, rows);
    require(features % 8 == 0, "project=%d: give a multiple of 8", features);
    require(target.hasWgmma(), "%s has no wgmma, which project= takes", target.name());
    attention.precision().check(target);
    long count = (long) attention.heads() * config.splits();
    int sms = DeviceCatalogue.sms(target);
    require(
        count <= sms,
        "project=%d: %d blocks wait for each other, more than %d SMs; give fewer splits",
        features,
        count,
        sms);
    PrimFunc part =
        WarpgroupTiles.parts("attention_projected_" + attention.type().text(), attention, config);
    Kernel first = Lowering.lower(part, target);
    return new ProjectedAttention(
        attention, config, target, features, projected(first, attention, config, target, features));
  }

  /** Blocks of the launch. */
  public int blocks() {
    return attention.heads() * config.splits();
  }

  /** Rows of W that a block multiplies, in whole tiles of an instruction. */
  public int share() {
    return share(blocks(), features);
  }

  /** Bytes of device memory of the projection: W, X and Y. */
  public double bytes() {
    return bytes(attention, features);
  }

  /** The same of any. */
  public static double bytes(Attention attention, int features) {
    double inner = (double) attention.queryHeads() * attention.headSize();
    double rows = (double) attention.batch() * attention.tokens();
    return (inner + 2 * rows) * features * attention.type().bytes();
  }

  private static int share(int blocks, int features) {
    return Math.ceilDiv(Math.ceilDiv(features, blocks), TILE) * TILE;
  }

  private static void require(boolean holds, String what, Object... values) {
    if (!holds) {
      throw new UserError(String.format(Locale.ROOT, what, values));
    }
  }

  private static Kernel projected(
      Kernel part, Attention attention, AttentionConfig config, GpuTarget target, int features) {
    int rows = attention.batch() * attention.tokens();
    int inner = attention.queryHeads() * attention.headSize();
    int blocks = attention.heads() * config.splits();
    int share = share(blocks, features);
    int padded = Math.ceilDiv(rows, 8) * 8;
    int chunks = Math.ceilDiv(inner, CHUNK);
    int bytes = attention.type().bytes();
    int chunkBytes = share * CHUNK * bytes;
    int ringBytes = padded * CHUNK * bytes;
    int ring = Math.min(RING, chunks);
    int ofAttention = KernelResources.of(part).sharedBytes();
    int early =
        Math.clamp((target.sharedPerBlock() - ofAttention - OTHER_BYTES) / chunkBytes, 0, chunks);
    int behind = ring * ringBytes + PANELS * padded * share * 4;
    int late = Math.clamp((ofAttention - behind - OTHER_BYTES) / chunkBytes, 0, chunks - early);
    require(
        early > 0 && early + late >= ring,
        "project=%d: a share of %d rows of W does not fit beside the ring; give fewer stages",
        features,
        share);
    TextHoles holes = WarpgroupTiles.partHoles(attention, config);
    holes.put("BLOCKS", "part = $SPLITS, x = $ACROSS, y = $ALONG");
    holes.put("PARTS", AttentionTiles.PARTS);
    holes.put("THREADS", part.threadsPerBlock());
    holes.put("M", rows);
    holes.put("N", features);
    holes.put("KK", inner);
    holes.put("SH", share);
    holes.put("RP", padded);
    holes.put("E", early);
    holes.put("L", late);
    holes.put("LATE_PLACES", late == 0 ? "" : LATE_PLACES);
    holes.put("LATE_CHUNKS", late == 0 ? "" : LATE_CHUNKS);
    holes.put("MORE", ofPlace(MORE, late));
    holes.put("STEP", ofPlace(STEP, late));
    holes.put("SLOTS", early + late);
    holes.put("CHUNKS", chunks);
    holes.put("RING", ring);
    holes.put("WCHUNK", share * CHUNK);
    holes.put("WPANEL", share * PANEL);
    holes.put("PCHUNK", padded * CHUNK);
    holes.put("PPANEL", padded * PANEL);
    holes.put("WBYTES", chunkBytes);
    holes.put("PBYTES", ringBytes);
    holes.put("DONE", attention.heads());
    holes.put("COUNTERS", attention.heads() + 2);
    holes.put("COUNT_1", blocks - 1);
    holes.put("MT", share / TILE);
    holes.put("NT", padded / 8);
    holes.put("SUMS", share / TILE * (padded / 8) * 4);
    holes.put("OWN", Math.ceilDiv(share * padded, 128));
    holes.put("LOAD_P", padded == 8 ? EIGHT : SIXTEEN);
    holes.put("OF_P", padded == 8 ? "kk % 2 * 2" : "nt * 2");
    // Where an entry's token has its heads beside each other.
    int tokens = attention.tokens();
    String row = "attended[x / $HKV * " + tokens + " + r % " + tokens;
    String to = "(x % $HKV * " + attention.group() + " + r / " + tokens + ") * $D + j";
    holes.put(
        "COMBINE", LastPart.combining(holes, attention, config, part.threadsPerBlock(), row, to));
    BoundText all = BoundText.of(part, holes.filled(TEXT));
    boolean[] placed = {false};
    Stmt body =
        new Rewriter() {
          @Override
          public Stmt stmt(Stmt s) {
            if (!placed[0] && s.equals(Exprs.evaluate(Intrinsics.SYNC_THREADS))) {
              placed[0] = true;
              return part.body();
            }
            return super.stmt(s);
          }
        }.stmt(all.body());
    return new Kernel(
        part.name().replace("_part", ""),
        part.kind(),
        all.params(),
        part.bindings(),
        body,
        part.attrs().with("zero", LastPart.COUNTERS).with("cooperative", 1));
  }

  private static String ofPlace(String text, int late) {
    String early = text.replace("$SLOT", "We[s");
    return late == 0
        ? early
        : EITHER
            .replace("$OF_EARLY", early)
            .replace("$OF_LATE", text.replace("$SLOT", "Wl[s - $E"));
  }

  /** Parameters Q, K, V, W, X and Y. */
  public Program program() {
    List<ProgramParam> params = new ArrayList<>();
    List<Buffer> workspace = new ArrayList<>();
    List<Program.Argument> arguments = new ArrayList<>();
    for (Buffer buffer : kernel.buffers()) {
      Buffer own = Buffer.of(buffer.name(), buffer.dtype(), buffer.scope(), buffer.shape());
      if (WORKSPACE.contains(own.name())) {
        workspace.add(own);
      } else {
        params.add(
            new ProgramParam(
                switch (own.name()) {
                  case "Y" -> Program.Role.OUTPUT;
                  case "W" -> Program.Role.CONSTANT;
                  default -> Program.Role.INPUT;
                },
                own));
      }
      arguments.add(new Program.BufferArgument(own));
    }
    return new Program(
        kernel.name(), params, workspace, List.of(new Program.Launch(kernel, arguments)));
  }
}
