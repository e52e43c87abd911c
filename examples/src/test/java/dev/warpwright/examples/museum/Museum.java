package dev.warpwright.examples.museum;

import static dev.warpwright.sim.api.Finding.Kind.BARRIER;
import static dev.warpwright.sim.api.Finding.Kind.DEADLOCK;
import static dev.warpwright.sim.api.Finding.Kind.RACE;
import static dev.warpwright.sim.api.Finding.Kind.UNINITIALISED;

import java.util.List;
import java.util.Set;

/**
 * Races and hangs of other projects, as they were reported, in as few lines as show them. The
 * programs are ours: what they have in common with the reports is the mistake.
 */
public final class Museum {
  private Museum() {}

  /**
   * A tile that all threads stage and two groups of warps read, step after step. The barrier that
   * keeps the next step from overwriting it is missing: one group may still read.
   */
  static final Exhibit LOOP_BACK =
      new Exhibit(
          "no barrier before the next step stages its tile",
          "tile-ai/tilelang#2613",
          """
          kernel staged(A: f32[4, 64], y: f32[64]) grid(bx = 1) block(tid = 64) {
            alloc tile: f32[64] shared
            alloc sum: f32[1] local
            sum[0] = 0.0f32
            for k in 4 {
              tile[tid] = A[k, tid]
              sync_threads()
              if tid < 32 {
                sum[0] = sum[0] + tile[63 - tid]
              } else {
                sum[0] = fma(tile[63 - tid], 2.0f32, sum[0])
              }
              sync_threads()
            }
            y[tid] = sum[0]
          }
          """,
          "  }\n    sync_threads()\n",
          "  }\n",
          Set.of(RACE));

  /**
   * Threads of two warps, the second of which takes part with half of its lanes, hand on what they
   * wrote. The barrier was dropped because their number is no multiple of 32.
   */
  static final Exhibit PART_OF_A_WARP =
      new Exhibit(
          "no barrier because part of a warp has nothing to do",
          "tile-ai/tilelang#2556",
          """
          kernel tail(x: f32[48], y: f32[48]) grid(bx = 1) block(tid = 64) {
            alloc s: f32[48] shared
            if tid < 48 {
              s[tid] = x[tid]
            }
            sync_threads()
            if tid < 48 {
              y[tid] = s[47 - tid]
            }
          }
          """,
          "  sync_threads()\n",
          "",
          Set.of(RACE, UNINITIALISED));

  /**
   * Each copy has a barrier object of its own, whose first phase it completes. To wait for the
   * parity of the loop is right if one object serves all of them; here it lets every other wait
   * pass at once.
   */
  static final Exhibit PARITY_OF_THE_LOOP =
      new Exhibit(
          "parity of the loop, not of the barrier object",
          "tile-ai/tilelang#2927",
          """
          kernel gather(X: f32[32, 8], y: f32[4, 64]) grid(bx = 1) block(tid = 64)
              [arch = "sm_90a"] {
            alloc tiles: f32[4, 8, 8] shared layout (4:64),(8:8),(8:1) align 128
            alloc full: mbarrier[4] shared
            if tid == 0 {
              for s in 4 {
                mbarrier.init(&full[s], 1)
              }
              fence.mbarrier_init()
            }
            sync_threads()
            for s in 4 {
              if tid == 0 {
                mbarrier.arrive.expect_tx(&full[s], 256)
                bulk.load.2d(&tiles[s, 0, 0], &X[s * 8, 0], &full[s], 8, 8)
              }
              mbarrier.wait(&full[s], 0)
              y[s, tid] = tiles[s, tid / 8, tid % 8]
            }
          }
          """,
          "mbarrier.wait(&full[s], 0)",
          "mbarrier.wait(&full[s], s % 2)",
          Set.of(RACE, UNINITIALISED));

  /**
   * The second of two launches begins before the first has ended, and reads what that one writes.
   * The reported kernels never wait for it; ours, which would begin later then, waits too late.
   */
  static final Exhibit READS_BEFORE_IT_WAITS =
      new Exhibit(
          "reads before it waits for the launch before",
          "NVIDIA/cutlass#2760",
          """
          program pair {
            input x: f32[128]
            output y: f32[128]
            workspace h: f32[128]

            kernel first(x: f32[128], h: f32[128]) grid(bx = 2) block(tid = 64) {
              griddepcontrol.launch_dependents()
              griddepcontrol.wait()
              h[bx * 64 + tid] = x[bx * 64 + tid] * 2.0f32
            }

            kernel second(h: f32[128], y: f32[128]) grid(bx = 2) block(tid = 64) {
              griddepcontrol.launch_dependents()
              griddepcontrol.wait()
              y[bx * 64 + tid] = h[bx * 64 + tid] + 1.0f32
            }

            launch first(x, h)
            launch second(h, y)
          }
          """,
          "    griddepcontrol.wait()\n    y[bx * 64 + tid] = h[bx * 64 + tid] + 1.0f32\n",
          "    y[bx * 64 + tid] = h[bx * 64 + tid] + 1.0f32\n    griddepcontrol.wait()\n",
          Set.of(RACE));

  /**
   * A sum over all blocks: each leaves its part, one adds them up. The first block does not know
   * that the others have written theirs; the one that comes last, by a counter, does.
   */
  static final Exhibit SUM_BY_THE_FIRST_BLOCK =
      new Exhibit(
          "sum over blocks by the first block",
          "beehive-lab/GPULlama3.java#132",
          """
          kernel squares(x: f32[256], parts: f32[4], counters: u32[1], y: f32[1])
              grid(bx = 4) block(tid = 32) {
            if tid == 0 {
              alloc sum: f32[1] local
              sum[0] = 0.0f32
              for i in 64 {
                sum[0] = fma(x[bx * 64 + i], x[bx * 64 + i], sum[0])
              }
              parts[bx] = sum[0]
              let before: u32 = atomic.add.acq_rel.u32(&counters[0], 1u32)
              if before == 3u32 {
                sum[0] = 0.0f32
                for b in 4 {
                  sum[0] = sum[0] + parts[b]
                }
                y[0] = sum[0]
              }
            }
          }
          """,
          "let before: u32 = atomic.add.acq_rel.u32(&counters[0], 1u32)\n    if before == 3u32 {",
          "if bx == 0 {",
          Set.of(RACE, UNINITIALISED));

  /**
   * Blocks that hand on work wait for blocks which there is no room for yet: those begin when these
   * end. Who draws a ticket and waits for earlier ones only finds them running or done, in whatever
   * order blocks begin.
   */
  static final Exhibit WAITS_FOR_WHO_HAS_NO_ROOM =
      new Exhibit(
          "waits for a block that cannot begin",
          "mirage-project/mirage#761",
          """
          kernel handed(x: f32[6], counters: u32[7], y: f32[6]) grid(bx = 6) block(tid = 32) {
            if tid == 0 {
              let item: i32 = i32(atomic.add.acq_rel.u32(&counters[6], 1u32))
              let other: i32 = max(item - 1, 0)
              if other != item {
                while load.acquire.u32(&counters[other]) == 0u32 {
                }
              }
              y[item] = x[item] + x[other]
              red.add.release.u32(&counters[item], 1u32)
            }
          }
          """,
          "max(item - 1, 0)",
          "min(item + 1, 5)",
          Set.of(DEADLOCK));

  /**
   * Two consumers that take turns add a tile that a third warp loads, through one slot. One that
   * does not give it back lets the loads wait for ever, and the other consumer with them.
   */
  static final Exhibit SLOT_NOT_GIVEN_BACK =
      new Exhibit(
          "consumers in turns, one of which keeps the slot",
          "NVIDIA/cutlass#2121",
          """
          kernel turns(C: f32[32, 8], y: f32[4, 64]) grid(bx = 1) block(tid = 160)
              [arch = "sm_90a"] {
            alloc slot: f32[8, 8] shared layout (8:8),(8:1) align 128
            alloc full: mbarrier[1] shared
            alloc empty: mbarrier[1] shared
            if tid == 0 {
              mbarrier.init(&full[0], 1)
              mbarrier.init(&empty[0], 64)
              fence.mbarrier_init()
            }
            sync_threads()
            if tid >= 128 {
              if tid == 128 {
                for t in 4 {
                  mbarrier.wait(&empty[0], (t + 1) % 2)
                  mbarrier.arrive.expect_tx(&full[0], 256)
                  bulk.load.2d(&slot[0, 0], &C[t * 8, 0], &full[0], 8, 8)
                }
              }
            } else {
              for t in 4 {
                mbarrier.wait(&full[0], t % 2)
                if tid / 64 == t % 2 {
                  y[t, tid % 64] = slot[tid % 64 / 8, tid % 8] + 1.0f32
                  mbarrier.arrive(&empty[0])
                }
              }
            }
          }
          """,
          "        mbarrier.arrive(&empty[0])\n",
          "        if tid < 64 {\n          mbarrier.arrive(&empty[0])\n        }\n",
          Set.of(DEADLOCK));

  /**
   * A loop of one step, whose tile comes by a TMA copy and whose scale a thread writes. The barrier
   * object counts the bytes and both threads; one of the two expects its bytes only, and never
   * arrives.
   */
  static final Exhibit BYTES_WITHOUT_AN_ARRIVAL =
      new Exhibit(
          "bytes are expected, but nobody arrives for them",
          "tile-ai/tilelang#2566",
          """
          kernel once(X: f32[8, 8], s: f32[1], y: f32[64]) grid(bx = 1) block(tid = 96)
              [arch = "sm_90a"] {
            alloc tile: f32[8, 8] shared layout (8:8),(8:1) align 128
            alloc scale: f32[1] shared
            alloc full: mbarrier[1] shared
            if tid == 0 {
              mbarrier.init(&full[0], 2)
              fence.mbarrier_init()
            }
            sync_threads()
            if tid >= 64 {
              if tid == 64 {
                mbarrier.arrive.expect_tx(&full[0], 256)
                bulk.load.2d(&tile[0, 0], &X[0, 0], &full[0], 8, 8)
                scale[0] = s[0]
                mbarrier.arrive(&full[0])
              }
            } else {
              mbarrier.wait(&full[0], 0)
              y[tid] = tile[tid / 8, tid % 8] * scale[0]
            }
          }
          """,
          "      mbarrier.arrive(&full[0])\n",
          "",
          Set.of(DEADLOCK));

  /**
   * A slot that is filled again once it has been read. The first fill has nobody to wait for; if it
   * waits all the same, for a reader that comes behind it, both wait for each other.
   */
  static final Exhibit FIRST_FILL_WAITS =
      new Exhibit(
          "the first fill waits for who reads it",
          "tile-ai/tilelang#2567",
          """
          kernel slices(Q: f32[32, 8], l: f32[4], y: f32[4, 64]) grid(bx = 1) block(tid = 96)
              [arch = "sm_90a"] {
            alloc slot: f32[8, 8] shared layout (8:8),(8:1) align 128
            alloc row: f32[1] shared
            alloc full: mbarrier[1] shared
            alloc empty: mbarrier[1] shared
            if tid == 0 {
              mbarrier.init(&full[0], 1)
              mbarrier.init(&empty[0], 64)
              fence.mbarrier_init()
            }
            sync_threads()
            if tid >= 64 {
              if tid == 64 {
                for t in 4 {
                  mbarrier.wait(&empty[0], (t + 1) % 2)
                  mbarrier.arrive.expect_tx(&full[0], 256)
                  bulk.load.2d(&slot[0, 0], &Q[t * 8, 0], &full[0], 8, 8)
                }
              }
            } else {
              for t in 4 {
                mbarrier.wait(&full[0], t % 2)
                if tid == 0 {
                  row[0] = l[t]
                }
                bar.sync(1, 64)
                y[t, tid] = slot[tid / 8, tid % 8] - row[0]
                bar.sync(1, 64)
                mbarrier.arrive(&empty[0])
              }
            }
          }
          """,
          "mbarrier.wait(&empty[0], (t + 1) % 2)",
          "mbarrier.wait(&empty[0], t % 2)",
          Set.of(DEADLOCK));

  /**
   * One block deals work out to others that wait for it, and comes last: on a GPU with fewer SMs
   * than blocks it does not begin before one of those ends.
   */
  static final Exhibit SCHEDULER_COMES_LAST =
      new Exhibit(
          "workers wait for a scheduler that has no room",
          "mirage-project/mirage#357",
          """
          kernel dealt(x: f32[3], tasks: i32[3], counters: u32[2], y: f32[3])
              grid(bx = 4) block(tid = 32) {
            if tid == 0 {
              let ticket: i32 = i32(atomic.add.acq_rel.u32(&counters[0], 1u32))
              if ticket == 0 {
                for i in 3 {
                  tasks[i] = 2 - i
                }
                red.add.release.u32(&counters[1], 1u32)
              } else {
                while load.acquire.u32(&counters[1]) == 0u32 {
                }
                let task: i32 = tasks[ticket - 1]
                y[task] = x[task] + 1.0f32
              }
            }
          }
          """,
          "if ticket == 0 {",
          "if ticket == 3 {",
          Set.of(DEADLOCK));

  /**
   * One block of a cluster has a value, the others read it from its shared memory, and all leave.
   * Nothing keeps that block until the others have read: its memory may be gone.
   */
  static final Exhibit READ_FROM_WHO_HAS_LEFT =
      new Exhibit(
          "reads from a block of the cluster that may have ended",
          "triton-lang/triton#11730",
          """
          kernel old(counters: u32[1], y: f32[256]) grid(bx = 4) block(tid = 64)
              [arch = "sm_90a", cluster = 4] {
            alloc before: f32[1] shared
            let rank: i32 = cluster.rank()
            if rank == 0 && tid == 0 {
              before[0] = f32(atomic.add.acq_rel.u32(&counters[0], 1u32))
            }
            cluster.sync()
            y[bx * 64 + tid] = cluster.load.f32(&before[0], 0)
            cluster.sync()
          }
          """,
          "0)\n  cluster.sync()\n",
          "0)\n",
          Set.of(BARRIER));

  /**
   * Blocks of a cluster fill a tile for both of them, and say to each other when they have read it.
   * Nobody waits for the last of these arrivals, and no barrier stands at the end: who is arrived
   * at may have left.
   */
  static final Exhibit ARRIVAL_AT_WHO_HAS_LEFT =
      new Exhibit(
          "arrives at a block of the cluster that may have ended",
          "facebookexperimental/triton#1105",
          """
          kernel shared_tiles(X: f32[32, 8], y: f32[2, 4, 64]) grid(bx = 2) block(tid = 96)
              [arch = "sm_90a", cluster = 2] {
            alloc tile: f32[8, 8] shared layout (8:8),(8:1) align 128
            alloc full: mbarrier[1] shared
            alloc empty: mbarrier[1] shared
            let rank: i32 = cluster.rank()
            if tid == 0 {
              mbarrier.init(&full[0], 1)
              mbarrier.init(&empty[0], 4)
              fence.mbarrier_init()
            }
            cluster.sync.relaxed()
            if tid >= 64 {
              if tid == 64 {
                for t in 4 {
                  mbarrier.wait(&empty[0], (t + 1) % 2)
                  mbarrier.arrive.expect_tx(&full[0], 256)
                  bulk.load.2d.multicast(&tile[rank * 4, 0], &X[t * 8 + rank * 4, 0], &full[0], 4, 8, 3)
                }
              }
            } else {
              for t in 4 {
                mbarrier.wait(&full[0], t % 2)
                y[bx, t, tid] = tile[tid / 8, tid % 8]
                bar.sync(1 + tid / 32, 32)
                if tid % 32 < 2 {
                  mbarrier.arrive.cluster(&empty[0], tid % 32)
                }
              }
            }
            cluster.sync()
          }
          """,
          "  cluster.sync()\n",
          "",
          Set.of(BARRIER));

  /** All of them. */
  public static final List<Exhibit> EXHIBITS =
      List.of(
          LOOP_BACK,
          PART_OF_A_WARP,
          PARITY_OF_THE_LOOP,
          READS_BEFORE_IT_WAITS,
          SUM_BY_THE_FIRST_BLOCK,
          WAITS_FOR_WHO_HAS_NO_ROOM,
          SLOT_NOT_GIVEN_BACK,
          BYTES_WITHOUT_AN_ARRIVAL,
          FIRST_FILL_WAITS,
          SCHEDULER_COMES_LAST,
          READ_FROM_WHO_HAS_LEFT,
          ARRIVAL_AT_WHO_HAS_LEFT);
}
