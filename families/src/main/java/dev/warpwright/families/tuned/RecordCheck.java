package dev.warpwright.families.tuned;

import dev.warpwright.base.UserError;
import dev.warpwright.cuda.CudaPrinter;
import dev.warpwright.cuda.SourceHash;
import dev.warpwright.families.space.GemmSpace;
import dev.warpwright.schedule.error.ScheduleError;
import dev.warpwright.space.Candidate;
import dev.warpwright.space.Point;
import dev.warpwright.space.Rejected;
import dev.warpwright.space.Space;
import dev.warpwright.space.record.Environment;
import dev.warpwright.space.record.TuningRecord;
import dev.warpwright.target.GpuTarget;
import dev.warpwright.workload.GemmWorkload;
import dev.warpwright.workload.kernel.BoundKernel;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Whether a record still tells of the kernel that would run: the same source, compiled by the same
 * compiler, under the same driver, on a device of that name. Where one of them is another, what was
 * verified and timed is another kernel than this one; its decisions are a good first choice and no
 * more, until it is verified and timed again.
 */
public final class RecordCheck {
  private RecordCheck() {}

  /**
   * The candidate that a record's decisions lead to; empty if they are no point of its workload's
   * space any more.
   */
  public static Optional<Candidate> candidate(
      GemmWorkload workload, GpuTarget target, int sms, Point point) {
    Space.Drawn drawn = GemmSpace.of(workload, target, sms, point).replay(point);
    return drawn.candidate() != null && drawn.point().agrees(point)
        ? Optional.of(drawn.candidate())
        : Optional.empty();
  }

  /**
   * What a record does not hold for, in words: {@code another source}; empty if it holds.
   *
   * @param candidate what its decisions lead to today
   * @param here where the kernel is to run; what is blank is not known and not compared, null if
   *     nothing is
   */
  public static String untested(
      TuningRecord record, Candidate candidate, GpuTarget target, @Nullable Environment here) {
    return untested(record, sourceHash(candidate, target), here);
  }

  /** The same of a record whose decisions lead to a source of this hash today. */
  public static String untested(
      TuningRecord record, String sourceHash, @Nullable Environment here) {
    List<String> reasons = new ArrayList<>();
    if (!SourceHash.isOf(record.sourceHash(), sourceHash)) {
      reasons.add("another source");
    }
    if (here != null) {
      Environment then = record.environment();
      compare("device", then.device(), here.device(), reasons);
      compare("driver", then.driver(), here.driver(), reasons);
      compare("compiler", then.toolkit(), here.toolkit(), reasons);
    }
    return String.join(", ", reasons);
  }

  private static void compare(String what, String then, String now, List<String> reasons) {
    if (!now.isBlank() && !then.equals(now)) {
      reasons.add(
          String.format(
              Locale.ROOT, "%s %s, here %s", what, then.isBlank() ? "unknown" : then, now));
    }
  }

  /** SHA-256 of what is printed today; empty if the kernel cannot be made. */
  public static String sourceHash(Candidate candidate, GpuTarget target) {
    try {
      return SourceHash.of(
          CudaPrinter.print(
              BoundKernel.of(candidate.kernel().get(), candidate.values()).kernel(), target));
    } catch (Rejected | ScheduleError | UserError e) {
      return "";
    }
  }
}
