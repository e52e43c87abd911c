package dev.warpwright.families.wgmma;

import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.families.ScheduledGemm;
import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.families.tuned.ShippedRecords;
import dev.warpwright.ir.Kernel;
import dev.warpwright.ir.text.IrPrinter;
import dev.warpwright.lower.flow.Lowering;
import dev.warpwright.lower.gpu.GpuLowering;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.tune.record.TuningDatabase;
import dev.warpwright.tune.record.TuningRecord;
import dev.warpwright.workload.GemmWorkload;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Old and new. */
final class LoweredRecordsTest {
  static final class Samples {
    public static void main(String[] args) throws Exception {
      Path out = Path.of(args[0]);
      int each = Integer.parseInt(args[1]);
      Files.createDirectories(out);
      Map<String, int[]> counts = new TreeMap<>();
      Map<String, List<String>> why = new TreeMap<>();
      java.util.SplittableRandom random = new java.util.SplittableRandom(5);
      dev.warpwright.workload.Epilogue all = new dev.warpwright.workload.Epilogue(0.5, 2, true, dev.warpwright.workload.Activation.GELU_TANH);
      List<GemmWorkload> ws = new ArrayList<>();
      for (String key : args[2].split(";")) {
        GemmWorkload w = GemmWorkload.of(dev.warpwright.workload.WorkloadKey.parse(key));
        ws.add(w);
      }
      int id = 0;
      for (GemmWorkload w : ws) {
        for (int i = 0; i < each * 20 && counts.getOrDefault(w.key().text(), new int[4])[0] < each; i++) {
          ScheduledGemm old;
          try {
            var drawn = GemmSpace.of(w, GpuTarget.SM_90A, 132).sample(random);
            if (drawn.candidate() == null || !drawn.point().text().contains("sketch=wgmma")) continue;
            old = GemmSpace.schedule(w, GpuTarget.SM_90A, 132, drawn.point());
            if (drawn.point().text().matches(".*division=(parts|stream).*") && args.length < 4) continue;
            int[] c = counts.computeIfAbsent(w.key().text(), k -> new int[4]);
            c[0]++;
            id++;
            Kernel oldKernel = GpuLowering.lower(old.tiles());
            String oldText = CudaPrinter.print(oldKernel, GpuTarget.SM_90A);
            try {
              Kernel kernel = Lowering.lower(old.tiles(), GpuTarget.SM_90A);
              String text = CudaPrinter.print(kernel, GpuTarget.SM_90A);
              if (text.equals(oldText)) c[1]++;
              else {
                c[2]++;
                why.computeIfAbsent(w.key().text(), k -> new ArrayList<>()).add(id + " differs " + drawn.point().text());
                Files.writeString(out.resolve("s" + id + ".tiles"), IrPrinter.text(old.tiles()));
                Files.writeString(out.resolve("s" + id + ".old.cu"), oldText);
                Files.writeString(out.resolve("s" + id + ".new.cu"), text);
              }
            } catch (RuntimeException e) {
              c[3]++;
              Files.writeString(out.resolve("s" + id + ".tiles"), IrPrinter.text(old.tiles()));
              why.computeIfAbsent(w.key().text(), k -> new ArrayList<>()).add(id + " " + e);
            }
          } catch (dev.warpwright.tune.space.Rejected | dev.warpwright.base.UserError e) {
            continue;
          }
        }
      }
      counts.forEach((k, c) -> System.out.printf("%-100s all %d equal %d differ %d refused %d%n", k, c[0], c[1], c[2], c[3]));
      why.forEach((k, l) -> System.out.println(k + ": " + l.stream().limit(3).toList()));
    }
  }

  public static void main(String[] args) throws Exception {
    Path out = Path.of(args[0]);
    int limit = args.length > 1 ? Integer.parseInt(args[1]) : Integer.MAX_VALUE;
    String only = args.length > 2 ? args[2] : "";
    Files.createDirectories(out);
    Map<String, int[]> counts = new TreeMap<>();
    Map<String, List<String>> why = new TreeMap<>();
    int number = 0;
    try (TuningDatabase database = TuningDatabase.inMemory()) {
      ShippedRecords.addTo(database);
      for (TuningRecord record : database.all()) {
        if (!record.point().text().contains("sketch=wgmma")) {
          continue;
        }
        GemmWorkload w = GemmWorkload.of(record.workload());
        int id = number++;
        if (id >= limit || !(record.point().text() + " " + record.workload().text()).matches(".*" + only + ".*")) {
          continue;
        }
        ScheduledGemm old = GemmSpace.schedule(w, GpuTarget.SM_90A, 132, record.point());
        String cls = record.point().text().replaceAll("(tileM|tileN|tileK|minBlocks|stages|sketch|store|swapped|consumers|resident)=\\S+ ?", "").replaceAll(":[0-9]+", "").replaceAll("cluster=([248]x[1248]|1x[248])","cluster=many").replaceAll("order=\\S+ ?", "").replace("division=whole","").trim();
        if (HopperLimits.operandsProblem(w) != null) cls = "copying " + cls;
        int[] c = counts.computeIfAbsent(cls, k -> new int[5]);
        c[0]++;
        Kernel oldKernel = GpuLowering.lower(old.tiles());
        String oldText = CudaPrinter.print(oldKernel, GpuTarget.SM_90A);
        if (dev.warpwright.cuda.SourceHash.of(oldText).equals(record.sourceHash())) {
          c[1]++;
        }
        try {
          Kernel kernel = Lowering.lower(old.tiles(), GpuTarget.SM_90A);
          String text = CudaPrinter.print(kernel, GpuTarget.SM_90A);
          if (text.equals(oldText)) {
            c[2]++;
          } else {
            c[3]++;
            why.computeIfAbsent(cls, k -> new ArrayList<>()).add(id + " differs");
            Files.writeString(out.resolve(id + ".tiles"), IrPrinter.text(old.tiles()));
            Files.writeString(out.resolve(id + ".old.kernel"), IrPrinter.text(oldKernel));
            Files.writeString(out.resolve(id + ".new.kernel"), IrPrinter.text(kernel));
            Files.writeString(out.resolve(id + ".old.cu"), oldText);
            Files.writeString(out.resolve(id + ".new.cu"), text);
          }
        } catch (RuntimeException e) {
          c[4]++;
          why.computeIfAbsent(cls, k -> new ArrayList<>()).add(id + " " + e);
          Files.writeString(out.resolve(id + ".tiles"), IrPrinter.text(old.tiles()));
          if (limit < Integer.MAX_VALUE || !only.isEmpty()) e.printStackTrace();
        }
      }
    }
    counts.forEach((k, c) -> System.out.printf("%-60s all %d recordhash %d equal %d differ %d refused %d%n", k, c[0], c[1], c[2], c[3], c[4]));
    why.forEach((k, l) -> System.out.println(k + ": " + l.stream().limit(6).toList()));
  }
}
