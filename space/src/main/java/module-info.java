import org.jspecify.annotations.NullMarked;

@NullMarked
module dev.warpwright.space {
  requires static org.jspecify;
  requires static java.sql;
  requires static org.xerial.sqlitejdbc;
  requires transitive dev.warpwright.base;
  requires transitive dev.warpwright.ir;
  requires transitive dev.warpwright.text;
  requires transitive dev.warpwright.workload;

  exports dev.warpwright.space;
  exports dev.warpwright.space.record;
}
