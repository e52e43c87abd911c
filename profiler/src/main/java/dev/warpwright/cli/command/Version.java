package dev.warpwright.cli.command;

import dev.warpwright.base.json.Json;
import dev.warpwright.cli.output.Report;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Objects;
import java.util.Properties;

/**
 * What {@code warpwright version} tells.
 *
 * @param version Warpwright's version
 * @param java the version of the Java that runs it
 * @param platform operating system and processor
 */
public record Version(String version, String java, String platform) {
  public static Version current() {
    var properties = new Properties();
    try (var file = Version.class.getResourceAsStream("version.properties")) {
      properties.load(Objects.requireNonNull(file, "version.properties is not in the jar"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new Version(
        properties.getProperty("version"),
        System.getProperty("java.version"),
        System.getProperty("os.name") + " " + System.getProperty("os.arch"));
  }

  public Report report() {
    return new Report(
        true,
        "warpwright " + version + " (Java " + java + ", " + platform + ")",
        Json.object().with("version", version).with("java", java).with("platform", platform));
  }
}
