/** {@code run} and {@code plan}: models. */
package dev.warpwright.cli.run;
