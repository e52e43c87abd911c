package dev.warpwright.cli.explore;

import java.nio.file.Path;

/**
 * Asks for the page.
 *
 * @param port 0 for any
 * @param kernels the folder whose kernels are shown
 * @param database whose tuning runs are shown
 */
public record ExploreRequest(int port, Path kernels, Path database) {}
