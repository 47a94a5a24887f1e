// Backs up `a` and restores the backups as `r`: the restored data is the data that existed during
// the backup.
import { CELLS } from '../cells.ts';
import type { Possible } from '../ledger.ts';
import { Finding } from '../round.ts';
import type { Round } from '../round.ts';
import { keep, lingeringExpiry } from './remove.ts';

type Backup = { readonly bytes: Uint8Array<ArrayBuffer>; readonly possible: Possible };

export async function backUpForever(round: Round): Promise<void> {
  while (!round.isEnding) {
    const backup = await backUp(round);
    if (backup !== undefined && !round.isEnding) await restore(round, backup);
  }
}

async function backUp(round: Round): Promise<Backup | undefined> {
  const { ledger, mark } = round.attack;
  const from = ledger.beginRead();
  try {
    const body = JSON.stringify({ databases: ['a'] });
    const response = await fetch(`${round.url}/api/backup`, { method: 'POST', body });
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (!response.ok) {
      const text = new TextDecoder().decode(bytes);
      if (response.status >= 500 && !round.hasFaults && !round.isEnding) {
        throw new Finding(`backup: ${response.status} ${text}`);
      }
      return undefined;
    }
    mark('backups');
    const cells = CELLS.filter(({ database }) => database === 'a');
    return {
      bytes,
      possible: ledger.possible(cells, from, (cell) => ({ ...cell, database: 'r' })),
    };
  } catch (error) {
    if (error instanceof Finding || !round.isEnding) throw error;
    return undefined;
  } finally {
    ledger.endRead(from);
  }
}

async function restore(round: Round, { bytes, possible }: Backup): Promise<void> {
  const { ledger, mark } = round.attack;
  const gone = ledger.clear('DROP DATABASE r', ({ database }) => database === 'r');
  const dropped = await round.query('DROP DATABASE r');
  if (dropped.kind !== 'series') return gone.unknown();
  gone.acknowledged();
  const begun = await round.ask('/api/restore?database=a&as=r', { method: 'POST' });
  if (begun?.status !== 201) return undefined;
  const { id } = JSON.parse(begun.text) as { id: string };
  const sent = ledger.oneOf('restore', possible);
  // The backup may be of a moment at which rows of `q` were too old.
  const expiry = lingeringExpiry(round, 'r');
  const piece = await round.ask(`/api/restore?id=${id}`, { method: 'PUT', body: bytes });
  const end =
    piece?.status === 204 && (await round.ask(`/api/restore?id=${id}`, { method: 'POST' }));
  if (end !== false && end?.status === 200) {
    mark('restores');
    sent.acknowledged();
    return keep(round, 'r', expiry);
  }
  sent.unknown();
  const text = piece?.status === 204 ? end !== false && end?.text : piece?.text;
  if (round.hasFaults || round.isEnding) return undefined;
  throw new Finding(`restore: ${String(text)}`);
}
