package dev.warpwright.compiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;

/** The project and every snippet of the guide for Java developers compile and run. */
class JavaGuideTest {
  private static final Path GUIDE = Path.of("..", "docs", "java-guide.md");
  private static final Pattern POM = Pattern.compile("```xml\\n(.*?)```", Pattern.DOTALL);

  @TempDir Path folder;

  @Test
  void everySnippetRuns() throws Exception {
    Path model = RealModel.of("digits-relu-128-64/model.onnx").file();
    String imports = "";
    List<String> snippets = new ArrayList<>();
    for (String java : DocumentExample.all(GUIDE)) {
      if (java.startsWith("import ")) {
        imports = java;
      } else if (!java.contains("public class ")) {
        snippets.add(java);
      }
    }
    assertThat(snippets).hasSizeGreaterThan(5);
    StringBuilder methods = new StringBuilder();
    StringBuilder calls = new StringBuilder();
    for (int i = 0; i < snippets.size(); i++) {
      methods.append(
          "static void snippet" + i + "() throws Exception {\n" + snippets.get(i) + "}\n");
      calls.append("snippet" + i + "();\n");
    }
    String text =
        imports
            + "public class Guide {\n  public static void run() throws Exception {\n"
            + calls
            + "}\n"
            + methods.toString().replace("\"model.onnx\"", "\"" + model + "\"")
            + "}\n";
    DocumentExample.run(folder, "Guide", text, "run");
  }

  @Test
  void theSmallestProjectRuns() throws Exception {
    Path model = RealModel.of("digits-relu-128-64/model.onnx").file();
    String app = DocumentExample.of(GUIDE);
    assertThat(app).startsWith("// src/main/java/App.java\n");
    DocumentExample.run(
        folder, "App", app, "main", (Object) new String[] {model.toAbsolutePath().toString()});
  }

  /** Maven would look for another version in vain. */
  @Test
  void theSmallestProjectDependsOnThisVersion() throws Exception {
    Matcher pom = POM.matcher(Files.readString(GUIDE));
    assertThat(pom.find()).isTrue();
    Document own = document(folder.resolve("own.xml"), pom.group(1));
    Document ours = document(folder.resolve("ours.xml"), Files.readString(Path.of("pom.xml")));
    assertThat(last(own, "groupId")).isEqualTo("dev.warpwright");
    assertThat(last(own, "artifactId")).isEqualTo("warpwright-compiler");
    assertThat(last(own, "version")).isEqualTo(first(ours, "version"));
  }

  private static Document document(Path file, String text) throws Exception {
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(Files.writeString(file, text).toFile());
  }

  private static String first(Document document, String tag) {
    return document.getElementsByTagName(tag).item(0).getTextContent();
  }

  private static String last(Document document, String tag) {
    var all = document.getElementsByTagName(tag);
    return all.item(all.getLength() - 1).getTextContent();
  }
}
