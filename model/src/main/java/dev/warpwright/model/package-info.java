/**
 * Models as files: {@link dev.warpwright.model.ModelFile} recognises the format of a file and
 * imports it as a {@link dev.warpwright.model.graph.Graph}.
 *
 * <p>Everything read here is untrusted. Every length is checked against the bytes that are left
 * before it is used, and whatever is wrong with a file is reported as one {@link
 * dev.warpwright.base.UserError}. Names inside a file are data: they are kept as they are and
 * escaped by {@link dev.warpwright.base.Names} when they appear in a message.
 */
package dev.warpwright.model;
