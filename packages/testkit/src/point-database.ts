// A database for tests: keeps points that a test adds and answers queries for ranges of them over
// HTTP.
import { fieldTypeOf } from '@tidemark/core';
import type { FieldValue } from '@tidemark/core';

import { TestServer } from './test-server.ts';

/** A point of a series with one tag `h`. Integers are `bigint`. */
export type StoredPoint = {
  readonly measurement: string;
  readonly host: string;
  readonly time: bigint;
  readonly fields: Readonly<Record<string, FieldValue>>;
};

export class PointDatabase {
  readonly points: StoredPoint[] = [];
  readonly queries: string[] = [];
  readonly #server = new TestServer(({ path }) => {
    const statement = new URL(path, 'http://x').searchParams.get('q') ?? '';
    this.queries.push(statement);
    return {
      headers: { 'Content-Type': 'application/json' },
      body: this.#answer(statement),
    };
  });

  /** Listens on loopback; on the same port when it is called again after `close`. */
  async open(port = 0): Promise<string> {
    await this.#server.open(port);
    return this.#server.url;
  }

  get port(): number {
    return this.#server.port;
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  #answer(statement: string): string {
    const keys = /^SHOW FIELD KEYS ON "d" FROM "r"\."(\w+)"$/.exec(statement);
    if (keys !== null) return answerOf([this.#fieldKeys(keys[1] ?? '')]);
    const select =
      /^SELECT \* FROM "d"\."r"\."(\w+)" WHERE time >= (\d+)(?: AND time < (\d+))? GROUP BY \*$/;
    const [, measurement, start = '0', stop] = select.exec(statement) ?? [];
    if (measurement === undefined) return answerOf([]);
    const found = this.points.filter(
      (point) =>
        point.measurement === measurement &&
        point.time >= BigInt(start) &&
        (stop === undefined || point.time < BigInt(stop)),
    );
    const hosts = [...new Set(found.map(({ host }) => host))].sort();
    return answerOf(
      hosts.map((host) =>
        seriesText(
          measurement,
          host,
          found.filter((p) => p.host === host),
        ),
      ),
    );
  }

  #fieldKeys(measurement: string): string {
    const types = new Map<string, string>();
    for (const point of this.points) {
      if (point.measurement !== measurement) continue;
      for (const [name, value] of Object.entries(point.fields)) types.set(name, fieldTypeOf(value));
    }
    const values = [...types];
    return JSON.stringify({ name: measurement, columns: ['fieldKey', 'fieldType'], values });
  }
}

function answerOf(series: readonly string[]): string {
  return series.length === 0
    ? '{"results":[{}]}'
    : `{"results":[{"series":[${series.join(',')}]}]}`;
}

/**
 * As a database prints it: integers with all digits, floats without a point where they have no
 * fraction.
 */
function seriesText(name: string, host: string, points: readonly StoredPoint[]): string {
  const columns = [...new Set(points.flatMap(({ fields }) => Object.keys(fields)))].sort();
  const rows = points.map(({ time, fields }) => {
    const cells = columns.map((column) => {
      const value = fields[column];
      return typeof value === 'bigint' ? String(value) : JSON.stringify(value ?? null);
    });
    return `[${[time, ...cells].join(',')}]`;
  });
  return `{"name":"${name}","tags":{"h":"${host}"},"columns":${JSON.stringify(['time', ...columns])},"values":[${rows.join(',')}]}`;
}
