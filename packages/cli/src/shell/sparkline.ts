// A row of block characters that draws a series of numbers.
import type { Cell } from '@tidemark/client';

const BLOCKS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/**
 * Draws the numbers of a column in at most `width` characters; empty when there are fewer than two.
 */
export function sparkline(cells: readonly Cell[], width: number): string {
  const numbers = cells.map((cell) =>
    typeof cell === 'number' || typeof cell === 'bigint' ? Number(cell) : Number.NaN,
  );
  const present = numbers.filter((value) => !Number.isNaN(value));
  if (present.length < 2) return '';
  const min = present.reduce((a, b) => Math.min(a, b));
  const span = present.reduce((a, b) => Math.max(a, b)) - min;
  const count = Math.min(Math.max(width, 8), numbers.length);
  let drawn = '';
  for (let i = 0; i < count; i++) {
    const part = numbers
      .slice(
        Math.floor((i * numbers.length) / count),
        Math.floor(((i + 1) * numbers.length) / count),
      )
      .filter((value) => !Number.isNaN(value));
    const mean = part.reduce((sum, value) => sum + value, 0) / part.length;
    drawn +=
      part.length === 0
        ? ' '
        : (BLOCKS[span === 0 ? 0 : Math.min(7, Math.floor(((mean - min) / span) * 8))] ?? ' ');
  }
  return drawn;
}
