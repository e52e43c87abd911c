package dev.warpwright.cli.hostile;

/** What hostile input there is. */
enum HostileKind {
  MODELS(new HostileModels()),
  KERNELS(new HostileKernels()),
  ORDERS(new HostileOrders()),
  DATABASES(new HostileDatabases()),
  COMMANDS(new HostileCommandLines()),
  SURROUNDINGS(new HostileSurroundings());

  final Hostile hostile;

  HostileKind(Hostile hostile) {
    this.hostile = hostile;
  }
}
