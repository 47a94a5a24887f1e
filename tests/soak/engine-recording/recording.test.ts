// The small form of `npm run soak:recording`.
import { removeDirectory, startTidemark } from '@tidemark/testkit';
import { expect, test } from 'vitest';
import { problemsOf, recordAndReplay } from './recording.ts';

test('every recorded point is replayed', { timeout: 120_000 }, async () => {
  const server = await startTidemark({ command: 'engine', args: ['--log-level', 'error'] });
  try {
    const result = await recordAndReplay(server, 20_000);
    expect(problemsOf(result, 512)).toEqual([]);
  } finally {
    await server.stop();
    await removeDirectory(server.directory);
  }
});

test('a point that is missing and memory beyond the budget are named', () => {
  const result = {
    points: 10,
    replayed: 9,
    fileBytes: 1,
    recordSeconds: 1,
    replaySeconds: 1,
    processorSeconds: 1,
    residentBefore: 100,
    residentRecording: 600,
    residentReplaying: 100,
  };

  expect(problemsOf(result, 512)).toEqual([
    '9 of 10 points were replayed',
    'residentRecording is 600 of 512 MiB',
  ]);
});
