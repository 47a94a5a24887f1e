// Writes of a few lines, and bodies that the service takes in several parts.
import { lineOf, MEASUREMENTS, TAGS, TIMES } from '../cells.ts';
import type { Cell, Database, Policy } from '../cells.ts';
import type { Round } from '../round.ts';

/** A measurement of rows that only make bodies long; all have the value 1. */
export const FILLER = 'fill';
/** The service takes a body in parts of a mebibyte. */
const FILLER_ROWS = 12_000;
const LONG_ONE_OF = 25;

export async function writeForever(round: Round): Promise<void> {
  while (!round.isEnding) await writeOnce(round);
}

async function writeOnce(round: Round): Promise<void> {
  const { ledger, nextValue, mark } = round.attack;
  const isLong = round.pick(LONG_ONE_OF) === 0;
  const policy: Policy = round.pick(3) === 0 ? 'q' : 'p';
  const database: Database = round.pick(3) === 0 || isLong ? 'b' : 'a';
  const cells = Array.from({ length: isLong ? 4 : 1 + round.pick(6) }, (): Cell => ({
    database,
    policy,
    measurement: round.one(MEASUREMENTS),
    tag: round.one(TAGS),
    time: round.pick(TIMES),
  }));
  const value = nextValue();
  const lines = cells.map((cell) => lineOf(cell, value));
  const body = isLong ? lines.map((line, i) => line + filler(i)).join('') : lines.join('');
  const sent = ledger.set(`write #${value}`, cells, value);
  const search = new URLSearchParams({ db: database, rp: policy });
  const answer = await round.ask(`/write?${search.toString()}`, { method: 'POST', body });
  switch (answer?.status) {
    case 204:
      mark(isLong ? 'long writes acknowledged' : 'writes acknowledged');
      return sent.acknowledged();
    case 404:
    case 500:
      mark('writes refused');
      // Parts before the one that was refused may be there.
      return isLong ? sent.unknown() : sent.refused();
    default:
      mark('writes of unknown outcome');
      return sent.unknown();
  }
}

/** Rows that are the same each time, so that the data does not grow. */
function filler(part: number): string {
  const lines = Array.from({ length: FILLER_ROWS }, (_, i) => {
    return `${FILLER},t=${i % 10} v=1i ${part * FILLER_ROWS + i}000000000\n`;
  });
  return lines.join('');
}
