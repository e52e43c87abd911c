package dev.warpwright.cli.hostile;

import dev.warpwright.base.json.Json;
import dev.warpwright.base.json.JsonParser;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/** Models of all formats, mutated so that their containers stay whole, and graphs by chance. */
final class HostileModels implements Hostile {
  private static final long LONG_WORK = 20_000;

  @Override
  public List<String> prepare(Random random, Path folder) throws IOException {
    Path file;
    List<String> args = new ArrayList<>();
    switch (random.nextInt(10)) {
      case 0, 1, 2 -> {
        byte[] model = Samples.bytes(Samples.model(random, "onnx"));
        file = write(folder, "m.onnx", ProtoMutator.mutate(random, model));
      }
      case 3, 4, 5 -> file = write(folder, "m.onnx", OddGraphs.make(random));
      case 6 -> file = write(folder, "m.pt2", archive(random, Samples.model(random, "pt2")));
      case 7 -> {
        file = write(folder, "m.pth", archive(random, Samples.model(random, "pth")));
        args.add("--arch=" + arch(random));
      }
      case 8 -> {
        file = write(folder, "m.safetensors", safetensors(random));
        args.add("--arch=" + arch(random));
      }
      default -> {
        Path model = Samples.model(random, "safetensors");
        file = write(folder, "m.safetensors", Samples.bytes(model));
        String text = Files.readString(model.resolveSibling("arch.json"));
        String arch =
            random.nextInt(3) == 0
                ? TextMutator.mutate(random, text, false)
                : JsonMutator.mutate(random, JsonParser.parse("arch", text)).write();
        args.add("--arch=" + write(folder, "a.json", arch.getBytes(StandardCharsets.UTF_8)));
      }
    }
    if (random.nextInt(12) == 0) {
      byte[] bytes = Files.readAllBytes(file);
      Files.write(file, Arrays.copyOf(bytes, random.nextInt(bytes.length + 1)));
    }
    args.addAll(0, command(random, file, folder));
    return args;
  }

  private static List<String> command(Random random, Path file, Path folder) {
    List<String> args = new ArrayList<>();
    String gpu = Odd.of(random, List.of("sm_75", "sm_80", "sm_86", "sm_89", "sm_90a"));
    switch (random.nextInt(8)) {
      case 0, 1 -> args.addAll(List.of("run", file.toString(), "--target=cpu", "--time=0"));
      case 2 -> args.addAll(List.of("plan", file.toString(), "--target=cpu"));
      case 3, 4, 5 -> args.addAll(List.of("plan", file.toString(), "--target=" + gpu));
      case 6 -> args.addAll(List.of("run", file.toString(), "--target=sim", "--time=0"));
      default ->
          args.addAll(List.of("export", file.toString(), "--target=" + gpu, "-o", folder + "/out"));
    }
    long rows = random.nextInt(8) == 0 ? Odd.number(random) : 1 + random.nextInt(9);
    if (rows >= LONG_WORK && rows <= 1 << 30) {
      // Whoever asks for millions of rows may wait for them; only a plan has to be quick.
      args.clear();
      args.addAll(List.of("plan", file.toString(), "--target=" + gpu));
    }
    args.add("--batch=" + rows);
    if (random.nextInt(3) == 0) {
      args.add("--precision=" + Odd.of(random, List.of("f32", "f16", "bf16", "tf32")));
    }
    if (random.nextInt(10) == 0) {
      args.add("--json");
    }
    return args;
  }

  private static String arch(Random random) {
    List<String> known =
        List.of("mlp:64,64,64,64,64,10:gelu", "mlp:64,128,64,10:relu", "mlp:2,64,64,64,64,3:sin");
    String arch = Odd.of(random, known);
    return random.nextInt(3) == 0 ? TextMutator.mutate(random, arch, false) : arch;
  }

  private static byte[] safetensors(Random random) throws IOException {
    byte[] bytes = Samples.bytes(Samples.model(random, "safetensors"));
    int length = (int) ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong();
    String header = new String(bytes, 8, length, StandardCharsets.UTF_8);
    Json json = JsonMutator.mutate(random, JsonParser.parse("header", header));
    String text = random.nextInt(4) == 0 ? TextMutator.mutate(random, header, false) : json.write();
    byte[] mutated = text.getBytes(StandardCharsets.UTF_8);
    ByteBuffer out = ByteBuffer.allocate(bytes.length - length + mutated.length);
    out.order(ByteOrder.LITTLE_ENDIAN).putLong(mutated.length).put(mutated);
    return out.put(bytes, 8 + length, bytes.length - 8 - length).array();
  }

  /** A ZIP archive with one entry changed, left out or doubled, and right sums. */
  private static byte[] archive(Random random, Path file) throws IOException {
    List<String> names = new ArrayList<>();
    List<byte[]> contents = new ArrayList<>();
    try (ZipFile in = new ZipFile(file.toFile())) {
      for (ZipEntry e : Collections.list(in.entries())) {
        names.add(e.getName());
        contents.add(in.getInputStream(e).readAllBytes());
      }
    }
    int at = random.nextInt(names.size());
    for (int i = 0; i < names.size() && random.nextInt(3) > 0; i++) {
      at = names.get(at).endsWith(".pkl") || names.get(at).endsWith(".json") ? at : i;
    }
    byte[] content = contents.get(at);
    String name = names.get(at);
    switch (random.nextInt(8)) {
      case 0 -> {
        names.remove(at);
        contents.remove(at);
      }
      case 1 -> names.set(at, name.replaceFirst("[^/]*$", "other"));
      default -> contents.set(at, entry(random, name, content));
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
      zip.setMethod(ZipOutputStream.STORED);
      for (int i = 0; i < names.size(); i++) {
        ZipEntry entry = new ZipEntry(names.get(i));
        CRC32 crc = new CRC32();
        crc.update(contents.get(i));
        entry.setSize(contents.get(i).length);
        entry.setCrc(crc.getValue());
        zip.putNextEntry(entry);
        zip.write(contents.get(i));
      }
    }
    return bytes.toByteArray();
  }

  private static byte[] entry(Random random, String name, byte[] content) {
    if (name.endsWith(".json")) {
      Json json = JsonParser.parse(name, new String(content, StandardCharsets.UTF_8));
      return JsonMutator.mutate(random, json).write().getBytes(StandardCharsets.UTF_8);
    }
    byte[] bytes = content.clone();
    for (int i = random.nextInt(3); i >= 0 && bytes.length > 0; i--) {
      bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(128);
    }
    return random.nextInt(6) == 0 ? Arrays.copyOf(bytes, random.nextInt(bytes.length + 1)) : bytes;
  }

  private static Path write(Path folder, String name, byte[] bytes) throws IOException {
    return Files.write(folder.resolve(name), bytes);
  }
}
