/** {@code explore}: the local web page. */
package dev.warpwright.cli.explore;
