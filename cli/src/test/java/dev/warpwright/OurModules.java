package dev.warpwright;

import java.io.File;
import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.classfile.constantpool.Utf8Entry;
import java.lang.module.ModuleDescriptor;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The modules of Warpwright on the class path of these tests, and what their class files say. */
final class OurModules {
  static final String PREFIX = "dev.warpwright.";

  /** The name of a class of ours in a class file; the group is its package. */
  private static final Pattern TYPE =
      Pattern.compile("(?<![\\w/.])L?(dev/warpwright(?:/[a-z][a-z0-9]*)*)/[A-Z]\\w*");

  private OurModules() {}

  /** By their short name, each with all its class files, module-info too. */
  static Map<String, List<ClassModel>> read() throws IOException {
    Map<String, List<ClassModel>> modules = new TreeMap<>();
    for (Path path : places()) {
      if (Files.isDirectory(path)) {
        read(path, modules);
      } else {
        try (var jar = FileSystems.newFileSystem(path)) {
          read(jar.getPath("/"), modules);
        }
      }
    }
    return modules;
  }

  /** The folders and jars of the class path. */
  static List<Path> places() {
    return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
        .map(Path::of)
        .filter(Files::exists)
        .toList();
  }

  private static void read(Path folder, Map<String, List<ClassModel>> modules) throws IOException {
    Path info = folder.resolve("module-info.class");
    if (!Files.exists(info)) {
      return;
    }
    String name;
    try (var in = Files.newInputStream(info)) {
      name = ModuleDescriptor.read(in).name();
    }
    if (!name.startsWith(PREFIX)) {
      return;
    }
    var classes = new ArrayList<ClassModel>();
    try (var files = Files.walk(folder)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        if (file.toString().endsWith(".class")) {
          classes.add(ClassFile.of().parse(Files.readAllBytes(file)));
        }
      }
    }
    modules.put(name.substring(PREFIX.length()), classes);
  }

  /** The package of a class, both as class files write them. */
  static String packageOf(String type) {
    return type.substring(0, type.lastIndexOf('/'));
  }

  /** Our packages that a class file names, its own too: {@code dev/warpwright/ir}. */
  static Set<String> packagesIn(ClassModel file) {
    var found = new TreeSet<String>();
    for (PoolEntry entry : file.constantPool()) {
      // Descriptors and signatures name types as the names of classes do.
      if (entry instanceof Utf8Entry text) {
        TYPE.matcher(text.stringValue()).results().map(m -> m.group(1)).forEach(found::add);
      }
    }
    return found;
  }

  /** Whether it is a class, not the description of its module. */
  static boolean isClass(ClassModel file) {
    return !file.thisClass().asInternalName().equals("module-info");
  }
}
