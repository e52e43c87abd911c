package dev.warpwright.spark;

import dev.warpwright.space.Candidate;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.Outcome;
import dev.warpwright.tune.fleet.Fleet;
import dev.warpwright.tune.measure.Measurer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The driver's books: which executors there are, which of them measures what, what is under way,
 * and how often a host has spoilt a task. A host that has done so as often as the settings say gets
 * no more work; so does an executor that does not answer, until it does.
 *
 * <p>All candidates of a workload go to one executor, as long as it lives and is healthy: times are
 * compared within one device.
 */
final class FleetDesk {
  private static final long MOMENT_SECONDS = 3;

  private static volatile @Nullable FleetDesk current;

  /** An executor. */
  private static final class Member {
    final FleetMessage.Hello hello;
    int tasks;
    boolean stuck;

    Member(FleetMessage.Hello hello) {
      this.hello = hello;
    }
  }

  /** A task under way; times are of {@link System#nanoTime}. */
  static final class Work {
    final FleetBatch batch;
    final Environment environment;
    final List<Measurer.@Nullable Trial> done;
    final boolean[] compiled;
    final List<Candidate> candidates;
    final BiConsumer<Integer, Measurer.Trial> listener;
    String begunBy = "";
    long lastSign;

    Work(
        FleetBatch batch,
        Environment environment,
        List<Candidate> candidates,
        BiConsumer<Integer, Measurer.Trial> listener) {
      this.batch = batch;
      this.environment = environment;
      this.candidates = List.copyOf(candidates);
      this.listener = listener;
      this.done = new ArrayList<>();
      candidates.forEach(candidate -> done.add(null));
      this.compiled = new boolean[candidates.size()];
    }
  }

  /** An executor that was chosen. */
  record Chosen(String executor, String host, String name) {}

  private final FleetSettings settings;
  private final Map<String, Member> members = new LinkedHashMap<>();
  private final Map<Long, Work> works = new HashMap<>();

  /** The executor of a kind's workload. */
  private final Map<String, String> homes = new HashMap<>();

  private final Map<String, Integer> strikes = new TreeMap<>();
  private final Map<String, String> reasons = new TreeMap<>();
  private Consumer<String> log = line -> {};
  private int lost;

  private FleetDesk(FleetSettings settings) {
    this.settings = settings;
  }

  static void open(FleetSettings settings) {
    current = new FleetDesk(settings);
  }

  /** That of the application of this process. */
  static FleetDesk current() {
    return Objects.requireNonNull(current, "no fleet in this process");
  }

  FleetSettings settings() {
    return settings;
  }

  synchronized void log(Consumer<String> to) {
    log = to;
  }

  /** Takes a message; the answer is for {@link FleetMessage.Begin}. */
  @Nullable String receive(FleetMessage message) {
    Map<Integer, Measurer.Trial> news = new LinkedHashMap<>();
    String answer;
    Work work;
    synchronized (this) {
      work = works.get(batchOf(message));
      answer = take(message, work, news);
      notifyAll();
    }
    if (work != null) {
      // Outside of the lock: what follows of an outcome may ask for more.
      news.forEach(work.listener);
    }
    return answer;
  }

  private static long batchOf(FleetMessage message) {
    return switch (message) {
      case FleetMessage.Hello _ -> -1;
      case FleetMessage.Begin begin -> begin.batch();
      case FleetMessage.Result result -> result.batch();
      case FleetMessage.Compiled compiled -> compiled.batch();
      case FleetMessage.Alive alive -> alive.batch();
      case FleetMessage.Sick sick -> sick.batch();
      case FleetMessage.Free free -> free.batch();
    };
  }

  private @Nullable String take(
      FleetMessage message, @Nullable Work work, Map<Integer, Measurer.Trial> news) {
    switch (message) {
      case FleetMessage.Hello hello -> members.put(hello.executor(), new Member(hello));
      case FleetMessage.Begin begin -> {
        return begin(begin, work);
      }
      case FleetMessage.Result result -> {
        if (work == null) {
          break;
        }
        sign(work, result.executor());
        // A measurement is one, also where the work was given to another one since.
        if (work.done.get(result.index()) == null) {
          Measurer.Trial trial =
              new Measurer.Trial(
                  work.candidates.get(result.index()), result.hash(), result.outcome());
          work.done.set(result.index(), trial);
          news.put(result.index(), trial);
        }
      }
      case FleetMessage.Compiled compiled -> {
        if (work != null) {
          sign(work, compiled.executor());
          work.compiled[compiled.index()] = true;
        }
      }
      case FleetMessage.Alive alive -> {
        if (work != null) {
          sign(work, alive.executor());
        }
      }
      case FleetMessage.Sick sick -> {
        // Of one that was given up what ends its task has been counted.
        if (work != null && work.begunBy.equals(sick.executor())) {
          strike(sick.executor(), sick.reason());
        }
      }
      case FleetMessage.Free free -> {
        Member member = members.get(free.executor());
        if (member != null) {
          member.stuck = false;
        }
      }
    }
    return null;
  }

  /** The executor was heard of. */
  private static void sign(Work work, String executor) {
    if (work.begunBy.equals(executor)) {
      work.lastSign = System.nanoTime();
    }
  }

  /**
   * Which candidates the executor shall take: none if it is not to be trusted or lacks a device.
   */
  private String begin(FleetMessage.Begin begin, @Nullable Work work) {
    Member member = members.get(begin.executor());
    if (work == null || member == null || !isTrusted(member)) {
      return "";
    }
    if (!begin.compileOnly()) {
      FleetHost.Device device = member.hello.device();
      if (device == null || !device.environment().equals(work.environment)) {
        return "";
      }
      // Where Spark has brought it after another executor's death is its home from now on.
      homes.put(home(work.environment, work.batch.workload()), begin.executor());
    }
    work.begunBy = begin.executor();
    work.lastSign = System.nanoTime();
    StringBuilder open = new StringBuilder();
    for (int i = 0; i < work.candidates.size(); i++) {
      if (work.done.get(i) == null && !(begin.compileOnly() && work.compiled[i])) {
        open.append(open.isEmpty() ? "" : " ").append(i);
      }
    }
    return open.toString();
  }

  private static String home(Environment environment, String workload) {
    return environment + " " + workload;
  }

  private boolean isTrusted(Member member) {
    return !member.stuck && strikes.getOrDefault(member.hello.host(), 0) < settings.strikes();
  }

  private void strike(String executor, String reason) {
    Member member = members.get(executor);
    if (member == null) {
      return;
    }
    String host = member.hello.host();
    int count = strikes.merge(host, 1, Integer::sum);
    reasons.put(host, reason);
    log.accept(
        String.format(
            Locale.ROOT,
            "%s, executor %s: %s; %s",
            host,
            executor,
            reason,
            count < settings.strikes()
                ? "its task goes to another one (" + count + " of " + settings.strikes() + ")"
                : "the host is left alone"));
  }

  /** An executor has ended. */
  synchronized void remove(String executor) {
    if (members.remove(executor) != null) {
      lost++;
    }
    notifyAll();
  }

  synchronized void add(Work work) {
    works.put(work.batch.id(), work);
  }

  synchronized void forget(Work work) {
    works.remove(work.batch.id());
  }

  /**
   * Who is to measure a workload, or to compile; waits for one.
   *
   * @return empty if there was none as long as patience lasts
   */
  synchronized Optional<Chosen> choose(Work work, boolean compileOnly) throws InterruptedException {
    long end = System.nanoTime() + (long) (settings.patience() * 1e9);
    String home = home(work.environment, work.batch.workload());
    while (true) {
      Member best = null;
      for (Member member : members.values()) {
        FleetHost.Device device = member.hello.device();
        boolean fits =
            compileOnly
                ? device == null
                : device != null && device.environment().equals(work.environment);
        if (!fits || !isTrusted(member)) {
          continue;
        }
        if (member.hello.executor().equals(homes.get(home)) && !compileOnly) {
          best = member;
          break;
        }
        if (best == null || load(member) < load(best)) {
          best = member;
        }
      }
      if (best != null) {
        if (!compileOnly) {
          homes.put(home, best.hello.executor());
        }
        best.tasks++;
        return Optional.of(
            new Chosen(best.hello.executor(), best.hello.spark(), best.hello.host()));
      }
      long left = end - System.nanoTime();
      if (left <= 0) {
        return Optional.empty();
      }
      TimeUnit.NANOSECONDS.timedWait(this, left);
    }
  }

  private long load(Member member) {
    long workloads = homes.values().stream().filter(member.hello.executor()::equals).count();
    return 1000L * member.tasks + workloads;
  }

  /** Whether an executor without a device has little to do. */
  synchronized boolean hasIdleCompiler() {
    return members.values().stream()
        .anyMatch(m -> m.hello.device() == null && isTrusted(m) && m.tasks == 0);
  }

  /** The task of an executor has ended, whichever way. */
  synchronized void ended(Chosen chosen) {
    Member member = members.get(chosen.executor());
    if (member != null) {
      member.tasks--;
    }
  }

  /** Seconds since the executor of begun work was heard of; 0 if it has not begun. */
  synchronized double silence(Work work) {
    return work.begunBy.isEmpty() ? 0 : (System.nanoTime() - work.lastSign) * 1e-9;
  }

  /** Gives the executor of begun work up. */
  synchronized void giveUp(Work work) {
    Member member = members.get(work.begunBy);
    if (member != null) {
      member.stuck = true;
      strike(
          work.begunBy,
          String.format(Locale.ROOT, "nothing heard of it for %.1f s", settings.silence()));
    }
    work.begunBy = "";
  }

  /** Before work is given to somebody; returns whether anything of it is still to do. */
  synchronized boolean isOpen(Work work) {
    return work.done.contains(null);
  }

  /** Whether somebody had begun it since this was asked last. */
  synchronized boolean wasBegun(Work work) {
    boolean begun = !work.begunBy.isEmpty();
    work.begunBy = "";
    return begun;
  }

  /** What is left has no outcome but this. */
  void fail(Work work, Outcome.Failed failure) {
    Map<Integer, Measurer.Trial> news = new LinkedHashMap<>();
    synchronized (this) {
      for (int i = 0; i < work.candidates.size(); i++) {
        if (work.done.get(i) == null) {
          Measurer.Trial trial = new Measurer.Trial(work.candidates.get(i), "", failure);
          work.done.set(i, trial);
          news.put(i, trial);
        }
      }
    }
    news.forEach(work.listener);
  }

  /**
   * Waits until executors have told what they have, or for a time.
   *
   * @param executors so many; 0: until some have and no other one does for a moment
   */
  synchronized void await(int executors, double seconds) throws InterruptedException {
    long end = System.nanoTime() + (long) (seconds * 1e9);
    while (System.nanoTime() < end) {
      if (executors > 0 ? members.size() >= executors : !members.isEmpty()) {
        if (executors > 0) {
          return;
        }
        int before = members.size();
        TimeUnit.SECONDS.timedWait(this, MOMENT_SECONDS);
        if (members.size() == before) {
          return;
        }
      } else {
        TimeUnit.NANOSECONDS.timedWait(this, Math.max(1, end - System.nanoTime()));
      }
    }
  }

  /** The executors, those without a device too. */
  synchronized int size() {
    return members.size();
  }

  synchronized List<Fleet.Kind> kinds() {
    Map<FleetHost.Device, Integer> counts = new LinkedHashMap<>();
    for (Member member : members.values()) {
      FleetHost.Device device = member.hello.device();
      if (device != null && isTrusted(member)) {
        counts.merge(device, 1, Integer::sum);
      }
    }
    return counts.entrySet().stream()
        .map(e -> new Fleet.Kind(e.getKey().environment(), e.getKey().sms(), e.getValue()))
        .toList();
  }

  synchronized List<String> remarks() {
    List<String> lines = new ArrayList<>();
    strikes.forEach(
        (host, count) ->
            lines.add(
                String.format(
                    Locale.ROOT,
                    "%s spoilt %d tasks%s, at last: %s",
                    host,
                    count,
                    count >= settings.strikes() ? " and was left alone" : "",
                    reasons.get(host))));
    if (lost > 0) {
      lines.add(
          lost + " executors ended before the fleet did; their work was done again elsewhere");
    }
    return lines;
  }
}
