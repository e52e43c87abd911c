package dev.warpwright.ir.verify;

import dev.warpwright.ir.Attrs;
import dev.warpwright.ir.Buffer;
import dev.warpwright.ir.Param;
import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.PrimFunc;
import dev.warpwright.ir.Role;
import dev.warpwright.ir.Scope;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import dev.warpwright.ir.verify.Verifier.Findings;
import dev.warpwright.ir.visit.FlowSites;
import dev.warpwright.ir.visit.Leaves;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Pipes, roles and counters, as far as their structure tells: who fills and reads a pipe, whether
 * it is long enough, and that a counter is nothing but a counter. Whether bounded pipes can wait
 * for each other is for the interpreter to say.
 */
final class FlowRules {
  /** Where the walk is. */
  private record Site(
      @Nullable Role role, List<Pipe> visible, @Nullable Stmt inStage, List<Pipe> open) {
    Site with(Pipe pipe) {
      return new Site(role, plus(visible, pipe), inStage, open);
    }

    Site in(Role newRole) {
      return new Site(newRole, visible, inStage, open);
    }

    Site inside(Stmt stage, Pipe pipe) {
      return new Site(role, visible, stage, plus(open, pipe));
    }

    private static List<Pipe> plus(List<Pipe> list, Pipe pipe) {
      List<Pipe> copy = new ArrayList<>(list);
      copy.add(pipe);
      return copy;
    }
  }

  private static final int FEWEST_REGISTERS = 24;
  private static final int MOST_REGISTERS = 240;

  private final PrimFunc func;
  private final Findings findings;
  private final FlowSites sites;
  private final Set<Buffer> counters = new HashSet<>();
  private final Set<Buffer> signalled = new HashSet<>();

  FlowRules(PrimFunc func, Findings findings) {
    this.func = func;
    this.findings = findings;
    this.sites = FlowSites.of(func.body());
  }

  void check() {
    counters(func.body());
    visit(func.body(), new Site(null, List.of(), null, List.of()));
  }

  private void pipes(Object node, String message) {
    findings.add(Rule.PIPES, node, message);
  }

  private void visit(Stmt s, Site site) {
    switch (s) {
      case Stmt.Flow.PipeScope(Pipe pipe, Stmt body) -> {
        if (site.visible.contains(pipe)) {
          findings.add(
              Rule.DECLARED_ONCE, s, "pipe '" + pipe.name() + "' is declared inside its own scope");
        }
        declaration(pipe, s);
        visit(body, site.with(pipe));
        return;
      }
      case Stmt.Flow.Produce(Pipe pipe, Stmt body) -> {
        stage(s, pipe, site);
        visit(body, site.inside(s, pipe));
        return;
      }
      case Stmt.Flow.Consume(Pipe pipe, boolean peek, Stmt body) -> {
        stage(s, pipe, site);
        // Without roles a stage is the reader's alone until it is given back.
        if (peek || site.role != null) {
          readsOnly(body, pipe);
        }
        // A stage that is only looked at stays: what is under way there goes by the other one.
        Stmt stage = peek && site.inStage != null ? site.inStage : s;
        visit(body, site.inside(stage, pipe));
        return;
      }
      case Stmt.Flow.Skip skip -> skip(skip, site);
      case Stmt.Flow.Roles roles -> {
        roles(roles, site);
        return;
      }
      case Stmt.TileMma m -> underWay(m, m.attrs(), site);
      case Stmt.TileCopy c -> underWay(c, c.attrs(), site);
      default -> {}
    }
    countersOnly(s);
    Stmts.children(s).forEach(child -> visit(child, site));
  }

  private void declaration(Pipe pipe, Stmt where) {
    String name = "'" + pipe.name() + "'";
    Pipe.Options options = pipe.options();
    if (pipe.stages() < pipe.neededStages()) {
      pipes(
          where,
          String.format(
              Locale.ROOT,
              "pipe %s has %d stages; hold %d, lag %d and lead %d take %d",
              name,
              pipe.stages(),
              options.hold(),
              options.lag(),
              options.lead(),
              pipe.neededStages()));
    }
    if (options.initial() > pipe.stages()) {
      pipes(
          where,
          String.format(
              Locale.ROOT,
              "%d of %d stages of pipe %s are full at first",
              options.initial(),
              pipe.stages(),
              name));
    }
    if (options.initial() > 0 && !pipe.buffers().isEmpty()) {
      pipes(where, "pipe " + name + " is full of what nobody wrote at first; tokens may be");
    }
    boolean fits =
        switch (pipe.scope()) {
          case LOCAL, SHARED, SHARED_CLUSTER -> true;
          case GLOBAL, FRAGMENT -> false;
        };
    if (!fits) {
      findings.add(Rule.SCOPES, where, "pipe " + name + " cannot lie in " + pipe.scope());
    }
    one(pipe, where, FlowSites.Kind.PRODUCE, "filled");
    one(pipe, where, FlowSites.Kind.CONSUME, "read");
  }

  /** Who fills a pipe is one role, and so is who reads it: then its order is that of the text. */
  private void one(Pipe pipe, Stmt where, FlowSites.Kind kind, String done) {
    Set<@Nullable Role> roles = sites.roles(pipe, kind);
    boolean given = kind == FlowSites.Kind.PRODUCE && pipe.options().initial() > 0;
    if (roles.isEmpty() && !given) {
      pipes(where, "pipe '" + pipe.name() + "' is never " + done);
    } else if (roles.size() > 1) {
      pipes(
          where,
          String.format(
              Locale.ROOT,
              "pipe '%s' is %s by %s; one role may do that",
              pipe.name(),
              done,
              roles.stream().map(FlowRules::name).collect(Collectors.joining(" and "))));
    }
  }

  private static String name(@Nullable Role role) {
    return role == null ? "no role" : "role '" + role.name() + "'";
  }

  private void declared(Stmt s, Pipe pipe, Site site) {
    if (!site.visible.contains(pipe)) {
      findings.add(Rule.DECLARED, s, "pipe '" + pipe.name() + "' is not declared here");
    }
  }

  private void stage(Stmt s, Pipe pipe, Site site) {
    declared(s, pipe, site);
    if (site.open.contains(pipe)) {
      pipes(s, "a stage of pipe '" + pipe.name() + "' inside another one of it");
    }
  }

  private void readsOnly(Stmt body, Pipe pipe) {
    for (Buffer written : Leaves.of(body).writes()) {
      if (pipe.buffers().contains(written)) {
        pipes(
            body,
            String.format(Locale.ROOT, "'%s' is written where it is consumed", written.name()));
      }
    }
    Stmts.children(body).forEach(child -> readsOnly(child, pipe));
  }

  private void skip(Stmt.Flow.Skip skip, Site site) {
    Pipe pipe = skip.pipe();
    declared(skip, pipe, site);
    Role role = site.role;
    if (role == null || role.instances() == 1 || role.instance() == null) {
      pipes(skip, "stages of pipe '" + pipe.name() + "' are skipped, but no instances take turns");
    } else if (pipe.isBroadcast() && sites.roles(pipe, FlowSites.Kind.CONSUME).contains(role)) {
      pipes(skip, "stages of pipe '" + pipe.name() + "' are skipped, but all instances read all");
    } else if (sites.roles(pipe, FlowSites.Kind.CONSUME).contains(role)
        == sites.roles(pipe, FlowSites.Kind.PRODUCE).contains(role)) {
      pipes(
          skip,
          String.format(
              Locale.ROOT,
              "role '%s' must either fill or read pipe '%s' to skip stages of it",
              role.name(),
              pipe.name()));
    }
  }

  /** What is under way for some stages keeps the stage for as long. */
  private void underWay(Stmt s, Attrs attrs, Site site) {
    long stages = attrs.getLong(IN_FLIGHT, 0);
    if (stages == 0) {
      return;
    }
    boolean product = s instanceof Stmt.TileMma;
    switch (site.inStage) {
      case Stmt.Flow.Consume(Pipe pipe, boolean peek, Stmt body) when product -> {
        if (!peek && pipe.options().hold() < stages) {
          pipes(
              s,
              String.format(
                  Locale.ROOT,
                  "the mma is under way for %d more stages, pipe '%s' holds a stage for %d",
                  stages,
                  pipe.name(),
                  pipe.options().hold()));
        }
      }
      case Stmt.Flow.Produce(Pipe pipe, Stmt body) when !product -> {
        if (pipe.options().lag() < stages) {
          pipes(
              s,
              String.format(
                  Locale.ROOT,
                  "the copy is under way for %d more stages, pipe '%s' commits one after %d",
                  stages,
                  pipe.name(),
                  pipe.options().lag()));
        }
      }
      case null, default ->
          pipes(
              s,
              product
                  ? "an mma under way for more stages belongs into a consume"
                  : "a copy under way for more stages belongs into a produce");
    }
  }

  /** The attribute of products and copies that are under way for so many more stages. */
  static final String IN_FLIGHT = "inflight";

  private void roles(Stmt.Flow.Roles s, Site site) {
    if (site.role != null || site.inStage != null) {
      findings.add(
          Rule.ROLES, s, site.role != null ? "roles inside a role" : "roles inside a stage");
    }
    Set<String> names = new HashSet<>();
    for (Role role : s.roles()) {
      if (!names.add(role.name())) {
        findings.add(Rule.ROLES, role, "there are two roles '" + role.name() + "'");
      }
      long registers = role.attrs().getLong("registers", FEWEST_REGISTERS);
      if (registers < FEWEST_REGISTERS || registers > MOST_REGISTERS || registers % 8 != 0) {
        findings.add(
            Rule.ROLES,
            role,
            String.format(
                Locale.ROOT,
                "role '%s' has %d registers; %d to %d in eights",
                role.name(),
                registers,
                FEWEST_REGISTERS,
                MOST_REGISTERS));
      }
      visit(role.body(), site.in(role));
    }
  }

  private void counters(Stmt s) {
    if (s instanceof Stmt.Flow.Signal signal) {
      counters.add(signal.counter());
      signalled.add(signal.counter());
    } else if (s instanceof Stmt.Flow.Await await) {
      counters.add(await.counter());
    }
    Stmts.children(s).forEach(this::counters);
  }

  private void countersOnly(Stmt s) {
    if (s instanceof Stmt.Flow.Signal signal) {
      counter(signal, signal.counter());
      return;
    }
    if (s instanceof Stmt.Flow.Await await) {
      counter(await, await.counter());
      if (!signalled.contains(await.counter())) {
        findings.add(
            Rule.SIGNALS, s, "'" + await.counter().name() + "' is awaited, but never signalled");
      }
      return;
    }
    Leaves leaves = Leaves.of(s);
    Set<Buffer> touched = new HashSet<>(leaves.reads());
    touched.addAll(leaves.writes());
    touched.retainAll(counters);
    for (Buffer counter : touched) {
      findings.add(
          Rule.SIGNALS, s, "counter '" + counter.name() + "' is only signalled and awaited");
    }
  }

  private void counter(Stmt s, Buffer counter) {
    List<Param> params = func.params();
    if (counter.scope() != Scope.GLOBAL || !params.contains(counter)) {
      findings.add(
          Rule.SIGNALS, s, "counter '" + counter.name() + "' is no parameter in global memory");
    } else if (!counter.dtype().isInt()) {
      findings.add(Rule.SIGNALS, s, "counter '" + counter.name() + "' has type " + counter.dtype());
    }
  }
}
