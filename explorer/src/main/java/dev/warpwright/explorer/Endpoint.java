package dev.warpwright.explorer;

import java.util.Map;

/** Answers a request of the page. */
@FunctionalInterface
public interface Endpoint {
  /**
   * Answers.
   *
   * @param parameters of the query, or of the form that was posted
   * @return a JSON document
   * @throws dev.warpwright.base.UserError if a parameter is wrong; its message is shown
   * @throws dev.warpwright.base.DeviceError if something is missing; its message is shown
   */
  String answer(Map<String, String> parameters);
}
