/**
 * The page that {@code warpwright explore} shows, and its server.
 *
 * <p>The server listens on the loopback interface only, answers only requests whose Host header
 * names it, lets only its own page post, and sends a content security policy under which the page
 * can load nothing from elsewhere and run no text as code. What it answers beside the page's files
 * is given to it as {@link dev.warpwright.explorer.Endpoint}s: the commands behind them say the
 * same on the command line.
 */
package dev.warpwright.explorer;
