package dev.warpwright.base.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warpwright.base.UserError;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class UserFoldersTest {
  @Test
  void everythingIsInOneHome() {
    UserFolders folders = new UserFolders(Map.of("HOME", "/given"), "/account");
    assertThat(folders.home()).contains(Path.of("/given"));
    assertThat(folders.cache()).contains(Path.of("/given/.cache/warpwright"));
    assertThat(folders.data()).isEqualTo(Path.of("/given/.local/share/warpwright"));
    assertThat(folders.state()).isEqualTo(Path.of("/given/.local/state/warpwright"));
    assertThat(folders.database()).isEqualTo(Path.of("/given/.local/share/warpwright/tuning.db"));
  }

  @Test
  void theSystemKnowsAHomeTooAndVariablesMoveParts() {
    UserFolders folders =
        new UserFolders(
            Map.of("HOME", " ", "XDG_CACHE_HOME", "/c", "XDG_DATA_HOME", "relative"), "/account");
    assertThat(folders.cache()).contains(Path.of("/c/warpwright"));
    assertThat(folders.data()).isEqualTo(Path.of("/account/.local/share/warpwright"));
    UserFolders own =
        new UserFolders(Map.of("WARPWRIGHT_CACHE", "here", "WARPWRIGHT_DB", "x.db"), "?");
    assertThat(own.cache()).contains(Path.of("here"));
    assertThat(own.database()).isEqualTo(Path.of("x.db"));
  }

  /** Java calls the home of a user whom the system does not know {@code ?}: that is no folder. */
  @Test
  void withoutAHomeThereIsNone() {
    UserFolders folders = new UserFolders(Map.of(), "?");
    assertThat(folders.home()).isEmpty();
    assertThat(folders.cache()).isEmpty();
    assertThatThrownBy(folders::database)
        .isInstanceOf(UserError.class)
        .hasMessage("this user has no home folder; set HOME or XDG_DATA_HOME");
    assertThatThrownBy(folders::state).hasMessageEndingWith("XDG_STATE_HOME");
  }
}
