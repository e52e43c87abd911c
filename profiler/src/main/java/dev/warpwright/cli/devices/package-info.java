/** {@code devices}, and the targets and devices that other commands name. */
package dev.warpwright.cli.devices;
