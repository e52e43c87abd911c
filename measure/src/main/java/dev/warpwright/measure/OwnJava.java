package dev.warpwright.measure;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Child processes that run our classes: with the Java of this process, quietly. */
public final class OwnJava {
  private OwnJava() {}

  /**
   * {@return the command that starts a main class among the classes of this process}
   *
   * @param main the class's binary name
   */
  public static List<String> command(String main) {
    return command(List.of(), System.getProperty("java.class.path"), main, List.of());
  }

  /**
   * {@return the command that starts a main class}
   *
   * @param options of the virtual machine, beside those that our modules need
   * @param classPath where the class and all that it uses lie
   * @param main the class's binary name
   * @param arguments of the class
   */
  public static List<String> command(
      List<String> options, String classPath, String main, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.addAll(
        List.of(
            "-Xlog:disable",
            "-XX:-UsePerfData",
            "--add-modules=jdk.incubator.vector",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            classPath,
            main));
    command.addAll(arguments);
    return command;
  }
}
