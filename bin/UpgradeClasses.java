import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassFile.ClassHierarchyResolverOption;
import java.lang.classfile.ClassFile.StackMapsOption;
import java.lang.classfile.ClassFileVersion;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * Rewrites the classes of a jar, in place, as class files of today's version.
 *
 * <p>An AOT cache takes no classes older than Java 7, because it cannot verify them ahead of time;
 * picocli is compiled for Java 5, and is most of what a command loads. The code stays the same: the
 * classes get a new version and the stack maps that it asks for.
 *
 * <p>Usage: {@code java UpgradeClasses.java FILE.jar}
 */
final class UpgradeClasses {
  public static void main(String[] args) throws IOException {
    Path jar = Path.of(args[0]);
    // Classes are looked up in a copy, as the jar changes underneath.
    Path copy = Files.createTempFile("upgrade", ".jar");
    try {
      Files.write(copy, Files.readAllBytes(jar));
      try (var loader = new URLClassLoader(new URL[] {copy.toUri().toURL()})) {
        upgrade(jar, loader);
      }
    } finally {
      Files.delete(copy);
    }
  }

  private static void upgrade(Path jar, ClassLoader loader) throws IOException {
    var format =
        ClassFile.of(
            StackMapsOption.GENERATE_STACK_MAPS,
            ClassHierarchyResolverOption.of(ClassHierarchyResolver.ofClassLoading(loader)));
    try (var files = FileSystems.newFileSystem(URI.create("jar:" + jar.toUri()), Map.of());
        var paths = Files.walk(files.getPath("/"))) {
      for (Path path : (Iterable<Path>) paths::iterator) {
        String name = path.toString();
        if (name.endsWith(".class") && !name.endsWith("module-info.class")) {
          Files.write(path, upgrade(format, Files.readAllBytes(path)));
        }
      }
    }
  }

  private static byte[] upgrade(ClassFile format, byte[] old) {
    return format.transformClass(
        format.parse(old),
        (builder, element) -> {
          switch (element) {
            case ClassFileVersion version ->
                builder.withVersion(ClassFile.latestMajorVersion(), 0);
            // Code is only rebuilt, with its stack maps, if it is transformed.
            case MethodModel method ->
                builder.transformMethod(
                    method, MethodTransform.transformingCode(CodeTransform.ACCEPT_ALL));
            default -> builder.with(element);
          }
        });
  }
}
