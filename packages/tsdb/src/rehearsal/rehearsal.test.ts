import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { systemClock } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { openStorageInline } from '@tidemark/storage';
import { expect, test } from 'vitest';

import { startTestService } from '../testing.ts';
import type { TestService } from '../testing.ts';
import { RehearsalConnection } from './connection.ts';
import { Rehearsal } from './rehearsal.ts';
import { rehearsalStatements } from './script.ts';

/** Pauses of the rehearsal take no time; `onPause` is told about each. */
function clockOf(onPause: () => void): Clock {
  const pause = async (): Promise<void> => onPause();
  return { ...systemClock(), sleep: pause };
}

async function withDirectory(use: (directory: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-rehearsal-'));
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

/** A service, and a promise of the end of its rehearsal, which has the last word when it fails. */
async function startRehearsing(): Promise<{ service: TestService; ended: Promise<void> }> {
  let onEnd = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    onEnd = resolve;
  });
  const service = await startTestService({ rehearsal: { rounds: 1, quietMs: 0, onEnd } });
  return { service, ended };
}

test('every rehearsed statement is answered, nothing of it can be seen, and it meets no real points', async () => {
  const { service, ended } = await startRehearsing();
  try {
    await service.query('CREATE DATABASE rehearsal');
    await service.write('cpu,host=mine busy=7i 1', { db: 'rehearsal' });
    await ended;

    expect(service.logged.filter((line) => /the rehearsal|SELECT/.test(line))).toEqual([]);
    const counters = JSON.stringify((await service.get('/debug/vars')).json);
    expect(counters).toContain('"queryReq":1');
    expect(counters).toContain('"queriesExecuted":1');
    expect(counters).toContain('"pointReq":1');
    const { text } = await service.query(
      'SELECT count(busy) FROM cpu; SHOW TAG VALUES WITH KEY = host',
      { db: 'rehearsal', epoch: 'ns' },
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

test('a request ends it between two statements until it is quiet again, closing ends it there', async () => {
  await withDirectory(async (directory) => {
    const events: string[] = [];
    let requests = 0;
    const rehearsal: Rehearsal = new Rehearsal({
      clock: clockOf(() => events.push('pause')),
      openStorage: () => openStorageInline({ directory, hasBackgroundWork: false }),
      serve: () => (_request, response) => {
        events.push('statement');
        if (events.length === 4) requests++;
        if (events.length === 8) void rehearsal.close();
        response.end();
      },
      requests: { count: () => requests, isActive: () => false },
      rounds: 1,
    });

    await rehearsal.run();

    const asked = ['statement', 'statement', 'statement'];
    expect(events).toEqual(['pause', ...asked, 'pause', ...asked]);
    expect(rehearsalStatements(0).length).toBeGreaterThan(events.length);
  });
});

test('a statement that fails ends it with a reason', async () => {
  await withDirectory(async (directory) => {
    const rehearsal = new Rehearsal({
      clock: clockOf(() => undefined),
      openStorage: () => openStorageInline({ directory, hasBackgroundWork: false }),
      serve: () => (_request, response) => {
        response.statusCode = 400;
        response.end();
      },
      requests: { count: () => 0, isActive: () => false },
    });

    await expect(rehearsal.run()).rejects.toThrow('status=400');
  });
});

test('a server sees a request of the connection as any other', async () => {
  const seen: (string | undefined)[] = [];
  const connection = new RehearsalConnection((request, response) => {
    seen.push(request.method, request.url, request.headers.host);
    response.statusCode = 204;
    response.end();
  });

  expect(await connection.get('/a?b=c')).toBe(204);
  expect(await connection.get('/d')).toBe(204);
  connection.close();

  expect(seen).toEqual(['GET', '/a?b=c', 'rehearsal', 'GET', '/d', 'rehearsal']);
});
