package dev.warpwright.cli.output;

import dev.warpwright.ir.json.Json;

/**
 * The result of a command.
 *
 * @param ok whether all that was asked is done and no check failed; decides between exit codes 0
 *     and 1
 * @param text what is printed, lines separated by {@code \n}, without the last line end; empty
 *     prints nothing
 * @param json what is printed instead with {@code --json}
 */
public record Report(boolean ok, String text, Json json) {}
