// Looks for a text within many that lie one after another, without looking at each of them.
import { firstBits } from './bytes';

/**
 * Sets the byte of `marks` for each of `count` texts that contains the `length` bytes of `needle`,
 * and clears the others. Text i is at `texts`, from offset i to offset i + 1 of `offsets` (u32
 * each). `length` is at least one. Up to 15 bytes behind the texts and the needle are read.
 */
export function markTexts(
  texts: usize,
  offsets: usize,
  count: u32,
  needle: usize,
  length: usize,
  marks: usize,
): void {
  memory.fill(marks, 0, <usize>count);
  const end = texts + <usize>load<u32>(offsets + <usize>count * 4);
  let position = texts + <usize>load<u32>(offsets);
  if (end < position + length) return;
  const last = end - length;
  const firstBytes = i8x16.splat(load<u8>(needle));
  const lastBytes = i8x16.splat(load<u8>(needle + length - 1));
  let text: u32 = 0;
  while (position <= last) {
    // Places at which the first and the last byte of the needle are as far apart as in it.
    let places = i8x16.bitmask(
      v128.and(
        i8x16.eq(v128.load(position), firstBytes),
        i8x16.eq(v128.load(position + length - 1), lastBytes),
      ),
    );
    places &= firstBits(last - position + 1);
    let next = position + 16;
    while (places !== 0) {
      const place = position + <usize>ctz(places);
      places &= places - 1;
      while (texts + <usize>load<u32>(offsets + (<usize>text + 1) * 4) <= place) text++;
      const textEnd = texts + <usize>load<u32>(offsets + (<usize>text + 1) * 4);
      if (place + length > textEnd || memory.compare(place, needle, length) !== 0) continue;
      store<u8>(marks + <usize>text, 1);
      // The rest of this text does not matter.
      next = textEnd;
      break;
    }
    position = next;
  }
}

/** Writes for each of `rows` codes (u32 each) the byte of `ofTexts` at the code. */
export function marksOfCodes(codes: usize, rows: u32, ofTexts: usize, marks: usize): void {
  for (let row: usize = 0; row < <usize>rows; row++) {
    store<u8>(marks + row, load<u8>(ofTexts + <usize>load<u32>(codes + row * 4)));
  }
}
