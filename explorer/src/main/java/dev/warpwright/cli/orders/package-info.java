/** {@code order} and {@code analyze}: tile orders, traffic and bounds. */
package dev.warpwright.cli.orders;
