// How writes over HTTP appear in the log.
import { TestEngine } from '@tidemark/testkit/engine';
import { afterEach, beforeEach, expect, test } from 'vitest';

let engine: TestEngine;

beforeEach(() => {
  engine = new TestEngine();
});

afterEach(() => engine.close());

test.each([true, false])('bodies are logged when http.write-tracing is %s', async (on) => {
  await engine.start({ http: { 'write-tracing': on } });

  await engine.call('POST', '/engine/v1/write?db=d&rp=r', 'm v=12345');
  await engine.stop();

  expect(engine.log.filter((line) => line.includes('m v=12345'))).toHaveLength(on ? 1 : 0);
});
