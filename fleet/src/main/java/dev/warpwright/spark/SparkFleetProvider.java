package dev.warpwright.spark;

import dev.warpwright.base.DeviceError;
import dev.warpwright.base.UserError;
import dev.warpwright.space.record.CandidateFailure;
import dev.warpwright.tune.fleet.Fleet;
import dev.warpwright.tune.fleet.FleetProvider;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkException;
import org.apache.spark.api.java.JavaSparkContext;

/** Opens fleets by the names of Spark's masters; {@code submit} takes what spark-submit says. */
public final class SparkFleetProvider implements FleetProvider {
  private static final Pattern MASTER =
      Pattern.compile("submit|local(\\[(\\d+|\\*)\\])?|(spark|k8s)://.+|yarn");
  private static final Pattern CLUSTER =
      Pattern.compile("local-cluster\\[\\s*(\\d+)\\s*,\\s*\\d+\\s*,\\s*\\d+\\s*\\]");
  private static final String SUBMIT = "submit";
  private static final String EXECUTOR_OPTIONS = "spark.executor.extraJavaOptions";
  private static final String JAVA_OPTIONS =
      "--add-modules=jdk.incubator.vector --enable-native-access=ALL-UNNAMED"
          + " --sun-misc-unsafe-memory-access=allow";
  private static final String START = "spark.warpwright.start.seconds";

  @Override
  public boolean takes(String where) {
    return MASTER.matcher(where).matches() || CLUSTER.matcher(where).matches();
  }

  @Override
  public Fleet open(String where, Map<String, String> settings, Consumer<String> log) {
    SparkConf conf = new SparkConf();
    settings.forEach(conf::set);
    if (!where.equals(SUBMIT)) {
      conf.setMaster(where);
    } else if (!conf.contains("spark.master")) {
      throw new UserError(
          "--on submit: not started by spark-submit; give the master, as spark://host:7077");
    }
    String master = conf.get("spark.master");
    int executors = prepare(conf, master);
    FleetSettings.of(conf);
    double start = conf.getDouble(START, 60);
    try {
      JavaSparkContext context = new JavaSparkContext(conf);
      FleetDesk desk = FleetDesk.current();
      desk.log(log);
      return new SparkFleet(context, desk, executors, start);
    } catch (RuntimeException e) {
      throw new DeviceError(master + ": " + CandidateFailure.oneLine(e));
    } catch (Exception e) {
      // Scala throws what it does not declare.
      if (e instanceof SparkException) {
        throw new DeviceError(master + ": " + CandidateFailure.oneLine(e));
      }
      throw e;
    }
  }

  /** What was not given gets its value here; returns how many executors are expected, 0 if open. */
  private static int prepare(SparkConf conf, String master) {
    conf.setIfMissing("spark.app.name", "warpwright tune");
    conf.set("spark.plugins", FleetPlugin.class.getName());
    // A task waits for the executor it is for, however busy: times are compared within one device.
    conf.setIfMissing("spark.locality.wait", "1h");
    conf.set(EXECUTOR_OPTIONS, (conf.get(EXECUTOR_OPTIONS, "") + " " + JAVA_OPTIONS).strip());
    Matcher cluster = CLUSTER.matcher(master);
    if (master.startsWith("local") && !cluster.matches()) {
      conf.setIfMissing("spark.ui.enabled", "false");
      conf.setIfMissing(ExecutorStation.GPU, "0");
      return 1;
    }
    conf.setIfMissing("spark.executor.resource.gpu.amount", "1");
    if (!conf.get("spark.executor.resource.gpu.amount").equals("0")) {
      conf.setIfMissing("spark.task.resource.gpu.amount", "1");
    }
    if (cluster.matches()) {
      conf.setIfMissing("spark.ui.enabled", "false");
      onThisMachine(conf);
      return Integer.parseInt(cluster.group(1));
    }
    if (!conf.contains("spark.jars")) {
      conf.set("spark.jars", String.join(",", ApplicationClassPath.ours()));
    }
    return conf.getInt("spark.executor.instances", 0);
  }

  /**
   * Spark's workers start executors from an installation, with a folder of jars, and refuse where
   * there is none; but for the variable that Spark's own tests set. Here executors get the class
   * path of this process.
   */
  private static void onThisMachine(SparkConf conf) {
    conf.setIfMissing("spark.executor.extraClassPath", System.getProperty("java.class.path"));
    if (System.getenv("SPARK_HOME") == null) {
      conf.set("spark.executorEnv.SPARK_TESTING", "1");
      conf.set("spark.executorEnv.SPARK_SCALA_VERSION", "2.13");
    }
  }
}
