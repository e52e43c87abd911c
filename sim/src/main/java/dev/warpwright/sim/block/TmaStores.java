package dev.warpwright.sim.block;

import dev.warpwright.sim.memory.Actor;
import java.util.ArrayList;
import java.util.List;

/**
 * The bulk stores of one thread. Like all asynchronous copies they happen as late as allowed. Two
 * agents stand for them, whose ticks are groups: one for what has been read, one for what has been
 * written.
 */
public final class TmaStores {
  private final BlockRun block;
  private final Actor actor;
  private final int thread;
  private final byte lane;
  private final List<List<Store>> groups = new ArrayList<>();
  private List<Store> open = new ArrayList<>();
  private int read;
  private int written;
  private int reader = -1;
  private int writer = -1;

  /** One store. */
  public interface Store {
    /** Reads shared memory. */
    void read();

    /** Writes global memory what was read. */
    void write();
  }

  TmaStores(BlockRun block, Actor actor, int thread) {
    this.block = block;
    this.actor = actor;
    this.thread = thread;
    this.lane = (byte) (thread % 32);
  }

  public void add(Store store) {
    open.add(store);
  }

  /** The epoch at whose end the next store has read its source. */
  public long readEpoch() {
    if (reader < 0) {
      reader = block.agents().add(block, "a bulk store by thread " + thread);
      writer = block.agents().add(block, "a bulk store by thread " + thread);
    }
    block.outstanding.learn(reader, groups.size() + 1);
    return actor.epoch(reader, groups.size() + 1);
  }

  /** The epoch at whose end it has been written. */
  public long writeEpoch() {
    return actor.epoch(writer, groups.size() + 1);
  }

  public void commit() {
    groups.add(open);
    open = new ArrayList<>();
  }

  /** Completes the reading of all but so many groups. */
  public void awaitRead(long pending) {
    for (; read < groups.size() - pending; read++) {
      groups.get(read).forEach(Store::read);
    }
    if (reader >= 0) {
      actor.learn(lane, reader, read);
    }
  }

  /** Completes all but so many groups. */
  public void await(long pending) {
    awaitRead(pending);
    for (; written < groups.size() - pending; written++) {
      groups.set(written, write(groups.get(written)));
    }
    if (writer >= 0) {
      actor.learn(lane, writer, written);
    }
  }

  private static List<Store> write(List<Store> group) {
    group.forEach(Store::write);
    return List.of();
  }

  /** What is left when the thread ends. */
  void finish() {
    int waited = read;
    commit();
    for (; read < groups.size(); read++) {
      groups.get(read).forEach(Store::read);
    }
    for (; written < groups.size(); written++) {
      write(groups.get(written));
    }
    read = waited;
  }
}
