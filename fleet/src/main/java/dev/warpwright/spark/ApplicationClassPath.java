package dev.warpwright.spark;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** Where the classes of this process are, for processes that it starts. */
final class ApplicationClassPath {
  /** What executors lack that have Spark's jars only. */
  private static final Pattern OURS = Pattern.compile("(warpwright|picocli|sqlite-jdbc)-.*\\.jar");

  private ApplicationClassPath() {}

  /** The java command of this process. */
  static String java() {
    return Path.of(System.getProperty("java.home"), "bin", "java").toString();
  }

  /** The class path, with the jars that Spark has brought to an executor since it was started. */
  static String here() {
    Set<String> parts = new LinkedHashSet<>();
    for (ClassLoader loader = ApplicationClassPath.class.getClassLoader();
        loader != null;
        loader = loader.getParent()) {
      if (loader instanceof URLClassLoader urls) {
        for (URL url : urls.getURLs()) {
          if (url.getProtocol().equals("file")) {
            parts.add(Path.of(java.net.URI.create(url.toString())).toString());
          }
        }
      }
    }
    parts.addAll(parts());
    return String.join(File.pathSeparator, parts);
  }

  private static List<String> parts() {
    return List.of(System.getProperty("java.class.path").split(File.pathSeparator, -1));
  }

  /** The jars of this process that are not Spark's. */
  static List<String> ours() {
    return parts().stream()
        .filter(part -> OURS.matcher(Path.of(part).getFileName().toString()).matches())
        .toList();
  }
}
