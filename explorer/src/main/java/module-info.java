/** The local web page: its files, and the server that gives them out. */
module dev.warpwright.explorer {
  requires static org.jspecify;
  requires jdk.httpserver;
  requires transitive dev.warpwright.base;

  exports dev.warpwright.explorer;
}
