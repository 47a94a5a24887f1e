// Windows of groups from several requests: groups in the order of the answer, and in each of them
// the windows of one request after those of another.
import type { GroupKey } from '../batch/row-batch.ts';
import { eachGroup } from '../merge/each-group.ts';
import { flatMapBatches } from '../operator.ts';
import type { Operator } from '../operator.ts';

type Grouped = { readonly group: GroupKey; readonly isTied?: boolean | undefined };

/** Each stream has its groups in the order of the answer. Batches of one group share its object. */
export function mergeGroups<T extends Grouped>(
  streams: readonly Operator<T>[],
  { descending }: { readonly descending: boolean },
): Operator<T> {
  return eachGroup<T, T>(streams, descending, concat);
}

function* concat<T>(members: readonly Operator<T>[]): Operator<T> {
  for (const member of members) yield* member;
}

type Counting<T> = {
  /** The memory that a batch has. */
  readonly bytesOf: (batch: T) => number;
  readonly hold: (bytes: number) => void;
};

/**
 * Batches of whole groups, whose memory is counted; of a group that is tied in one of them, only
 * that one.
 */
export function* tiedAsWhole<T extends Grouped>(
  batches: Operator<T>,
  counting: Counting<T>,
): Operator<T> {
  const whole = new WholeGroup(counting);
  yield* flatMapBatches(batches, (batch) => whole.push(batch));
  yield* whole.finish();
}

class WholeGroup<T extends Grouped> {
  readonly #counting: Counting<T>;
  #parts: T[] = [];
  #bytes = 0;

  constructor(counting: Counting<T>) {
    this.#counting = counting;
  }

  *push(batch: T): Operator<T> {
    if (this.#parts[0]?.group !== batch.group) yield* this.finish();
    const bytes = this.#counting.bytesOf(batch);
    this.#counting.hold(bytes);
    this.#bytes += bytes;
    this.#parts.push(batch);
  }

  *finish(): Operator<T> {
    const parts = this.#parts;
    const tied = parts.find(({ isTied }) => isTied === true);
    this.#counting.hold(-this.#bytes);
    this.#bytes = 0;
    this.#parts = [];
    yield* tied === undefined ? parts : [tied];
  }
}
