import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { systemClock } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { openStorageInline } from '@tidemark/storage';
import { expect, test } from 'vitest';

import { startTestService } from '../testing.ts';
import type { TestOptions, TestService } from '../testing.ts';
import { WarmUpConnection } from './connection.ts';
import { WarmUp } from './warm-up.ts';
import type { WarmUpOptions } from './warm-up.ts';
import { BODIES, WARM_UP_DATABASES, warmUpStatements } from './script.ts';

/** Pauses of the warm-up take no time; `onPause` is told about each. */
function clockOf(onPause: () => void): Clock {
  const pause = async (): Promise<void> => onPause();
  return { ...systemClock(), sleep: pause };
}

async function withDirectory(use: (directory: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-warm-up-'));
  try {
    await use(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** The bytes of all files of a directory. */
function storedText(directory: string): string {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

/** A service, and a promise of the end of its warm-up, which has the last word when it fails. */
async function startWarmingUp(
  options: TestOptions = {},
): Promise<{ service: TestService; ended: Promise<void> }> {
  let onEnd = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    onEnd = resolve;
  });
  const service = await startTestService({
    ...options,
    warmUp: { rounds: 1, quietMs: 0, onEnd },
  });
  return { service, ended };
}

test('every statement of the warm-up is answered, nothing of it can be seen, and it meets no real points', async () => {
  const { service, ended } = await startWarmingUp();
  try {
    await service.query('CREATE DATABASE warm_up');
    await service.write('cpu,host=mine busy=7i 1', { db: 'warm_up' });
    await ended;

    expect(service.logged.filter((line) => /the warm-up|SELECT/.test(line))).toEqual([]);
    const counters = JSON.stringify((await service.get('/debug/vars')).json);
    expect(counters).toContain('"queryReq":1');
    expect(counters).toContain('"queriesExecuted":1');
    expect(counters).toContain('"pointReq":1');
    const { text } = await service.query(
      'SELECT count(busy) FROM cpu; SHOW TAG VALUES WITH KEY = host',
      { db: 'warm_up', epoch: 'ns' },
    );
    expect(text).toContain('[[0,1]]');
    expect(text).toContain('[["host","mine"]]');

    await service.stop();
    const stored = storedText(service.directory);
    expect(stored).toContain('mine');
    expect(stored).not.toContain('host_3');
  } finally {
    await service.close();
  }
});

test('limits of a user do not stop it, and what is told of slow queries does not tell of it', async () => {
  const { service, ended } = await startWarmingUp({
    logLevel: 'info',
    config: {
      coordinator: { 'log-queries-after': '1ns' },
      data: { 'max-series-per-database': 1, 'max-values-per-tag': 1 },
      http: { 'max-body-size': '1k', 'body-memory-limit': '1k' },
    },
  });
  try {
    await ended;

    expect(service.logged.filter((line) => JSON.parse(line).level > 30)).toEqual([]);
  } finally {
    await service.close();
  }
});

type Asked = { readonly events: string[]; readonly options: WarmUpOptions };

/** Starts a warm-up whose statements are answered by `onStatement` only. */
function asked(
  directory: string,
  onStatement: (response: ServerResponse) => void,
  more: Partial<WarmUpOptions> = {},
): Asked {
  const events: string[] = [];
  const server = createServer((request, response) => {
    events.push(request.method === 'GET' ? 'statement' : 'points');
    request.resume();
    if (request.method === 'GET') onStatement(response);
    response.end();
  });
  return {
    events,
    options: {
      clock: clockOf(() => events.push('pause')),
      openStorage: () => openStorageInline({ directory, hasBackgroundWork: false }),
      serve: () => (socket) => server.emit('connection', socket),
      requests: { count: () => 0, isActive: () => false },
      processorMs: () => 0,
      ...more,
    },
  };
}

test('a request ends it between two statements until it is quiet again, closing ends it there', async () => {
  await withDirectory(async (directory) => {
    let requests = 0;
    const { events, options } = asked(
      directory,
      () => {
        const statements = events.filter((event) => event === 'statement').length;
        if (statements === 3) requests++;
        if (statements === 6) void warmUp.close();
      },
      { requests: { count: () => requests, isActive: () => false }, rounds: 1 },
    );
    const warmUp: WarmUp = new WarmUp(options);

    await warmUp.run();

    const stored = Array.from({ length: BODIES * WARM_UP_DATABASES.length }, () => 'points');
    const statements = ['statement', 'statement', 'statement'];
    const began = ['pause', ...stored, ...statements];
    expect(events).toEqual([...began, ...began]);
    expect(warmUpStatements(0).length).toBeGreaterThan(6);
  });
});

test('it is over when it has used its processor time, of all its beginnings together', async () => {
  await withDirectory(async (directory) => {
    let requests = 0;
    let processorMs = 100_000;
    const { events, options } = asked(
      directory,
      () => {
        processorMs += 1_000;
        if (processorMs === 103_000) requests++;
      },
      {
        requests: { count: () => requests, isActive: () => false },
        processorMs: () => processorMs,
      },
    );

    await new WarmUp(options).run();

    expect(events.filter((event) => event === 'pause')).toHaveLength(2);
    expect(events.filter((event) => event === 'statement')).toHaveLength(5);
  });
});

test('a statement that fails ends it with a reason', async () => {
  await withDirectory(async (directory) => {
    const { options } = asked(directory, (response) => {
      response.statusCode = 400;
    });

    await expect(new WarmUp(options).run()).rejects.toThrow('status=400');
  });
});

test('a server sees a request of the connection as any other, by a socket of this machine', async () => {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.method, request.url, request.socket.remoteAddress);
    request.resume();
    response.statusCode = request.method === 'GET' ? 200 : 204;
    // Once with a length, once in chunks.
    if (request.url === '/a?b=c') response.end('answer');
    else if (request.method === 'GET') response.write('part');
    response.end();
  });
  const connection = await WarmUpConnection.open((socket) => server.emit('connection', socket));

  expect(await connection.get('/a?b=c')).toBe(200);
  expect(await connection.get('/d')).toBe(200);
  expect(await connection.post('/e', Buffer.from('body'))).toBe(204);
  connection.close();
  await expect(connection.get('/f')).rejects.toThrow('lost its connection');

  expect(seen).toEqual(
    ['/a?b=c', '/d', '/e'].flatMap((url) => [url === '/e' ? 'POST' : 'GET', url, '127.0.0.1']),
  );
});
