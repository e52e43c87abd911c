package dev.warpwright.model.zip;

import dev.warpwright.base.Names;
import dev.warpwright.base.UserError;
import dev.warpwright.model.io.Utf8;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * The entries of a ZIP archive, where they lie in the bytes. Only what PyTorch writes is accepted:
 * entries that are stored, not compressed, so nothing can grow when it is read (a compressed one is
 * listed, but refused when it is asked for); no encryption, no second disk, no name twice or that
 * leaves the archive, no bytes shared by entries. An entry's checksum is compared when it is first
 * asked for, so that entries that are not needed are not read.
 */
public final class ZipArchive {
  private static final int END_SIZE = 22;
  private static final int MAX_COMMENT = 0xFFFF;

  /** Bytes whose checksum is computed at a time: as many as a buffer can have, or fewer. */
  private static final long CHUNK = 1 << 28;

  private static final long SATURATED = 0xFFFF_FFFFL;
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final String file;
  private final MemorySegment bytes;
  private final Map<String, Entry> entries = new LinkedHashMap<>();
  private final Set<String> checked = new HashSet<>();
  private final List<Range> ranges = new ArrayList<>();

  /** What an entry holds; as stored, whether it is compressed or not. */
  private record Entry(MemorySegment content, boolean compressed, int checksum) {}

  /** The bytes that an entry takes, with its local header. */
  private record Range(String name, long begin, long end) {}

  private record Directory(long count, long offset, long size) {}

  /** One record of the central directory. */
  private record Record(String name, int flags, int method, int checksum, long size, long offset) {}

  private ZipArchive(String file, MemorySegment bytes) {
    this.file = file;
    this.bytes = bytes;
  }

  /**
   * Reads the directory of an archive and checks every entry.
   *
   * @throws UserError if the archive is corrupt, or has what PyTorch does not write
   */
  public static ZipArchive read(String file, MemorySegment bytes) {
    ZipArchive archive = new ZipArchive(file, bytes);
    archive.readDirectory(archive.directory());
    archive.checkRanges();
    return archive;
  }

  /** The names of the entries, in the order of the directory. */
  public Set<String> names() {
    return entries.keySet();
  }

  /**
   * The bytes of an entry, or null if there is none of this name.
   *
   * @throws UserError if it is compressed, or its checksum is not that of the archive
   */
  public @Nullable MemorySegment entry(String name) {
    Entry entry = entries.get(name);
    if (entry == null) {
      return null;
    }
    if (entry.compressed()) {
      throw error("entry " + Names.quote(name) + " is compressed, which PyTorch never does");
    }
    if (checked.add(name) && checksum(entry.content()) != entry.checksum()) {
      throw error(
          "entry "
              + Names.quote(name)
              + " does not have its checksum; if it was saved after"
              + " torch.serialization.set_crc32_options(False), save it again with checksums");
    }
    return entry.content();
  }

  private static int checksum(MemorySegment content) {
    CRC32 crc = new CRC32();
    for (long at = 0; at < content.byteSize(); at += CHUNK) {
      crc.update(content.asSlice(at, Math.min(CHUNK, content.byteSize() - at)).asByteBuffer());
    }
    return (int) crc.getValue();
  }

  private Directory directory() {
    long end = findEnd();
    long count = u16(end + 10);
    long size = u32(end + 12);
    long offset = u32(end + 16);
    long limit = end;
    if (count == 0xFFFF || size == SATURATED || offset == SATURATED) {
      long locator = end - 20;
      if (locator < 0 || u32(locator) != 0x07064b50) {
        throw error("the locator of its 64-bit directory is missing");
      }
      long end64 = i64(locator + 8);
      if (end64 < 0 || end64 > locator - 56 || u32(end64) != 0x06064b50) {
        throw error("its 64-bit directory is not where it should be");
      }
      count = i64(end64 + 32);
      size = i64(end64 + 40);
      offset = i64(end64 + 48);
      limit = end64;
    }
    if (offset < 0 || size < 0 || offset > limit || size > limit - offset) {
      throw error("its directory lies outside the file");
    }
    return new Directory(count, offset, size);
  }

  /** The record at the end, which only a comment may follow. */
  private long findEnd() {
    long last = bytes.byteSize() - END_SIZE;
    for (long at = last; at >= Math.max(0, last - MAX_COMMENT); at--) {
      if (u32(at) == 0x06054b50 && u16(at + 20) == last - at) {
        return at;
      }
    }
    throw new UserError(
        file + ": truncated or corrupt ZIP archive: it has no directory at its end");
  }

  private void readDirectory(Directory directory) {
    long at = directory.offset();
    long end = at + directory.size();
    long count = 0;
    while (at < end) {
      if (end - at < 46 || u32(at) != 0x02014b50) {
        throw error("its directory is malformed");
      }
      long next = at + 46 + u16(at + 28) + u16(at + 30) + u16(at + 32);
      if (next > end) {
        throw error("its directory is malformed");
      }
      add(record(at), directory.offset());
      at = next;
      count++;
    }
    if (count != directory.count()) {
      throw error("its directory has " + count + " entries instead of " + directory.count());
    }
  }

  private Record record(long at) {
    String name = name(at + 46, u16(at + 28));
    long packed = u32(at + 20);
    long size = u32(at + 24);
    long offset = u32(at + 42);
    if (packed == SATURATED || size == SATURATED || offset == SATURATED) {
      long field = zip64(at + 46 + u16(at + 28), u16(at + 30), name);
      long left = u16(field + 2);
      long value = field + 4;
      // the field has only those that are saturated, in this order
      for (int i = 0; i < 3; i++) {
        long old = i == 0 ? size : i == 1 ? packed : offset;
        if (old == SATURATED) {
          if (left < 8) {
            throw error("entry " + Names.quote(name) + " lacks its 64-bit sizes");
          }
          long wide = i64(value);
          size = i == 0 ? wide : size;
          packed = i == 1 ? wide : packed;
          offset = i == 2 ? wide : offset;
          value += 8;
          left -= 8;
        }
      }
    }
    int method = u16(at + 10);
    if (method == 0 && packed != size) {
      throw error("entry " + Names.quote(name) + " is stored, but with two sizes");
    }
    return new Record(name, u16(at + 8), method, (int) u32(at + 16), packed, offset);
  }

  /** Where the field with 64-bit sizes is among the extra fields of an entry. */
  private long zip64(long at, int length, String name) {
    long end = at + length;
    while (end - at >= 4) {
      long next = at + 4 + u16(at + 2);
      if (u16(at) == 1 && next <= end) {
        return at;
      }
      at = next;
    }
    throw error("entry " + Names.quote(name) + " lacks its 64-bit sizes");
  }

  private String name(long at, int length) {
    String name = length == 0 ? null : Utf8.decode(bytes.asSlice(at, length));
    if (name == null) {
      throw error("an entry has no name, or one that is no UTF-8 text");
    }
    boolean leaves = List.of(name.split("/", -1)).contains("..");
    if (leaves || name.startsWith("/") || name.indexOf('\\') >= 0 || name.indexOf('\0') >= 0) {
      throw error("entry " + Names.quote(name) + " has a path that leaves the archive");
    }
    return name;
  }

  private void add(Record entry, long limit) {
    String what = "entry " + Names.quote(entry.name());
    if ((entry.flags() & 1) != 0) {
      throw error(what + " is encrypted");
    }
    long at = entry.offset();
    if (at < 0 || at > limit - 30 || u32(at) != 0x04034b50) {
      throw error(what + " does not begin where the directory says");
    }
    int nameLength = u16(at + 26);
    long begin = at + 30 + nameLength + u16(at + 28);
    if (begin > limit || entry.size() < 0 || entry.size() > limit - begin) {
      throw error(what + " reaches beyond the archive's data");
    }
    if (u16(at + 8) != entry.method() || !name(at + 30, nameLength).equals(entry.name())) {
      throw error(what + " is called otherwise where it begins");
    }
    MemorySegment content = bytes.asSlice(begin, entry.size());
    Entry made = new Entry(content, entry.method() != 0, entry.checksum());
    if (entries.put(entry.name(), made) != null) {
      throw error(what + " is there twice");
    }
    ranges.add(new Range(entry.name(), at, begin + entry.size()));
  }

  private void checkRanges() {
    ranges.sort(Comparator.comparingLong(Range::begin));
    for (int i = 1; i < ranges.size(); i++) {
      if (ranges.get(i).begin() < ranges.get(i - 1).end()) {
        throw error("entry " + Names.quote(ranges.get(i).name()) + " overlaps another");
      }
    }
  }

  private int u16(long at) {
    return Short.toUnsignedInt(bytes.get(SHORT, at));
  }

  private long u32(long at) {
    return Integer.toUnsignedLong(bytes.get(INT, at));
  }

  private long i64(long at) {
    return bytes.get(LONG, at);
  }

  private UserError error(String what) {
    return new UserError(file + ": corrupt ZIP archive: " + what);
  }
}
