package dev.warpwright.space;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class SpaceTest {
  private final Space space = Spaces.dependent();

  @Test
  void enumeratesEveryPointOnce() {
    List<String> points = new ArrayList<>();
    List<String> rejections = new ArrayList<>();
    boolean all =
        space.enumerate(
            1000,
            drawn -> {
              if (drawn.rejection() == null) {
                points.add(drawn.point().text());
              } else {
                rejections.add(drawn.point().text() + ": " + drawn.rejection().reason());
              }
            });
    assertThat(all).isTrue();
    // wide: tile 64 takes 2, 3 or 4 stages, tile 128 only 2 or 3, of which 3 is rejected.
    assertThat(points)
        .containsExactly(
            "sketch=wide tile=64 stages=2",
            "sketch=wide tile=64 stages=3",
            "sketch=wide tile=64 stages=4",
            "sketch=wide tile=128 stages=2",
            "sketch=narrow split=no",
            "sketch=narrow split=yes ways=2",
            "sketch=narrow split=yes ways=4");
    assertThat(rejections).containsExactly("sketch=wide tile=128 stages=3: shared memory");
  }

  @Test
  void stopsAtTheLimit() {
    List<Point> points = new ArrayList<>();
    assertThat(space.enumerate(3, drawn -> points.add(drawn.point()))).isFalse();
    assertThat(points).hasSize(3);
  }

  @Test
  void replaysWhatWasDrawn() {
    SplittableRandom random = new SplittableRandom(7);
    for (int i = 0; i < 100; i++) {
      Space.Drawn drawn = space.sample(random);
      if (drawn.candidate() != null) {
        Point written = Point.parse(drawn.point().text());
        assertThat(space.fits(written)).isTrue();
        assertThat(space.replay(written).point()).isEqualTo(drawn.point());
      }
    }
  }

  @Test
  void pointsOfOtherSpacesDoNotFit() {
    assertThat(space.fits(Point.parse("sketch=wide tile=32 stages=2"))).isFalse();
    assertThat(space.fits(Point.parse("sketch=narrow"))).isFalse();
    assertThat(space.fits(Point.parse("sketch=wide tile=128 stages=3"))).isFalse();
    // The nearest point that there is.
    assertThat(space.replay(Point.parse("sketch=wide tile=32 stages=3")).point().text())
        .isEqualTo("sketch=wide tile=64 stages=3");
  }

  @Test
  void mutantsDifferInWhatDependsOnOneDecision() {
    SplittableRandom random = new SplittableRandom(3);
    Point parent = Point.parse("sketch=wide tile=64 stages=4");
    HashSet<String> mutants = new HashSet<>();
    for (int i = 0; i < 200; i++) {
      Space.Drawn mutant = space.mutate(parent, random);
      assertThat(mutant.point()).isNotEqualTo(parent);
      mutants.add(mutant.point().text());
    }
    // Stages of 4 are kept where the tile allows them; a tile of 128 decides them anew.
    assertThat(mutants)
        .containsExactlyInAnyOrder(
            "sketch=wide tile=64 stages=2",
            "sketch=wide tile=64 stages=3",
            "sketch=wide tile=128 stages=2",
            "sketch=wide tile=128 stages=3",
            "sketch=narrow split=no",
            "sketch=narrow split=yes ways=2",
            "sketch=narrow split=yes ways=4");
  }

  @Test
  void childrenTakeFromBoth() {
    SplittableRandom random = new SplittableRandom(5);
    Point mother = Point.parse("sketch=wide tile=64 stages=2");
    Point father = Point.parse("sketch=wide tile=128 stages=3");
    HashSet<String> children = new HashSet<>();
    for (int i = 0; i < 200; i++) {
      children.add(space.cross(mother, father, random).point().text());
    }
    assertThat(children)
        .containsExactlyInAnyOrder(
            "sketch=wide tile=64 stages=2",
            "sketch=wide tile=64 stages=3",
            "sketch=wide tile=128 stages=2",
            "sketch=wide tile=128 stages=3");
  }

  @Test
  void aPointIsReadOnlyFromItsForm() {
    assertThatThrownBy(() -> Point.parse("tile")).hasMessageContaining("name=option");
    assertThatThrownBy(() -> Point.parse("tile=1 tile=2")).hasMessageContaining("twice");
    assertThatThrownBy(() -> new Point.Choice("tile", "a b")).hasMessageContaining("visible");
    assertThat(Point.parse("  ")).isEqualTo(Point.EMPTY);
    assertThat(Point.parse("a=1 b=2").with("a", "3").without("b").with("c", "4").text())
        .isEqualTo("a=3 c=4");
  }

  @Test
  void aQuestionIsAskedOnce() {
    Space twice =
        new Space(
            List.of(
                Spaces.sketch(
                    "twice",
                    d -> {
                      d.choose("tile", 1, 2);
                      d.choose("tile", 1, 2);
                      return 1;
                    })));
    assertThatThrownBy(() -> twice.sample(new SplittableRandom(1)))
        .hasMessage("tile is asked twice");
  }
}
