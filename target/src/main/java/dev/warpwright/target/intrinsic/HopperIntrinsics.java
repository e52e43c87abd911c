package dev.warpwright.target.intrinsic;

import dev.warpwright.ir.Intrinsic.Access;
import dev.warpwright.ir.Intrinsic.Collective;
import dev.warpwright.ir.Intrinsic.Operand;
import dev.warpwright.ir.Op;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.type.DType;
import dev.warpwright.ir.type.Type;
import dev.warpwright.target.intrinsic.TargetIntrinsic.Drives;
import dev.warpwright.target.intrinsic.TargetIntrinsic.Unit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The intrinsics of sm_90a. Tensor maps and matrix descriptors are no operands: TMA copies and
 * products name elements of buffers, and {@link dev.warpwright.target.intrinsic.TensorMaps} and
 * {@link dev.warpwright.target.MatrixDescriptor} derive the rest from the buffers' layouts.
 */
public final class HopperIntrinsics {
  static final List<TargetIntrinsic> TABLE = new ArrayList<>();

  private static final Set<Scope> LOCAL = Set.of(Scope.LOCAL);
  private static final Set<Scope> SHARED = Set.of(Scope.SHARED);
  private static final Set<Scope> GLOBAL = Set.of(Scope.GLOBAL);
  private static final Operand BARRIER =
      new Operand("barrier", DType.MBARRIER, SHARED, Access.READ_WRITE, 1);

  /** {@code (barrier, arrivals)}: a fresh barrier, whose phases end after so many arrivals. */
  public static final TargetIntrinsic MBARRIER_INIT =
      add(
          "mbarrier.init",
          Collective.THREAD,
          Unit.MBARRIER,
          HopperWrappers.MBARRIER_INIT,
          BARRIER,
          i32("arrivals"));

  /** {@code (barrier)}: one arrival; releases the thread's earlier accesses to the block. */
  public static final TargetIntrinsic MBARRIER_ARRIVE =
      add(
          "mbarrier.arrive",
          Collective.THREAD,
          Unit.MBARRIER,
          HopperWrappers.MBARRIER_ARRIVE,
          BARRIER);

  /**
   * {@code (barrier, bytes)}: one arrival, and so many bytes that TMA copies will deliver in this
   * phase.
   */
  public static final TargetIntrinsic MBARRIER_ARRIVE_EXPECT_TX =
      add(
          "mbarrier.arrive.expect_tx",
          Collective.THREAD,
          Unit.MBARRIER,
          HopperWrappers.MBARRIER_ARRIVE_EXPECT_TX,
          BARRIER,
          i32("bytes"));

  /**
   * {@code (barrier, rank)}: one arrival at the barrier at this address in the block of that rank.
   * It says that copies and products which the thread has waited for are done; it publishes no
   * ordinary accesses to other blocks (release at cluster scope would cost a full memory barrier
   * each time).
   */
  public static final TargetIntrinsic MBARRIER_ARRIVE_CLUSTER =
      add(
          "mbarrier.arrive.cluster",
          Collective.THREAD,
          Unit.MBARRIER,
          HopperWrappers.MBARRIER_ARRIVE_CLUSTER,
          BARRIER,
          i32("rank"));

  /**
   * {@code (barrier, parity)}: waits for the end of the phase of that parity; acquires in the
   * block.
   */
  public static final TargetIntrinsic MBARRIER_WAIT =
      add(
          "mbarrier.wait",
          Collective.THREAD,
          Unit.MBARRIER,
          HopperWrappers.MBARRIER_WAIT,
          BARRIER,
          i32("parity"));

  /** Makes fresh barriers visible to the cluster and to TMA copies. */
  public static final TargetIntrinsic FENCE_MBARRIER_INIT =
      add(
          "fence.mbarrier_init",
          Collective.THREAD,
          Unit.MBARRIER,
          HopperWrappers.FENCE_MBARRIER_INIT);

  /** Orders the thread's writes to shared memory before later reads by TMA copies and products. */
  public static final TargetIntrinsic FENCE_PROXY_ASYNC =
      add("fence.proxy.async", Collective.THREAD, Unit.PROXY, HopperWrappers.FENCE_PROXY_ASYNC);

  /** Orders ordinary accesses to global memory against TMA copies of it. */
  public static final TargetIntrinsic FENCE_PROXY_ASYNC_GLOBAL =
      add(
          "fence.proxy.async.global",
          Collective.THREAD,
          Unit.PROXY,
          HopperWrappers.FENCE_PROXY_ASYNC_GLOBAL);

  /** The rank of the block in its cluster. */
  public static final TargetIntrinsic CLUSTER_RANK =
      value("cluster.rank", Type.I32, Unit.CLUSTER, HopperWrappers.CLUSTER_RANK);

  /** All threads of the cluster wait for each other. */
  public static final TargetIntrinsic CLUSTER_SYNC =
      add("cluster.sync", Collective.BLOCK, Unit.CLUSTER, HopperWrappers.CLUSTER_SYNC);

  /**
   * The same, but it orders no accesses to memory. Behind it the other blocks have started,
   * barriers that {@link #FENCE_MBARRIER_INIT} published are made, and what threads had waited for
   * is done. Arrivals and accesses elsewhere in the cluster may still be under way, so no block may
   * end behind it whose memory they reach. An ordinary barrier of a cluster is a full memory
   * barrier, too, which takes as long as the rest.
   */
  public static final TargetIntrinsic CLUSTER_SYNC_RELAXED =
      add(
          "cluster.sync.relaxed",
          Collective.BLOCK,
          Unit.CLUSTER,
          HopperWrappers.CLUSTER_SYNC_RELAXED);

  /**
   * As {@link #CLUSTER_SYNC} for the warps of the cluster, each of which may wait in the code of
   * its role; all do, equally often.
   */
  public static final TargetIntrinsic CLUSTER_MEET =
      add("cluster.meet", Collective.WARP, Unit.CLUSTER, HopperWrappers.CLUSTER_MEET);

  /**
   * {@code (address, rank)}: the value at this address in the block of that rank, which must have
   * started and must not end before.
   */
  public static final TargetIntrinsic CLUSTER_LOAD =
      value(
          "cluster.load.f32",
          Type.F32,
          Unit.CLUSTER,
          HopperWrappers.CLUSTER_LOAD_F32,
          new Operand("address", DType.F32, SHARED, Access.READ, 1),
          i32("rank"));

  /**
   * {@code (address, rank, value)}: writes the value there, see {@link #CLUSTER_LOAD}; a cluster
   * barrier lets the other block know.
   */
  public static final TargetIntrinsic CLUSTER_STORE =
      add(
          "cluster.store.f32",
          Collective.THREAD,
          Unit.CLUSTER,
          HopperWrappers.CLUSTER_STORE_F32,
          new Operand("address", DType.F32, SHARED, Access.WRITE, 1),
          i32("rank"),
          new Operand("value", DType.F32, Set.of(), Access.NONE, 1));

  /** {@code (id, threads)}: so many threads, whole warps, wait for each other; ids 1 to 15. */
  public static final TargetIntrinsic BAR_SYNC =
      add(
          "bar.sync",
          Collective.WARP,
          Unit.NAMED_BARRIER,
          HopperWrappers.NAMED_BARRIER,
          i32("id"),
          i32("threads"));

  /** {@code (n)}: the warpgroup takes registers until each thread has n. */
  public static final TargetIntrinsic SETMAXNREG_INC =
      add(
          "setmaxnreg.inc",
          Collective.WARPGROUP,
          Unit.REGISTER_FILE,
          HopperWrappers.SETMAXNREG_INC,
          i32("n"));

  /** {@code (n)}: the warpgroup gives registers back until each thread has n. */
  public static final TargetIntrinsic SETMAXNREG_DEC =
      add(
          "setmaxnreg.dec",
          Collective.WARPGROUP,
          Unit.REGISTER_FILE,
          HopperWrappers.SETMAXNREG_DEC,
          i32("n"));

  /**
   * {@code (dst, src, barrier, rows, cols)}: starts to copy the tile of {@code rows} × {@code cols}
   * (constants) at {@code src} of a matrix in global memory to {@code dst}; what lies outside the
   * matrix becomes zero. The whole tile's bytes count at the barrier.
   */
  public static final TargetIntrinsic BULK_LOAD =
      add(
          "bulk.load.2d",
          Collective.THREAD,
          Unit.BULK_COPY,
          HopperWrappers.BULK_LOAD,
          new Operand("dst", null, SHARED, Access.WRITE, 16),
          new Operand("src", null, GLOBAL, Access.NONE, 16),
          BARRIER,
          i32("rows"),
          i32("cols"));

  /**
   * As {@link #BULK_LOAD}, into every block of the cluster whose bit of {@code mask} is set, at the
   * same place.
   */
  public static final TargetIntrinsic BULK_LOAD_MULTICAST =
      add(
          "bulk.load.2d.multicast",
          Collective.THREAD,
          Unit.BULK_COPY,
          HopperWrappers.BULK_LOAD_MULTICAST,
          new Operand("dst", null, SHARED, Access.WRITE, 16),
          new Operand("src", null, GLOBAL, Access.NONE, 16),
          BARRIER,
          i32("rows"),
          i32("cols"),
          i32("mask"));

  /**
   * {@code (dst, src, rows, cols)}: starts to copy a tile to global memory; only what lies inside
   * the matrix is written.
   */
  public static final TargetIntrinsic BULK_STORE =
      add(
          "bulk.store.2d",
          Collective.THREAD,
          Unit.BULK_COPY,
          HopperWrappers.BULK_STORE,
          new Operand("dst", null, GLOBAL, Access.NONE, 16),
          new Operand("src", null, SHARED, Access.READ, 16),
          i32("rows"),
          i32("cols"));

  /** As {@link #BULK_LOAD}, from one of several matrices that lie one behind the other. */
  public static final TargetIntrinsic BULK_LOAD_3D =
      copy("bulk.load.3d", HopperWrappers.BULK_LOAD_3D, BULK_LOAD);

  /** As {@link #BULK_LOAD_MULTICAST}, from one of several matrices. */
  public static final TargetIntrinsic BULK_LOAD_3D_MULTICAST =
      copy("bulk.load.3d.multicast", HopperWrappers.BULK_LOAD_3D_MULTICAST, BULK_LOAD_MULTICAST);

  /** As {@link #BULK_STORE}, to one of several matrices. */
  public static final TargetIntrinsic BULK_STORE_3D =
      copy("bulk.store.3d", HopperWrappers.BULK_STORE_3D, BULK_STORE);

  /**
   * {@code (dst, src, barrier, rows, cols)}: starts to copy {@code rows} × {@code cols} (constants)
   * elements that follow each other in both memories, a tile that lies there in the same order; no
   * tensor map describes it. Its bytes count at the barrier.
   */
  public static final TargetIntrinsic BULK_LOAD_LINEAR =
      copy("bulk.load.linear", HopperWrappers.BULK_LOAD_LINEAR, BULK_LOAD);

  /**
   * {@return whether an intrinsic copies a tile to shared memory, which a tensor map describes}
   *
   * @param op of a call
   */
  public static boolean isTmaLoad(Op op) {
    return op == BULK_LOAD || op == BULK_LOAD_3D || isMulticast(op);
  }

  /**
   * {@return whether an intrinsic copies a tile to the shared memory of several blocks}
   *
   * @param op of a call
   */
  public static boolean isMulticast(Op op) {
    return op == BULK_LOAD_MULTICAST || op == BULK_LOAD_3D_MULTICAST;
  }

  /**
   * {@return whether an intrinsic copies a tile to global memory}
   *
   * @param op of a call
   */
  public static boolean isTmaStore(Op op) {
    return op == BULK_STORE || op == BULK_STORE_3D;
  }

  /** Closes the thread's group of bulk stores. */
  public static final TargetIntrinsic BULK_COMMIT =
      add("bulk.commit", Collective.THREAD, Unit.BULK_COPY, HopperWrappers.BULK_COMMIT);

  /** {@code (n)}: waits until at most n of the thread's groups have not yet read their source. */
  public static final TargetIntrinsic BULK_WAIT_READ =
      add(
          "bulk.wait.read",
          Collective.THREAD,
          Unit.BULK_COPY,
          HopperWrappers.BULK_WAIT_READ,
          i32("n"));

  /** {@code (n)}: waits until at most n of the thread's groups are not yet written. */
  public static final TargetIntrinsic BULK_WAIT =
      add("bulk.wait", Collective.THREAD, Unit.BULK_COPY, HopperWrappers.BULK_WAIT, i32("n"));

  /** Orders accesses to registers of D and A before the warpgroup's next products. */
  public static final TargetIntrinsic WGMMA_FENCE =
      add("wgmma.fence", Collective.WARPGROUP, Unit.WARPGROUP_MMA, HopperWrappers.WGMMA_FENCE);

  /** Closes the warpgroup's group of products. */
  public static final TargetIntrinsic WGMMA_COMMIT =
      add("wgmma.commit", Collective.WARPGROUP, Unit.WARPGROUP_MMA, HopperWrappers.WGMMA_COMMIT);

  /** {@code (n)}: waits until at most n of the warpgroup's groups are unfinished. */
  public static final TargetIntrinsic WGMMA_WAIT =
      add(
          "wgmma.wait",
          Collective.WARPGROUP,
          Unit.WARPGROUP_MMA,
          HopperWrappers.WGMMA_WAIT,
          i32("n"));

  /**
   * The thread waits until all launches before this one have ended, and sees what they wrote. A
   * kernel that calls it is launched such that it may begin before they have ended.
   */
  public static final TargetIntrinsic AWAIT_PREVIOUS =
      add(
          "griddepcontrol.wait",
          Collective.THREAD,
          Unit.LAUNCHES,
          HopperWrappers.GRIDDEPCONTROL_WAIT);

  /**
   * The next launch may begin as soon as all blocks have called this or ended. It lets nobody see
   * anything: that is the wait's part, which waits for the end of this launch.
   */
  public static final TargetIntrinsic SIGNAL_NEXT =
      add(
          "griddepcontrol.launch_dependents",
          Collective.THREAD,
          Unit.LAUNCHES,
          HopperWrappers.GRIDDEPCONTROL_LAUNCH_DEPENDENTS);

  private static final Map<TargetIntrinsic, WgmmaGemm> PRODUCTS = new HashMap<>();

  /** The most columns of products that take fewer than an instruction's rows. */
  public static final int FEW_ROWS_COLUMNS = 128;

  static {
    for (MatrixMeanings.Input input : MatrixMeanings.Input.values()) {
      if (input == MatrixMeanings.Input.S8) {
        for (int n = 8; n <= 256; n += n < 32 ? 8 : 16) {
          addProduct(new WgmmaGemm(n, DType.I32, input, false, false, false));
          addProduct(new WgmmaGemm(n, DType.I32, input, false, false, true));
        }
      } else {
        addProducts(DType.F32, input);
      }
    }
    addProducts(DType.F16, MatrixMeanings.Input.F16);
  }

  private static void addProducts(DType sums, MatrixMeanings.Input input) {
    for (int n = 8; n <= 256; n += 8) {
      addProduct(new WgmmaGemm(n, sums, input, false, false, false));
      addProduct(new WgmmaGemm(n, sums, input, false, false, true));
    }
    for (int n = 8; n <= FEW_ROWS_COLUMNS && sums == DType.F32 && input.bytes() == 2; n += 8) {
      for (int rows = 16; rows < WgmmaGemm.ROWS; rows += 16) {
        addProduct(new WgmmaGemm(rows, n, sums, input, false, false, false));
      }
    }
    // Only 16-bit operands may be stored along the product's rows or columns.
    for (int n = 8; n <= 256 && input.bytes() == 2; n += 8) {
      addProduct(new WgmmaGemm(n, sums, input, true, false, false));
      if (n % 16 == 0) {
        addProduct(new WgmmaGemm(n, sums, input, false, true, false));
        addProduct(new WgmmaGemm(n, sums, input, true, true, false));
        addProduct(new WgmmaGemm(n, sums, input, false, true, true));
      }
    }
  }

  private static void addProduct(WgmmaGemm product) {
    DType type = product.input().dtype();
    PRODUCTS.put(
        add(
            product.text(),
            Collective.WARPGROUP,
            Unit.WARPGROUP_MMA,
            "",
            new Operand("d", product.accumulators(), LOCAL, Access.READ_WRITE, product.elements()),
            product.fromRegisters()
                ? new Operand("a", DType.U32, LOCAL, Access.READ, WgmmaGemm.A_REGISTERS)
                : new Operand("a", type, SHARED, Access.READ, 16),
            new Operand("b", type, SHARED, Access.READ, 16),
            i32("scale_d")),
        product);
  }

  private HopperIntrinsics() {}

  /**
   * {@return what a product {@code wgmma.m64nNkK…(d[n/2], a, b, scale_d)} computes; null for any
   * other intrinsic} D (64 × n) = A · Bᵀ + D, or without D where {@code scale_d} is 0; A (64 × K)
   * and B (n × K) begin at the elements given, where K elements are 32 bytes. The name contains
   * {@code .ta} where A is stored as K × 64, {@code .ra} where A is four 32-bit registers of each
   * thread, and {@code .tb} where B is stored as K × n.
   *
   * @param intrinsic of any kind
   */
  public static @Nullable WgmmaGemm wgmma(TargetIntrinsic intrinsic) {
    return PRODUCTS.get(intrinsic);
  }

  private static TargetIntrinsic add(
      String text, Collective collective, Unit unit, String cuda, Operand... operands) {
    return add(text, collective, null, unit, cuda, operands);
  }

  private static TargetIntrinsic value(
      String text, Type result, Unit unit, String cuda, Operand... operands) {
    return add(text, Collective.THREAD, result, unit, cuda, operands);
  }

  private static TargetIntrinsic add(
      String text,
      Collective collective,
      @Nullable Type result,
      Unit unit,
      String cuda,
      Operand... operands) {
    boolean anyArch = unit == Unit.NAMED_BARRIER;
    // PTX ISA, griddepcontrol: sm_90 and newer, also without the suffix 'a'.
    boolean suffix = !anyArch && unit != Unit.LAUNCHES;
    TargetIntrinsic intrinsic =
        new TargetIntrinsic(
            text,
            collective,
            List.of(operands),
            result,
            new Drives(unit),
            anyArch ? 75 : 90,
            suffix,
            cuda,
            "PTX ISA, " + text);
    TABLE.add(intrinsic);
    return intrinsic;
  }

  /** A copy with the operands of another one. */
  private static TargetIntrinsic copy(String text, String cuda, TargetIntrinsic alike) {
    Operand[] operands = alike.operands().toArray(Operand[]::new);
    return add(text, Collective.THREAD, Unit.BULK_COPY, cuda, operands);
  }

  private static Operand i32(String name) {
    return new Operand(name, DType.I32, Set.of(), Access.NONE, 1);
  }
}
