package dev.warpwright.ir.visit;

import dev.warpwright.ir.Pipe;
import dev.warpwright.ir.Role;
import dev.warpwright.ir.Stmt;
import dev.warpwright.ir.Stmts;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Where the pipes of a statement are filled and read, and by which role. */
public final class FlowSites {
  /** What happens to a pipe at a place. */
  public enum Kind {
    /** A stage is filled. */
    PRODUCE,
    /** A stage is read and released. */
    CONSUME,
    /** A stage is read and stays the oldest. */
    PEEK,
    /** Stages are left to another instance. */
    SKIP
  }

  /**
   * A mention of a pipe.
   *
   * @param kind what is done
   * @param role that does it, null outside of roles
   * @param stmt that does it
   */
  public record Site(Kind kind, @Nullable Role role, Stmt.Flow stmt) {}

  private final Map<Pipe, List<Site>> sites = new IdentityHashMap<>();

  private FlowSites() {}

  /**
   * {@return what is said of pipes in a statement}
   *
   * @param s any statement
   */
  public static FlowSites of(Stmt s) {
    FlowSites result = new FlowSites();
    result.visit(s, null);
    return result;
  }

  /**
   * {@return whether there is anything of this family in a statement}
   *
   * @param s any statement
   */
  public static boolean isIn(Stmt s) {
    boolean[] found = {false};
    Walk.statements(s, each -> found[0] |= each instanceof Stmt.Flow);
    return found[0];
  }

  /**
   * {@return all mentions of a pipe but its declaration, in the order of the text}
   *
   * @param pipe that is mentioned
   */
  public List<Site> of(Pipe pipe) {
    return sites.getOrDefault(pipe, List.of());
  }

  /**
   * {@return the roles that do such a thing, null among them if it is done outside of roles}
   *
   * @param pipe that is mentioned
   * @param kind what is done
   */
  public Set<@Nullable Role> roles(Pipe pipe, Kind kind) {
    Set<@Nullable Role> roles = new LinkedHashSet<>();
    for (Site site : of(pipe)) {
      if (site.kind == kind) {
        roles.add(site.role);
      }
    }
    return roles;
  }

  /**
   * {@return how often a stage is released before it is empty}
   *
   * @param pipe that is mentioned
   */
  public int releases(Pipe pipe) {
    int instances = 1;
    for (Site site : of(pipe)) {
      if (site.kind == Kind.CONSUME && site.role != null && pipe.isBroadcast()) {
        instances = Math.max(instances, site.role.instances());
      }
    }
    return instances;
  }

  private void visit(Stmt s, @Nullable Role role) {
    if (s instanceof Stmt.Flow.Roles(List<Role> roles)) {
      roles.forEach(inner -> visit(inner.body(), inner));
      return;
    }
    if (s instanceof Stmt.Flow.Produce p) {
      add(p.pipe(), Kind.PRODUCE, role, p);
    } else if (s instanceof Stmt.Flow.Consume c) {
      add(c.pipe(), c.peek() ? Kind.PEEK : Kind.CONSUME, role, c);
    } else if (s instanceof Stmt.Flow.Skip skip) {
      add(skip.pipe(), Kind.SKIP, role, skip);
    }
    Stmts.children(s).forEach(child -> visit(child, role));
  }

  private void add(Pipe pipe, Kind kind, @Nullable Role role, Stmt.Flow stmt) {
    sites.computeIfAbsent(pipe, p -> new ArrayList<>()).add(new Site(kind, role, stmt));
  }
}
