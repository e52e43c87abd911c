/**
 * The {@code warpwright} command.
 *
 * <p>A command is one file: a class that declares its options to picocli, checks them, and turns
 * them into a request, a record. What a command <em>does</em> is an {@link
 * dev.warpwright.cli.command.Action} from that request to a {@link
 * dev.warpwright.cli.output.Report}; {@link dev.warpwright.cli.Main} joins the two. {@link
 * dev.warpwright.cli.Cli} prints reports and turns every failure into one line and an {@linkplain
 * dev.warpwright.cli.command.ExitCode exit code}.
 *
 * <p>Each family of commands has its room, a package below this one: {@code run}, {@code kernels},
 * {@code tuning}, {@code orders}, {@code explore}, {@code ladder}, {@code devices}; they share
 * {@code command} and {@code output}. Rooms may use each other, but never in a circle.
 *
 * <p>Standard output carries the result and nothing else: with {@code --json} one JSON document.
 * Progress, notes and errors go to standard error.
 */
package dev.warpwright.cli;
