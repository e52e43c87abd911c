package dev.warpwright.cli.explore;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Playwright;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Chromium, as the machine has it: started once, for all classes of tests that want it. */
final class Chromium implements BeforeAllCallback {
  private static final ExtensionContext.Namespace HERE =
      ExtensionContext.Namespace.create(Chromium.class);

  /** Ends with the last test. */
  private record Running(Playwright playwright, Browser browser) implements AutoCloseable {
    @Override
    public void close() {
      playwright.close();
    }
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    assumeTrue(executable() != null, "no Chromium here: apt-get install chromium");
    var unused = running(context);
  }

  /** The browser; to be called by the thread of the tests. */
  static Browser browser(ExtensionContext context) {
    return running(context).browser();
  }

  private static Running running(ExtensionContext context) {
    return context
        .getRoot()
        .getStore(HERE)
        .computeIfAbsent(Running.class, key -> start(), Running.class);
  }

  private static @Nullable Path executable() {
    return Stream.of("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
        .map(Path::of)
        .filter(Files::isExecutable)
        .findFirst()
        .orElse(null);
  }

  private static Running start() {
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.put("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1");
    Playwright playwright = Playwright.create(new Playwright.CreateOptions().setEnv(environment));
    Browser browser =
        playwright
            .chromium()
            .launch(
                new BrowserType.LaunchOptions()
                    .setExecutablePath(executable())
                    // Painted by the CPU at once: a GPU that the CPU imitates costs more.
                    .setArgs(
                        List.of("--no-sandbox", "--disable-gpu", "--disable-software-rasterizer")));
    return new Running(playwright, browser);
  }
}
