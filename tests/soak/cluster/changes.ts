// A client that changes its own measurement: writes points again with other values, deletes some,
// drops all and continues with another type. Refused values are not repeated but followed by
// others; in the end exactly the last acknowledged values exist.
import { setTimeout as sleep } from 'node:timers/promises';

import { query, seededRandom } from '@tidemark/testkit';

import type { Client } from './client.ts';
import { DATABASE } from './client.ts';

const SERIES = 10;
const TIMES = 100;
const POINTS_PER_WRITE = 20;

/** Other services see a delete within a second; a busy machine gets more time. */
const VISIBLE_MS = 15_000;

/** The client reads everything after so many changes. */
const CHANGES_PER_CHECK = 25;

/** From one change to the next: each delete is kept for ten minutes, a thousand at most. */
const PAUSE_MS = 250;

export class Changes {
  readonly #client: Client;
  readonly #measurement: string;
  readonly #random: () => number;
  /** Values by series and time. */
  readonly #points = new Map<string, string>();
  #next = 0;
  #isText = false;
  #isStopped = false;
  /** Changes that were acknowledged. */
  count = 0;

  constructor(client: Client, index: number, seed: number) {
    this.#client = client;
    this.#measurement = `changes${index}`;
    this.#random = seededRandom(seed + index);
  }

  async run(): Promise<void> {
    while (!this.#isStopped) {
      const chance = this.#random();
      if (chance < 0.02) await this.#drop();
      else if (chance < 0.08) await this.#delete();
      else await this.#write();
      if (++this.count % CHANGES_PER_CHECK === 0) await this.#check();
      await sleep(PAUSE_MS);
    }
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Differences from what a service has. */
  async differences(tsdb: string): Promise<readonly string[]> {
    const series = await query(tsdb, `SELECT v FROM ${this.#measurement} GROUP BY s`, DATABASE, {
      epoch: 'ns',
    });
    const rows = series.flatMap(({ tags, values = [] }) =>
      values.map(([time, value]) => [`${tags?.['s']}@${String(time)}`, String(value)] as const),
    );
    const problems = this.#differencesFrom(rows);
    const counted = await query(tsdb, `SELECT count(v) FROM ${this.#measurement}`, DATABASE);
    const count = Number(counted[0]?.values?.[0]?.[1] ?? 0);
    if (count !== this.#points.size)
      problems.push(`${this.#measurement}: ${count} points counted of ${this.#points.size}`);
    return problems;
  }

  #differencesFrom(rows: readonly (readonly [key: string, value: string])[]): string[] {
    const found = new Map(rows);
    const problems: string[] = [];
    const say = (what: string, keys: readonly string[]): void => {
      if (keys.length > 0)
        problems.push(
          `${this.#measurement}: ${keys.length} of ${this.#points.size} points ${what}, such as ` +
            `${keys[0]}: ${this.#points.get(keys[0] ?? '')} became ${found.get(keys[0] ?? '')}`,
        );
    };
    say(
      'lost',
      [...this.#points.keys()].filter((key) => !found.has(key)),
    );
    say(
      'back from a delete',
      [...found.keys()].filter((key) => !this.#points.has(key)),
    );
    say(
      'with a value that was not acknowledged last',
      [...found].flatMap(([key, value]) =>
        this.#points.has(key) && this.#points.get(key) !== value ? [key] : [],
      ),
    );
    if (found.size !== rows.length) problems.push(`${this.#measurement}: points are there twice`);
    return problems;
  }

  async #write(): Promise<void> {
    const keys = Array.from({ length: POINTS_PER_WRITE }, () => ({
      series: Math.floor(this.#random() * SERIES),
      time: 1 + Math.floor(this.#random() * TIMES),
    }));
    for (;;) {
      const written = new Map<string, string>();
      for (const { series, time } of keys) written.set(`${series}@${time}`, String(this.#next++));
      const lines = Array.from(written, ([key, value]) => {
        const [series, time] = key.split('@');
        return `${this.#measurement},s=${series} v=${this.#isText ? `"${value}"` : `${value}i`} ${time}`;
      });
      if ((await this.#client.write(lines.join('\n'))) === undefined) continue;
      for (const [key, value] of written) this.#points.set(key, value);
      return;
    }
  }

  async #delete(): Promise<void> {
    const series = Math.floor(this.#random() * SERIES);
    const start = 1 + Math.floor(this.#random() * TIMES);
    const end = start + Math.floor(this.#random() * TIMES);
    await this.#client.change(
      `DELETE FROM ${this.#measurement} WHERE s = '${series}' AND time >= ${start} AND time <= ${end}`,
    );
    for (let time = start; time <= end; time++) this.#points.delete(`${series}@${time}`);
  }

  async #drop(): Promise<void> {
    await this.#client.change(`DROP MEASUREMENT ${this.#measurement}`);
    this.#points.clear();
    this.#isText = !this.#isText;
  }

  /** Reads until what the client has done is there. */
  async #check(): Promise<void> {
    const until = performance.now() + VISIBLE_MS;
    for (;;) {
      const text = await this.#client.read(`SELECT v FROM ${this.#measurement} GROUP BY s`);
      if (text === undefined || text.includes('"partial":true')) {
        // A service that does not answer says nothing about the data.
        if (performance.now() > until) return;
        continue;
      }
      const { results = [] } = JSON.parse(text) as {
        readonly results?: readonly {
          readonly series?: readonly {
            readonly tags?: { readonly s?: string };
            readonly values?: readonly (readonly unknown[])[];
          }[];
        }[];
      };
      const rows = results.flatMap(({ series = [] }) =>
        series.flatMap(({ tags, values = [] }) =>
          values.map(([time, value]) => [`${tags?.s}@${String(time)}`, String(value)] as const),
        ),
      );
      const problems = this.#differencesFrom(rows);
      if (problems.length === 0) return;
      if (performance.now() > until) {
        for (const problem of problems) this.#client.problem(problem);
        return;
      }
      await sleep(500);
    }
  }
}
