package dev.warpwright.verify;

import dev.warpwright.sim.api.KernelCounters;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToLongFunction;

/**
 * Counters of a launch, as numbers that can be scaled: counters of a large launch are sums of
 * multiples of those of small ones.
 *
 * @param totals by name, in the order of reports; in requests, wavefronts, sectors of 32 bytes or
 *     bytes
 * @param statements requests of each statement
 */
record CountedLaunch(Map<String, Double> totals, Map<Site, Requests> statements) {
  private static final int SECTOR = 32;

  /** Where requests come from: a line of the kernel's text, and what it asks for. */
  record Site(int line, String statement, String what) {}

  /** As {@link KernelCounters.Requests}, scaled. */
  record Requests(double count, double units, double least) {
    static final Requests NONE = new Requests(0, 0, 0);

    Requests(KernelCounters.Requests counted) {
      this(counted.count(), counted.units(), counted.least());
    }

    Requests times(double factor, Requests other, double otherFactor) {
      return new Requests(
          count * factor + other.count * otherFactor,
          units * factor + other.units * otherFactor,
          least * factor + other.least * otherFactor);
    }
  }

  private static final Map<String, ToLongFunction<KernelCounters>> COUNTERS = counterNames();

  private static Map<String, ToLongFunction<KernelCounters>> counterNames() {
    Map<String, ToLongFunction<KernelCounters>> names = new LinkedHashMap<>();
    names.put("sharedLoadWavefronts", c -> c.sharedLoads().units() + c.matrixLoads().units());
    names.put("sharedLoadConflicts", c -> c.sharedLoads().lost() + c.matrixLoads().lost());
    names.put("sharedStoreWavefronts", c -> c.sharedStores().units() + c.matrixStores().units());
    names.put("sharedStoreConflicts", c -> c.sharedStores().lost() + c.matrixStores().lost());
    names.put("asyncStoreWavefronts", c -> c.asyncStores().units());
    names.put("asyncStoreConflicts", c -> c.asyncStores().lost());
    names.put("globalLoadRequests", c -> c.globalLoads().count());
    names.put("globalLoadSectors", c -> c.globalLoads().units());
    names.put("globalStoreRequests", c -> c.globalStores().count());
    names.put("globalStoreSectors", c -> c.globalStores().units());
    names.put("asyncLoadSectors", c -> c.asyncLoads().units());
    names.put("l2ToL1Bytes", c -> (c.l2ReadSectors() + c.multicastSectors()) * SECTOR);
    names.put("multicastBytes", c -> c.multicastSectors() * SECTOR);
    names.put("l2WriteBytes", c -> c.l2WriteSectors() * SECTOR);
    names.put("dramReadBytes", KernelCounters::dramReadBytes);
    names.put("multiplyAdds", KernelCounters::multiplyAdds);
    names.put("matrixMultiplyAdds", KernelCounters::matrixMultiplyAdds);
    return names;
  }

  static CountedLaunch of(KernelCounters counted) {
    Map<String, Double> totals = new LinkedHashMap<>();
    COUNTERS.forEach((name, of) -> totals.put(name, (double) of.applyAsLong(counted)));
    Map<Site, Requests> statements = new LinkedHashMap<>();
    for (KernelCounters.OfStatement s : counted.statements()) {
      statements.merge(
          new Site(s.line(), s.statement(), s.what()),
          new Requests(s.requests()),
          (a, b) -> a.times(1, b, 1));
    }
    return new CountedLaunch(totals, statements);
  }

  double total(String name) {
    return totals.getOrDefault(name, 0.0);
  }

  /** {@code factor · this + otherFactor · other}. */
  CountedLaunch times(double factor, CountedLaunch other, double otherFactor) {
    Map<String, Double> sums = new LinkedHashMap<>();
    totals.forEach(
        (name, value) -> sums.put(name, factor * value + otherFactor * other.total(name)));
    Set<Site> sites = new LinkedHashSet<>(statements.keySet());
    sites.addAll(other.statements.keySet());
    Map<Site, Requests> all = new LinkedHashMap<>();
    for (Site site : sites) {
      all.put(
          site,
          statements
              .getOrDefault(site, Requests.NONE)
              .times(factor, other.statements.getOrDefault(site, Requests.NONE), otherFactor));
    }
    return new CountedLaunch(sums, all);
  }

  /** The same with another value of a counter. */
  CountedLaunch with(String name, double value) {
    Map<String, Double> changed = new LinkedHashMap<>(totals);
    changed.put(name, value);
    return new CountedLaunch(changed, statements);
  }

  /** Statements for reports, in the order of their lines. */
  List<CounterPrediction.OfStatement> lines() {
    List<CounterPrediction.OfStatement> lines = new ArrayList<>();
    statements.forEach(
        (site, requests) ->
            lines.add(
                new CounterPrediction.OfStatement(
                    site.line,
                    site.statement,
                    site.what,
                    requests.count,
                    requests.units,
                    requests.units - requests.least)));
    lines.sort(java.util.Comparator.comparingInt(CounterPrediction.OfStatement::line));
    return lines;
  }
}
