package dev.warpwright.target;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The numbers of the performance models that were fitted to measurements on a device. A file a
 * device, in which each model has a section; a device that nothing was measured on has a file that
 * names the one it is extrapolated from and what differs, or none.
 *
 * <p>{@code warpwright db fit} writes such a file from a tuning database.
 */
public final class Calibration {
  private static final String FOLDER = "calibration/";

  /** The devices that were measured first, for each target the one it goes by; others last. */
  private static final List<String> FILES =
      List.of("h200-sxm.calibration", "a100-sxm.calibration", "others.calibration");

  private static final List<Calibration> ALL = read();

  /**
   * The numbers of one model.
   *
   * @param <E> names them
   */
  public static final class Numbers<E extends Enum<E>> {
    private final double[] values;

    private Numbers(double[] values) {
      this.values = values;
    }

    /**
     * {@return the value of a number, in the unit that its constant says}
     *
     * @param number of the model
     */
    public double at(E number) {
      return values[number.ordinal()];
    }
  }

  private final String device;
  private final String target;
  private final @Nullable String from;
  private final Map<String, Map<String, Double>> sections;

  private Calibration(
      String device,
      String target,
      @Nullable String from,
      Map<String, Map<String, Double>> sections) {
    this.device = device;
    this.target = target;
    this.from = from;
    this.sections = sections;
  }

  /**
   * {@return the numbers for the usual device of a target}
   *
   * @param target one that has code
   */
  public static Calibration of(GpuTarget target) {
    return ALL.stream()
        .filter(each -> each.target.equals(target.name()))
        .findFirst()
        .orElseGet(ALL::getLast);
  }

  /**
   * {@return the numbers for a device; those of its target if it has none}
   *
   * @param device measured or not
   */
  public static Calibration of(DeviceModel device) {
    return ALL.stream()
        .filter(each -> each.device.equals(device.name()))
        .findFirst()
        .orElseGet(() -> of(device.target()));
  }

  /**
   * {@return whether what is predicted for a device goes by measurements on another one}
   *
   * @param device of the catalogue
   */
  public static boolean isExtrapolated(DeviceModel device) {
    Calibration calibration = of(device);
    return calibration.from != null
        || !calibration.device.equals(device.name())
        || !DeviceCatalogue.ALL.contains(device);
  }

  /** {@return the device that it is for} */
  public String device() {
    return device;
  }

  /**
   * {@return a model's numbers}
   *
   * @param <E> names the numbers
   * @param model the name of its section
   * @param names of all of them; constants' names in lower case are those in the file
   * @throws IllegalStateException if the file has not exactly those that the model has
   */
  public <E extends Enum<E>> Numbers<E> numbers(String model, Class<E> names) {
    Map<String, Double> section = sections.getOrDefault(model, Map.of());
    E[] constants = names.getEnumConstants();
    double[] values = new double[constants.length];
    for (E name : constants) {
      Double value = section.get(name.name());
      if (value == null) {
        throw new IllegalStateException(
            "calibration of " + device + ": [" + model + "] has no " + name);
      }
      values[name.ordinal()] = value;
    }
    if (section.size() != values.length) {
      throw new IllegalStateException(
          "calibration of " + device + ": [" + model + "] has more than " + List.of(constants));
    }
    return new Numbers<>(values);
  }

  /**
   * {@return the names of a model's numbers}
   *
   * @param model the name of its section; there may be none
   */
  public List<String> names(String model) {
    return List.copyOf(sections.getOrDefault(model, Map.of()).keySet());
  }

  /**
   * {@return a model's number}
   *
   * @param model the name of its section
   * @param name one of {@link #names}
   */
  public double number(String model, String name) {
    return Objects.requireNonNull(sections.getOrDefault(model, Map.of()).get(name), name);
  }

  /**
   * {@return the same with another value of one number; this one stays as it is}
   *
   * @param model the name of its section
   * @param name one of {@link #names}
   * @param value the new one
   */
  public Calibration with(String model, String name, double value) {
    var changed = new LinkedHashMap<>(sections);
    var section = new LinkedHashMap<>(changed.getOrDefault(model, Map.of()));
    section.put(name, value);
    changed.put(model, section);
    return new Calibration(device, target, from, changed);
  }

  /**
   * {@return the same numbers as those of another device, as measured there}
   *
   * @param other the device that they were fitted on
   */
  public Calibration fitted(DeviceModel other) {
    return new Calibration(other.name(), other.target().name(), null, sections);
  }

  /** {@return the file that says the same} */
  public String text() {
    var lines = new ArrayList<String>();
    lines.add("device = " + device);
    lines.add("target = " + target);
    if (from != null) {
      lines.add("extrapolated from = " + from);
    }
    sections.forEach(
        (model, numbers) -> {
          lines.add("");
          lines.add("[" + model + "]");
          numbers.forEach((name, value) -> lines.add(name + " = " + value));
        });
    return String.join("\n", lines) + "\n";
  }

  private static List<Calibration> read() {
    var read = new ArrayList<Calibration>();
    for (String file : FILES) {
      try (InputStream in =
          Objects.requireNonNull(Calibration.class.getResourceAsStream(FOLDER + file), file)) {
        read.add(parse(file, new String(in.readAllBytes(), StandardCharsets.UTF_8), read));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return List.copyOf(read);
  }

  /**
   * Reads a calibration.
   *
   * @param others that it may be extrapolated from
   * @throws IllegalStateException if it is none
   */
  static Calibration parse(String file, String text, List<Calibration> others) {
    Map<String, String> header = new TreeMap<>();
    Map<String, Map<String, Double>> sections = new LinkedHashMap<>();
    String section = null;
    for (String line : text.lines().map(String::strip).toList()) {
      if (line.isEmpty() || line.startsWith("#")) {
        continue;
      }
      if (line.startsWith("[") && line.endsWith("]")) {
        section = line.substring(1, line.length() - 1);
        continue;
      }
      int equals = line.indexOf('=');
      if (equals < 0) {
        throw new IllegalStateException(file + ": neither a section nor a number: " + line);
      }
      String name = line.substring(0, equals).strip();
      String value = line.substring(equals + 1).strip();
      if (section == null) {
        header.put(name, value);
      } else {
        sections
            .computeIfAbsent(section, s -> new LinkedHashMap<>())
            .put(name, Double.parseDouble(value));
      }
    }
    String from = header.get("extrapolated from");
    if (from != null) {
      Calibration base =
          others.stream()
              .filter(each -> each.device.equals(from))
              .findFirst()
              .orElseThrow(() -> new IllegalStateException(file + ": no device " + from));
      base.sections.forEach(
          (model, numbers) -> {
            Map<String, Double> all = new LinkedHashMap<>(numbers);
            all.putAll(sections.getOrDefault(model, Map.of()));
            sections.put(model, all);
          });
    }
    return new Calibration(
        Objects.requireNonNull(header.get("device"), file),
        Objects.requireNonNull(header.get("target"), file),
        from,
        sections);
  }
}
