/** What shells and {@code man} are told of the command line. */
package dev.warpwright.cli.manual;
