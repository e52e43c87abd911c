/**
 * What "verified" means, derived in one place: how far an honest result may be from its reference,
 * element by element, and what that leaves a wrong one.
 *
 * <h2>One number an element</h2>
 *
 * Beside a reference {@code y} goes a deviation {@code σ}: the standard deviation of everything
 * that honest arithmetic may add to that element before it is rounded to the type of the result.
 * For a sum {@code T = Σ a·b} of K products it follows from its own products (never from norms of
 * the whole, which let a wrong row pass):
 *
 * <pre>{@code Q = Σ (a·b)²   ( ≤ (Σ |a·b|)² )      σ = c · G,  G = √((Q + T²) / 2)}</pre>
 *
 * where c is the {@link dev.warpwright.ir.accuracy.SumAccuracy relative deviation} of K steps in
 * the arithmetic. An epilogue passes σ on through its Lipschitz constants, a network through {@code
 * NetworkDeviation} in module synthetic.
 *
 * <p><b>Why G.</b> A step rounds the partial sum {@code s} that is there, so that the variance of
 * the sum's error is {@code u²/3 · Σ s²} with a rounding unit u. Products of random signs walk; of
 * a walk that ends in T the mean square is {@code Q/6 + T²/3} (a line to T and a bridge), which is
 * at most G². Steps that truncate are biased as well: their error is about {@code K·β·(mean s)},
 * and the mean of the walk, squared, is {@code Q/12 + T²/4} in the mean, at most G²/2.
 *
 * <h2>Three statements about a result</h2>
 *
 * With u the unit roundoff of the result's type and τ half its least number ({@link
 * dev.warpwright.ir.accuracy.ErrorBound}):
 *
 * <ol>
 *   <li><b>Elements:</b> {@code |x − y| ≤ u·(|y| + κσ) + κσ + τ}, κ = 16. The rounding of the
 *       result is bounded, not estimated. The rest is Z·R with Z normal (a sum of many roundings
 *       that are independent of each other's sign) and R the root mean square of the walk, whose
 *       bridge has P(∫B² &gt; r²) ≈ exp(−r²π²/2): z² / 2 + r²π² / 2 = 32 at most gives {@code |Z·R|
 *       ≤ 10·√Q + 5·|T| ≤ 16·G}, so that an honest element fails with a probability of e⁻³² ≈
 *       10⁻¹⁴: once in a million results of 4096².
 *   <li><b>Groups:</b> of {@value dev.warpwright.ir.accuracy.Deviations#GROUP} elements in a row,
 *       {@code Σ (x − y)²/V ≤ 4 · 64} with {@code V = u²y²/3 + σ² + τ²/3}. A lost step k adds
 *       {@code a[i, k]·b[k, j]} to all elements of a row: less than one rounding of bf16 where K is
 *       large, in no single element to be seen, but it doubles the squares. Honest groups have a
 *       mean of 0.3 to 0.6 (uniform roundings are below the unit, and G² is twice the walk's) and a
 *       standard deviation of at most 0.2, if the elements are independent: for products of random
 *       operands they are, given the row of A that they share. For networks they are not, so that
 *       this statement is left out there.
 *   <li><b>The whole:</b> {@code ‖x − y‖ ≤ rtol · ‖y‖}, the contract's.
 * </ol>
 *
 * <p>An element that is not finite while the other is, or differs from it, is always wrong.
 *
 * <h2>What is found</h2>
 *
 * A row, column or element that is not there, or another one's, is off by about √Q, 2⁹ times the
 * bound in bf16. Of a lost step, the first statement finds it where {@code |a·b| > u·|T|}, the
 * second in every row of which 64 elements miss it if {@code |a[i, k]| > 2·√V}: with bf16 results
 * and standard normal operands in 71 % of the rows at K = 4096, in 14 % at K = 65536. What cannot
 * be found: a step lost by a single element whose product is below the rounding of its result.
 */
@NullMarked
package dev.warpwright.ir.accuracy;

import org.jspecify.annotations.NullMarked;
