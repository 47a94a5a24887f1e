// One life of the service, as its clients see it.
import { send } from '@tidemark/testkit';
import type { Answer } from '@tidemark/testkit';

import type { Ledger } from './ledger.ts';

/** A violated invariant. */
export class Finding extends Error {
  override readonly name = 'Finding';
}

/** The state kept between rounds. */
export type Attack = {
  readonly ledger: Ledger;
  /** A number in [0, 1). */
  readonly random: () => number;
  /** Values are given once. */
  readonly nextValue: () => number;
  readonly mark: (name: string, times?: number) => void;
  readonly say: (line: string) => void;
};

/** Refused because of a fault that was made. */
const UNAVAILABLE = 503;

/** The answer of InfluxDB has this status, too. */
const FAULT = /ENOSPC|EIO/;
const NO_POLICY = /retention policy not found/;

export class Round {
  readonly attack: Attack;
  readonly number: number;
  readonly url: string;
  /** Syncs fail or the disk is full: requests may be refused. */
  readonly hasFaults: boolean;
  /** The service is being ended, so connections may be lost. */
  isEnding = false;
  /**
   * Expiry that may go on as long as this service, or the next one that finds it in its catalog.
   */
  readonly lingering: { readonly end: () => void; lastRound: number }[] = [];

  constructor(
    attack: Attack,
    { number, url, hasFaults }: Pick<Round, 'number' | 'url' | 'hasFaults'>,
  ) {
    this.attack = attack;
    this.number = number;
    this.url = url;
    this.hasFaults = hasFaults;
  }

  /** An integer in [0, end). */
  pick(end: number): number {
    return Math.floor(this.attack.random() * end);
  }

  one<T>(list: readonly T[]): T {
    return list[this.pick(list.length)]!;
  }

  /** The answer; `undefined` when the service ended before it came. */
  async ask(path: string, init: RequestInit): Promise<Answer | undefined> {
    let answer: Answer;
    try {
      answer = await send(`${this.url}${path}`, init);
    } catch (error) {
      if (!this.isEnding)
        throw new Finding(`${path}: no answer: ${String(error)} ${String((error as Error).cause)}`);
      this.attack.mark('requests without an answer');
      return undefined;
    }
    const { status, text } = answer;
    if (status === UNAVAILABLE && (this.hasFaults || this.isEnding)) {
      this.attack.mark('requests refused because of a fault');
    } else if (this.hasFaults && FAULT.test(text)) {
      this.attack.mark('requests that met a fault');
    } else if (status >= 500 && !NO_POLICY.test(text)) {
      throw new Finding(`${path}: ${status} ${text}`);
    }
    return answer;
  }

  /** The result of a statement: its series, or its error. */
  async query(q: string, parameters: Readonly<Record<string, string>> = {}): Promise<Result> {
    const body = new URLSearchParams({ q, epoch: 'ns', ...parameters });
    return resultOf(await this.ask('/query', { method: 'POST', body }));
  }
}

export type Series = {
  readonly name?: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly columns: readonly string[];
  readonly values: readonly (readonly unknown[])[];
};

export type Result =
  | { readonly kind: 'series'; readonly series: readonly Series[] }
  | { readonly kind: 'refused'; readonly reason: string }
  /** Nobody knows what has become of it. */
  | { readonly kind: 'unknown' };

/** Without rows there are no values. */
type Answered = Omit<Series, 'values'> & Partial<Pick<Series, 'values'>>;

type Body = {
  readonly error?: string;
  readonly results?: readonly { readonly error?: string; readonly series?: readonly Answered[] }[];
};

function resultOf(answer: Answer | undefined): Result {
  if (answer === undefined || answer.status === UNAVAILABLE) return { kind: 'unknown' };
  const { error, results = [] } = JSON.parse(answer.text) as Body;
  const reason = error ?? results.find((result) => result.error !== undefined)?.error;
  if (reason === undefined) {
    const series = results.flatMap((result) => result.series ?? []);
    return { kind: 'series', series: series.map((one) => ({ ...one, values: one.values ?? [] })) };
  }
  // A statement that had begun may be partly done.
  const isDone = /log cannot be written|no space|EIO|storage (is|thread)|closing|stops/i.test(
    reason,
  );
  return isDone ? { kind: 'unknown' } : { kind: 'refused', reason };
}
