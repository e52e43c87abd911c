/** What is known of whole networks from earlier measurements, and by which key it is found. */
package dev.warpwright.compiler.records;
