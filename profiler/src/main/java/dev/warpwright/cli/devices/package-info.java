/** {@code devices}, the targets and devices that other commands name, and what many would take. */
package dev.warpwright.cli.devices;
