package dev.warpwright.ir;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A statement. One family serves all three levels; the verifier says which statements a level
 * admits: {@link Block} in a PrimFunc, {@code Tile…} and {@link Flow} in a tile program, none of
 * them in a {@link Kernel}.
 */
public sealed interface Stmt
    permits Stmt.Seq,
        Stmt.For,
        Stmt.While,
        Stmt.If,
        Stmt.Let,
        Stmt.Alloc,
        Stmt.Store,
        Stmt.Evaluate,
        Stmt.Comment,
        Stmt.Block,
        Stmt.TileCopy,
        Stmt.TileFill,
        Stmt.TileMma,
        Stmt.TileMap,
        Stmt.TileReduce,
        Stmt.Flow {

  /**
   * One after the other; may be empty.
   *
   * @param stmts in order
   */
  record Seq(List<Stmt> stmts) implements Stmt {
    public static final Seq EMPTY = new Seq(List.of());

    /** Copies the list. */
    public Seq {
      stmts = List.copyOf(stmts);
    }
  }

  /**
   * {@code var} takes {@code min, …, min + extent - 1}.
   *
   * @param var scalar integer, of the body only
   * @param min its first value
   * @param extent how many values; none if not positive
   * @param kind how iterations are executed
   * @param axis the launch index that {@code var} is, for {@link ForKind#THREAD_BOUND} only
   * @param attrs decisions about the loop
   * @param body one iteration
   */
  record For(
      Var var,
      Expr min,
      Expr extent,
      ForKind kind,
      @Nullable ThreadAxis axis,
      Attrs attrs,
      Stmt body)
      implements Stmt {
    /** Checks that just a bound loop has a launch index. */
    public For {
      if ((kind == ForKind.THREAD_BOUND) != (axis != null)) {
        throw new IllegalArgumentException(
            "loop " + var + " of kind " + kind + " with axis " + axis);
      }
    }

    /**
     * {@return a loop from 0 without attributes}
     *
     * @param kind how iterations are executed
     * @param var scalar integer
     * @param extent how many values
     * @param body one iteration
     */
    public static For of(ForKind kind, Var var, Expr extent, Stmt body) {
      return new For(var, Exprs.i32(0), extent, kind, null, Attrs.NONE, body);
    }

    /**
     * {@return the same with another body}
     *
     * @param newBody one iteration
     */
    public For withBody(Stmt newBody) {
      return newBody == body ? this : new For(var, min, extent, kind, axis, attrs, newBody);
    }

    /**
     * {@return the same with another body, as a loop of threads: over work items that come in
     * order}
     *
     * @param newBody instead of this one
     */
    public For ofThreads(Stmt newBody) {
      return kind == ForKind.PERSISTENT
          ? new For(var, min, extent, ForKind.SERIAL, axis, attrs.with(Attrs.ITEMS, 1), newBody)
          : withBody(newBody);
    }

    /**
     * {@return the same with other attributes}
     *
     * @param newAttrs instead of all of them
     */
    public For withAttrs(Attrs newAttrs) {
      return new For(var, min, extent, kind, axis, newAttrs, body);
    }
  }

  /**
   * Repeats the body as long as the condition holds. Kernels only.
   *
   * @param condition evaluated before each iteration
   * @param body one iteration
   */
  record While(Expr condition, Stmt body) implements Stmt {}

  /**
   * Executes one of two statements.
   *
   * @param condition scalar bool
   * @param then where it holds
   * @param otherwise where it does not; null for nothing
   */
  record If(Expr condition, Stmt then, @Nullable Stmt otherwise) implements Stmt {}

  /**
   * Binds a value for the body. In the text form: {@code let x = …} up to the end of the enclosing
   * braces.
   *
   * @param var of the value's type
   * @param value evaluated once
   * @param body where the variable may be used
   */
  record Let(Var var, Expr value, Stmt body) implements Stmt {}

  /**
   * Makes a buffer of scope shared, local or fragment (in a PrimFunc: any intermediate) for the
   * body. Its elements are undefined at first. In the text form: {@code alloc b: …} up to the end
   * of the enclosing braces.
   *
   * @param buffer of constant shape in kernels
   * @param body where it may be used
   */
  record Alloc(Buffer buffer, Stmt body) implements Stmt {}

  /**
   * {@code buffer[indices] = value}; a vector value needs a vector as last index, with as many
   * lanes.
   *
   * @param buffer that is written
   * @param indices one for each dimension; only the last may be a vector
   * @param value of the buffer's type
   */
  record Store(Buffer buffer, List<Expr> indices, Expr value) implements Stmt {
    /** Checks that indices and value fit. */
    public Store {
      indices = List.copyOf(indices);
      if (indices.size() != buffer.rank()) {
        throw new IllegalArgumentException(
            "store to "
                + buffer.name()
                + " with "
                + indices.size()
                + " indices, its rank is "
                + buffer.rank());
      }
      int lanes = indices.isEmpty() ? 1 : indices.getLast().type().lanes();
      if (value.type().dtype() != buffer.dtype() || value.type().lanes() != lanes) {
        throw new IllegalArgumentException(
            "store of "
                + value.type()
                + " to "
                + lanes
                + " lane(s) of "
                + buffer.name()
                + ": "
                + buffer.dtype());
      }
    }
  }

  /**
   * Calls an intrinsic for its effect.
   *
   * @param call of an intrinsic
   */
  record Evaluate(Expr.Call call) implements Stmt {}

  /**
   * A remark for the reader, carried into printed CUDA; it does nothing.
   *
   * @param text one line
   */
  record Comment(String text) implements Stmt {}

  /**
   * A unit of computation of a PrimFunc, executed once for each binding of its iteration variables.
   * Before the first reduction instance of each spatial instance (all reduce variables 0), {@code
   * init} runs.
   *
   * @param name by which schedules call it
   * @param iterVars with what they are bound to
   * @param predicate the instance happens only where this holds (in terms of the loops), or null
   *     for always
   * @param reads what the body reads, in terms of the iteration variables
   * @param writes what the body (and init) writes
   * @param init what a reduction begins with; null for nothing
   * @param body one instance
   * @param attrs decisions about the block
   */
  record Block(
      String name,
      List<IterVar> iterVars,
      @Nullable Expr predicate,
      List<Region> reads,
      List<Region> writes,
      @Nullable Stmt init,
      Stmt body,
      Attrs attrs)
      implements Stmt {
    /** Copies the lists. */
    public Block {
      iterVars = List.copyOf(iterVars);
      reads = List.copyOf(reads);
      writes = List.copyOf(writes);
    }

    /** {@return whether it has a variable whose values are combined} */
    public boolean isReduction() {
      return iterVars.stream().anyMatch(IterVar::isReduce);
    }
  }

  /**
   * {@code to[…] = cast(from[…])}, element by element over two tiles of one shape (see {@link
   * Region#tile()}). Elements of {@code from} outside its buffer read as zero; elements of {@code
   * to} outside its buffer are not written.
   *
   * @param to tile that is written
   * @param from tile that is read
   * @param attrs decisions about the copy
   */
  record TileCopy(Region to, Region from, Attrs attrs) implements Stmt {}

  /**
   * Every element of the tile takes the value, which does not depend on the element.
   *
   * @param to tile that is written
   * @param value of each element
   * @param attrs decisions about the statement
   */
  record TileFill(Region to, Expr value, Attrs attrs) implements Stmt {}

  /**
   * {@code c[i, j] += Σₖ a[i, k] · b[k, j]}, with {@code a[k, i]} if {@code transposeA} and {@code
   * b[j, k]} if {@code transposeB}. The operands are widened to c's type (rounded to tf32 first if
   * the attribute {@code instr} says so) and accumulated by fma in ascending k, or as the matrix
   * instruction named by {@code instr} does.
   *
   * @param c tile that is added to
   * @param a tile on the left
   * @param b tile on the right
   * @param transposeA whether a is [k, m], not [m, k]
   * @param transposeB whether b is [n, k], not [k, n]
   * @param attrs decisions about the instruction
   */
  record TileMma(Region c, Region a, Region b, boolean transposeA, boolean transposeB, Attrs attrs)
      implements Stmt {
    /**
     * A multiplication with a as it is.
     *
     * @param c tile that is added to
     * @param a tile on the left
     * @param b tile on the right
     * @param transposeB whether b is [n, k], not [k, n]
     * @param attrs decisions about the instruction
     */
    public TileMma(Region c, Region a, Region b, boolean transposeB, Attrs attrs) {
      this(c, a, b, false, transposeB, attrs);
    }
  }

  /**
   * For every point of the box 0 ≤ vars &lt; extents, the stores in order. Points do not depend on
   * each other: an element that a point writes is read by no other point.
   *
   * @param vars scalar integers
   * @param extents one for each variable
   * @param stores in terms of the variables
   * @param attrs decisions about the statement
   */
  record TileMap(List<Var> vars, List<Expr> extents, List<Store> stores, Attrs attrs)
      implements Stmt {
    /** Copies the lists and checks that they are of one length. */
    public TileMap {
      vars = List.copyOf(vars);
      extents = List.copyOf(extents);
      stores = List.copyOf(stores);
      if (vars.size() != extents.size() || stores.isEmpty()) {
        throw new IllegalArgumentException(
            "map over " + vars + " with extents " + extents + ", " + stores.size() + " stores");
      }
    }
  }

  /**
   * {@code to[indices] = op(to[indices], value)} for every point of the box; {@code indices} use
   * {@code vars} only, {@code value} uses {@code reduceVars} too. The order of the combination is
   * free.
   *
   * @param op by which values are combined
   * @param vars of the result's elements
   * @param extents of these
   * @param reduceVars of what is combined
   * @param reduceExtents of these
   * @param to buffer with the results
   * @param indices of an element, in terms of {@code vars}
   * @param value in terms of all variables
   * @param attrs decisions about the statement
   */
  record TileReduce(
      ReduceOp op,
      List<Var> vars,
      List<Expr> extents,
      List<Var> reduceVars,
      List<Expr> reduceExtents,
      Buffer to,
      List<Expr> indices,
      Expr value,
      Attrs attrs)
      implements Stmt {
    /** Copies the lists and checks that they are of one length. */
    public TileReduce {
      vars = List.copyOf(vars);
      extents = List.copyOf(extents);
      reduceVars = List.copyOf(reduceVars);
      reduceExtents = List.copyOf(reduceExtents);
      indices = List.copyOf(indices);
    }
  }

  /**
   * Who does what when in a tile program: pipes, roles, signals. Alone, one after the other, they
   * mean a queue; {@link Roles} run at once.
   */
  sealed interface Flow extends Stmt {
    /**
     * Makes a pipe for the body. In the text form: {@code pipe p[3] shared (…)} up to the end of
     * the enclosing braces. Inside a role each instance makes its own.
     *
     * @param pipe that is made
     * @param body where it may be used
     */
    record PipeScope(Pipe pipe, Stmt body) implements Flow {}

    /**
     * Waits for the next empty stage, fills it in the body, where the pipe's buffers are that
     * stage's, and commits it.
     *
     * @param pipe made around this
     * @param body what fills a stage
     */
    record Produce(Pipe pipe, Stmt body) implements Flow {}

    /**
     * Waits for the oldest full stage, reads it in the body, where the pipe's buffers are that
     * stage's, and releases it.
     *
     * @param pipe made around this
     * @param peek whether it stays the oldest
     * @param body what reads a stage
     */
    record Consume(Pipe pipe, boolean peek, Stmt body) implements Flow {}

    /**
     * The next {@code count} stages are another instance's of this role.
     *
     * @param pipe made around this
     * @param count stages, 0 or more
     */
    record Skip(Pipe pipe, Expr count) implements Flow {}

    /**
     * All instances of all roles at once; goes on when all are done.
     *
     * @param roles that run beside each other
     */
    record Roles(List<Role> roles) implements Flow {
      /** Copies the list. */
      public Roles {
        roles = List.copyOf(roles);
      }
    }

    /**
     * Adds to a counter, which starts at 0 in each launch. What happened before it has happened for
     * whoever awaits the new value.
     *
     * @param counter i32, in global memory
     * @param indices of the counter's element
     * @param by what is added
     */
    record Signal(Buffer counter, List<Expr> indices, Expr by) implements Flow {
      /** Copies the indices. */
      public Signal {
        indices = List.copyOf(indices);
      }
    }

    /**
     * Waits until a counter has come to a value.
     *
     * @param counter i32, in global memory
     * @param indices of the counter's element
     * @param atLeast the value that is waited for
     */
    record Await(Buffer counter, List<Expr> indices, Expr atLeast) implements Flow {
      /** Copies the indices. */
      public Await {
        indices = List.copyOf(indices);
      }
    }

    /**
     * Adds up what the parts of a tile have summed. Whoever comes last gets the sums of all parts,
     * in the order of their numbers, and executes the body; nothing is left to do for the others.
     *
     * @param sums a fragment, whose parts are alike
     * @param slot the number of the tile, which differs between tiles of several parts
     * @param part the number of this part
     * @param parts of the tile; of one part the body is all
     * @param attrs decisions about the statement
     * @param body what whoever comes last does
     */
    record Combine(Buffer sums, Expr slot, Expr part, Expr parts, Attrs attrs, Stmt body)
        implements Flow {}

    /**
     * Waits for all that launches before this one do. A launch that has this may begin before it.
     */
    record AwaitPrevious() implements Flow {}

    /** From here on the next launch may begin. */
    record SignalNext() implements Flow {}
  }
}
