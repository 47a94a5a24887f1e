// Turns rows for the tasks of one host into messages to it.
import type { PointBatch } from '../point-batch.ts';
import { BatchPacker, movable, packedBytes } from './batch-codec.ts';
import type { RowsForTasks } from './host-link.ts';
import type { AnyRows, RowsEntry, ToHost } from './protocol.ts';
import { REMEMBERED_BYTES_MAX, RememberedBatches } from './remembered-batches.ts';

/** A message, and the buffers in it that can be transferred. */
export type RowsMessage = {
  readonly message: ToHost & { readonly kind: 'rows' };
  readonly buffers: readonly ArrayBuffer[];
};

export class RowsSender {
  readonly #packer = new BatchPacker();
  readonly #numbers = new Map<PointBatch, number>();
  readonly #remembered = new RememberedBatches<PointBatch>((batch) => this.#numbers.delete(batch));
  readonly #rowsMovedMin: number | undefined;

  /** Batches of fewer rows are copied instead of moved. */
  constructor(rowsMovedMin?: number) {
    this.#rowsMovedMin = rowsMovedMin;
  }

  send(rows: readonly RowsForTasks[]): RowsMessage {
    const buffers = new Set<ArrayBuffer>();
    const entries = rows.map((row) => this.#entry(row, buffers));
    return { message: { kind: 'rows', entries }, buffers: [...buffers] };
  }

  /** Rows that were packed elsewhere, without numbers for series. */
  adopt(entries: readonly RowsEntry[]): RowsMessage {
    const buffers = new Set<ArrayBuffer>();
    const adopted = entries.map((entry) => ({
      ...entry,
      batch: movable(this.#packer.adopt(entry.batch), buffers, this.#rowsMovedMin),
    }));
    return { message: { kind: 'rows', entries: adopted }, buffers: [...buffers] };
  }

  #entry({ batch, isOurs, isKept, ...to }: RowsForTasks, buffers: Set<ArrayBuffer>): AnyRows {
    const number = this.#numbers.get(batch);
    if (number !== undefined) {
      if (!isKept) this.#remembered.forget(number);
      return { ...to, number, isKept };
    }
    const packed = this.#packer.pack(batch);
    const sizeBytes = isKept ? packedBytes(packed) : 0;
    if (!isKept || sizeBytes > REMEMBERED_BYTES_MAX)
      return {
        ...to,
        batch: isOurs ? movable(packed, buffers, this.#rowsMovedMin) : packed,
        isKept: false,
      };
    this.#numbers.set(batch, this.#remembered.add(batch, sizeBytes));
    return { ...to, batch: packed, isKept };
  }
}
