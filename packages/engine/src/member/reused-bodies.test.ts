// The memory of a body is used for the next one, but not while points of its write are on their way
// to the log; those in the log, or waiting for a slow reader, are no longer in it.
import { NatsCoordinator } from '@tidemark/cluster';
import type { SharedLog } from '@tidemark/cluster';
import { deferred, OpenParts, systemClock } from '@tidemark/core';
import type { Deferred } from '@tidemark/core';
import type { PointBatch } from '@tidemark/runtime';
import { hasPrograms, makeDirectory, removeDirectory, TestCoordinator } from '@tidemark/testkit';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { resolveEngineConfig } from '../config/config.ts';
import { recordedPoints } from '../jobs/points.ts';
import { LogHub } from '../observability/log-hub.ts';
import { THIS_BUILD } from '../shared-log/build.ts';
import { PointLog } from '../shared-log/point-log.ts';
import { UnreadablePoints } from '../shared-log/unreadable-points.ts';
import { openStandIn } from './stand-in.ts';

const ROWS = 3000;
/** A write of so many rows is several records. */
const RECORD_BYTES = 50_000;

const linesOf = (name: string): readonly string[] =>
  Array.from({ length: ROWS }, (_, i) => `m,client=${name} v=${i},text="${name} wrote ${i}" ${i}`);

describe.runIf(hasPrograms('nats-server'))('writes whose bodies use the same memory', () => {
  const clock = systemClock();
  let directory: string;
  let parts: OpenParts;
  let log: SharedLog;
  /** Writes that have begun to be stored, and what they wait for. */
  let arrived: number;
  let goesOn: Deferred;
  /** What a reader has that has not begun to read. */
  let given: PointBatch[];
  let url: string;

  beforeEach(async () => {
    directory = await makeDirectory();
    parts = new OpenParts();
    parts.add(() => removeDirectory(directory));
    const server = await TestCoordinator.start();
    parts.add(() => server.close());
    const names = { urls: [server.url], login: '', name: 'c', replicas: 1 };
    const coordinator = await NatsCoordinator.open(names);
    parts.add(() => coordinator.close());
    log = coordinator.points;
    arrived = 0;
    goesOn = deferred();
    given = [];
    const term = new AbortController();
    parts.add(() => term.abort());
    const points = new PointLog({
      log: {
        ends: () => log.ends(),
        append: async (bytes, options) => {
          arrived++;
          await goesOn.promise;
          return log.append(bytes, options);
        },
        read: (options) => log.read(options),
        purge: (before, signal) => log.purge(before, signal),
        bytesMax: RECORD_BYTES,
      },
      clock,
      logger: () => undefined,
      build: THIS_BUILD,
      level: () => 2,
      unreadable: new UnreadablePoints(directory, () => undefined),
      isLeading: () => true,
      signal: term.signal,
    });
    await points.begin();
    points.open((batch) => Promise.resolve(void given.push(batch)));
    parts.add(() => points.close());
    const { config } = resolveEngineConfig([{ source: 'test', values: { data_dir: directory } }]);
    const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    const standIn = await openStandIn(
      {
        config,
        clock,
        log: quiet,
        logs: new LogHub(quiet, clock, 'off'),
        environment: {},
        skipsOverrides: true,
        ownDatabase: undefined,
        secret: 'secret',
        points,
        copy: () => undefined,
      },
      parts,
    );
    const listener = createServer((request, response) => standIn.answer(request, response));
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    parts.add(() => void listener.close());
    url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  });
  afterEach(() => parts.close());

  async function write(lines: readonly string[]): Promise<number> {
    const path = '/engine/v1/write?db=d&rp=r';
    const { status } = await fetch(url + path, { method: 'POST', body: lines.join('\n') });
    return status;
  }

  async function logged(): Promise<readonly string[]> {
    const { first, last } = await log.ends();
    const { signal } = new AbortController();
    const lines: string[] = [];
    for await (const { bytes } of log.read({ first, through: last, signal }))
      lines.push(...Buffer.from(bytes).toString().trimEnd().split('\n'));
    return lines;
  }

  test('reach the log and its readers as they were sent, whatever is refused between them', async () => {
    const first = write(linesOf('a'));
    await expect.poll(() => arrived).toBe(1);
    const second = write(linesOf('b'));
    await expect.poll(() => arrived).toBe(2);
    const refused = await write([...linesOf('c'), 'm v=']);
    goesOn.resolve();
    const statuses = [await first, await second, refused, await write(linesOf('d'))];

    expect(statuses).toEqual([204, 204, 400, 204]);
    const of = (lines: readonly string[], name: string): readonly string[] =>
      lines.filter((line) => line.startsWith(`m,client=${name} `));
    const stored = await logged();
    await expect.poll(() => given.reduce((sum, { rowCount }) => sum + rowCount, 0)).toBe(3 * ROWS);
    const read = given.flatMap((batch) =>
      Array.from(recordedPoints(batch, new Set()), ({ line }) => line),
    );
    for (const lines of [stored, read]) {
      expect(lines).toHaveLength(3 * ROWS);
      for (const name of ['a', 'b', 'd']) expect(of(lines, name)).toEqual(linesOf(name));
    }
  });
});
