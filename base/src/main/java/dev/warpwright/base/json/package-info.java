/** JSON: values, a writer, and a strict reader of texts that may be hostile. */
package dev.warpwright.base.json;
