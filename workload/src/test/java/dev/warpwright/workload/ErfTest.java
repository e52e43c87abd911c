package dev.warpwright.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class ErfTest {
  /** x, erf(x) and erfc(x) from the C library, which is exact to an ulp. */
  private static final double[][] EXPECTED = {
    {0, 0, 1},
    {1e-300, 1.1283791670955126e-300, 1.0},
    {1e-10, 1.1283791670955126e-10, 0.999999999887162},
    {0.1, 0.1124629160182849, 0.8875370839817152},
    {0.4999, 0.5204119951613866, 0.4795880048386134},
    {0.5, 0.5204998778130465, 0.4795001221869535},
    {0.75, 0.7111556336535151, 0.28884436634648486},
    {0.9999, 0.8426592780487595, 0.15734072195124052},
    {1.0, 0.8427007929497149, 0.15729920705028513},
    {1.0001, 0.8427422995485203, 0.1572577004514797},
    {1.5, 0.9661051464753108, 0.033894853524689274},
    {1.9999, 0.9953201979070294, 0.004679802092970608},
    {2.0, 0.9953222650189527, 0.004677734981047265},
    {2.5, 0.999593047982555, 0.0004069520174449589},
    {3.0, 0.9999779095030014, 2.2090496998585438e-05},
    {5.0, 0.9999999999984626, 1.5374597944280351e-12},
    {6.0, 1.0, 2.1519736712498916e-17},
    {-0.3, -0.3286267594591274, 1.3286267594591274},
    {-1.7, -0.9837904585907745, 1.9837904585907746},
    {-4.0, -0.9999999845827421, 1.999999984582742},
    {8.0, 1.0, 1.1224297172982928e-29},
    {15.0, 1.0, 7.212994172451206e-100},
    {26.0, 1.0, 5.663192408856143e-296},
    {28.0, 1.0, 0},
  };

  @Test
  void agreesWithTheCLibrary() {
    for (double[] row : EXPECTED) {
      assertThat(Erf.erf(row[0])).isEqualTo(row[1], within(4 * Math.ulp(row[1])));
      // e^(-x²) itself costs some ulps in the far tail
      assertThat(Erf.erfc(row[0])).isEqualTo(row[2], within(16 * Math.ulp(row[2])));
      assertThat(Erf.erf(-row[0])).isEqualTo(-Erf.erf(row[0]));
    }
  }

  @Test
  void isDefinedEverywhere() {
    assertThat(Erf.erf(Double.POSITIVE_INFINITY)).isEqualTo(1);
    assertThat(Erf.erf(Double.NEGATIVE_INFINITY)).isEqualTo(-1);
    assertThat(Erf.erfc(Double.POSITIVE_INFINITY)).isEqualTo(0);
    assertThat(Erf.erfc(Double.NEGATIVE_INFINITY)).isEqualTo(2);
    assertThat(Erf.erf(Double.NaN)).isNaN();
    assertThat(Erf.erfc(Double.NaN)).isNaN();
  }
}
