package dev.warpwright;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassModel;
import java.lang.classfile.FieldModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.attribute.ModuleExportInfo;
import java.lang.reflect.AccessFlag;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * What other people's modules see is what {@code docs/architecture.md} lists; all else is exported
 * to those of our modules that use it, if any do.
 */
final class ExportsTest {
  /** A row of the page's table of packages for users: package and module. */
  private static final Pattern ROW = Pattern.compile("\\| `([a-z.]+)` \\| `([a-z]+)` \\| .+ \\|");

  /**
   * Types in signatures of packages for users whose own packages are for our modules only. What has
   * them is called by our modules only, or passes on what an application does not look into.
   */
  private static final Set<String> PASSED_ON =
      Set.of(
          "dev/warpwright/compiler/execute/ConstantStore",
          "dev/warpwright/compiler/execute/Executable",
          "dev/warpwright/compiler/program/CompiledProgram",
          "dev/warpwright/families/tuned/GemmKernels",
          "dev/warpwright/model/weights/Weights");

  private static final Pattern NAME = Pattern.compile("L(dev/warpwright/[\\w/$]+)");

  private static Map<String, List<ClassModel>> modules;

  /** The module of each package of ours, both as class files write them. */
  private static final Map<String, String> OWNERS = new TreeMap<>();

  private static final Map<String, ClassModel> CLASSES = new HashMap<>();

  @BeforeAll
  static void readModules() throws IOException {
    modules = OurModules.read();
    modules.forEach(
        (module, files) ->
            files.stream()
                .filter(OurModules::isClass)
                .forEach(
                    file -> {
                      String name = file.thisClass().asInternalName();
                      CLASSES.put(name, file);
                      OWNERS.put(OurModules.packageOf(name), module);
                    }));
  }

  private static String shortName(String packageName) {
    return packageName.substring(OurModules.PREFIX.length()).replace('/', '.');
  }

  private static List<ModuleExportInfo> exports(List<ClassModel> module) {
    return module.stream()
        .flatMap(file -> file.findAttribute(Attributes.module()).stream())
        .flatMap(info -> info.exports().stream())
        .toList();
  }

  private static String name(ModuleExportInfo export) {
    return export.exportedPackage().name().stringValue();
  }

  /** The packages that everybody may use. */
  private static Set<String> forUsers() {
    return modules.values().stream()
        .flatMap(module -> exports(module).stream())
        .filter(export -> export.exportsTo().isEmpty())
        .map(ExportsTest::name)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  void everybodySeesWhatThePageLists() throws IOException {
    String page = Files.readString(Path.of("..", "docs", "architecture.md"));
    int from = page.indexOf("## Packages for users");
    Map<String, String> listed = new TreeMap<>();
    ROW.matcher(page.substring(from, page.indexOf("\n## ", from + 1)))
        .results()
        .forEach(row -> listed.put(row.group(1), row.group(2)));
    Map<String, String> exported = new TreeMap<>();
    forUsers().forEach(name -> exported.put(shortName(name), OWNERS.get(name)));
    assertThat(exported).isEqualTo(listed);
  }

  @Test
  void otherPackagesAreExportedToWhoUsesThem() {
    Map<String, Set<String>> users = new TreeMap<>();
    modules.forEach(
        (module, files) ->
            files.stream()
                .filter(OurModules::isClass)
                .flatMap(file -> OurModules.packagesIn(file).stream())
                .filter(used -> OWNERS.containsKey(used) && !OWNERS.get(used).equals(module))
                .forEach(used -> users.computeIfAbsent(used, u -> new TreeSet<>()).add(module)));
    users.keySet().removeAll(forUsers());
    Map<String, Set<String>> exported = new TreeMap<>();
    for (List<ClassModel> module : modules.values()) {
      for (ModuleExportInfo export : exports(module)) {
        if (!export.exportsTo().isEmpty()) {
          exported.put(
              name(export),
              export.exportsTo().stream()
                  .map(to -> to.name().stringValue().substring(OurModules.PREFIX.length()))
                  .collect(Collectors.toCollection(TreeSet::new)));
        }
      }
    }
    assertThat(exported).hasSizeGreaterThan(50).isEqualTo(users);
  }

  /** Who may call a method may name what it takes and gives. */
  @Test
  void signaturesNameTypesThatUsersSee() {
    Set<String> seen = forUsers();
    Set<String> hidden = new TreeSet<>();
    Set<String> passedOn = new TreeSet<>();
    CLASSES.forEach(
        (name, file) -> {
          if (seen.contains(OurModules.packageOf(name)) && isVisible(name)) {
            for (String type : signature(file)) {
              if (!CLASSES.containsKey(type)
                  || seen.contains(OurModules.packageOf(type))
                  || !isVisible(type)) {
                continue;
              }
              if (PASSED_ON.contains(type)) {
                passedOn.add(type);
              } else {
                hidden.add(type + " in " + name);
              }
            }
          }
        });
    assertThat(hidden).isEmpty();
    assertThat(passedOn).isEqualTo(PASSED_ON);
  }

  /** Whether a class is public, and those around it. */
  private static boolean isVisible(String name) {
    ClassModel file = CLASSES.get(name);
    if (!name.contains("$")) {
      return file.flags().has(AccessFlag.PUBLIC);
    }
    return file.findAttribute(Attributes.innerClasses()).stream()
        .flatMap(inner -> inner.classes().stream())
        .filter(inner -> inner.innerClass().asInternalName().equals(name))
        .anyMatch(
            inner ->
                inner.outerClass().isPresent()
                    && (inner.has(AccessFlag.PUBLIC) || inner.has(AccessFlag.PROTECTED))
                    && isVisible(inner.outerClass().get().asInternalName()));
  }

  /** Our types that a class extends, and that its public and protected members name. */
  private static Set<String> signature(ClassModel file) {
    Set<String> types = new TreeSet<>();
    file.superclass().ifPresent(type -> types.add(type.asInternalName()));
    file.interfaces().forEach(type -> types.add(type.asInternalName()));
    file.findAttribute(Attributes.signature())
        .ifPresent(signature -> addTypes(signature.signature().stringValue(), types));
    for (FieldModel field : file.fields()) {
      if (field.flags().has(AccessFlag.PUBLIC) || field.flags().has(AccessFlag.PROTECTED)) {
        addTypes(field.fieldType().stringValue(), types);
        field
            .findAttribute(Attributes.signature())
            .ifPresent(signature -> addTypes(signature.signature().stringValue(), types));
      }
    }
    for (MethodModel method : file.methods()) {
      boolean isSeen =
          method.flags().has(AccessFlag.PUBLIC) || method.flags().has(AccessFlag.PROTECTED);
      if (isSeen && !method.flags().has(AccessFlag.SYNTHETIC)) {
        addTypes(method.methodType().stringValue(), types);
        method
            .findAttribute(Attributes.signature())
            .ifPresent(signature -> addTypes(signature.signature().stringValue(), types));
      }
    }
    return types;
  }

  private static void addTypes(String signature, Set<String> types) {
    NAME.matcher(signature).results().map(match -> match.group(1)).forEach(types::add);
  }
}
