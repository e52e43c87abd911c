package dev.warpwright.cli.devices;

/** Asks for the devices of this machine; there is nothing to choose. */
public record DevicesRequest() {}
