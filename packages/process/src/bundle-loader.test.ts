import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, describe, expect, test } from 'vitest';

const LOADER = fileURLToPath(new URL('../boot/bundle-loader.cjs', import.meta.url));
const {
  CONTENT_ID_LENGTH: ID_LENGTH,
  PROGRAM_BEGIN,
  PROGRAM_END,
} = createRequire(import.meta.url)(LOADER) as {
  readonly CONTENT_ID_LENGTH: number;
  readonly PROGRAM_BEGIN: string;
  readonly PROGRAM_END: string;
};
const HEADER_LENGTH = ID_LENGTH + 4;
const directory = mkdtempSync(join(tmpdir(), 'tidemark-bundle-'));

afterAll(() => rmSync(directory, { recursive: true, force: true }));

type Loaded = { readonly answer: number; readonly isCached: boolean; readonly directory: string };

/** A program that answers a number, as the build writes it. */
function writeProgram(name: string, answer: number): void {
  const body = `exports.answer = () => ${answer}; exports.directory = tidemarkBundle.directory;`;
  const text = `${PROGRAM_BEGIN}${body}${PROGRAM_END}`;
  const id = createHash('sha256').update(text).digest('hex').slice(0, ID_LENGTH);
  writeFileSync(join(directory, `${name}.cjs`), `${text}//${id}`);
}

const codeFile = (name: string): string => join(directory, `${name}.use.code`);

/** Loads programs in a process of its own: V8 knows again what one process has compiled before. */
function load(names: readonly string[], flags: readonly string[] = []): readonly Loaded[] {
  const script = `
    const { loadBundle } = require(${JSON.stringify(LOADER)});
    const { writeFileSync, existsSync } = require('node:fs');
    const results = ${JSON.stringify(names)}.map((name) => {
      const program = loadBundle(${JSON.stringify(directory)}, name, 'use');
      const answer = program.exports.answer();
      const file = ${JSON.stringify(directory)} + '/' + name + '.use.code';
      if (!existsSync(file)) writeFileSync(file, program.compiledCode());
      return { answer, isCached: program.isCached, directory: program.exports.directory };
    });
    console.log(JSON.stringify(results));`;
  const output = execFileSync(process.execPath, [...flags, '-e', script], { encoding: 'utf8' });
  return JSON.parse(output) as Loaded[];
}

describe('a bundled program', () => {
  test('runs without kept code and knows where the bundle is; then runs kept code', () => {
    writeProgram('first', 41);
    expect(load(['first'])).toEqual([{ answer: 41, isCached: false, directory }]);
    expect(load(['first'])).toEqual([{ answer: 41, isCached: true, directory }]);
  });

  test('runs from its source under flags of V8 that change what is compiled', () => {
    writeProgram('flags', 41);
    load(['flags']);
    expect(load(['flags'], ['--max-lazy'])).toEqual([{ answer: 41, isCached: false, directory }]);
  });

  test('never runs kept code of another program of the same length, or damaged code', () => {
    const damages: readonly ((code: Buffer) => Buffer)[] = [
      (code) => code.subarray(0, 0),
      (code) => code.subarray(0, 8),
      (code) => code.subarray(0, ID_LENGTH),
      (code) => code.subarray(0, HEADER_LENGTH),
      (code) => code.subarray(0, code.length - 8),
      (code) => Buffer.concat([code.subarray(0, HEADER_LENGTH), Buffer.alloc(500, 7)]),
      (code) => flip(code, HEADER_LENGTH + 3),
      (code) => flip(code, code.length >> 1),
      (code) => flip(code, code.length - 1),
    ];
    const names = damages.map((_, index) => `damaged${index}`);
    for (const [index, name] of names.entries()) writeProgram(name, 100 + index);
    writeProgram('replaced', 41);
    load([...names, 'replaced']);
    for (const [index, name] of names.entries()) {
      const file = codeFile(name);
      writeFileSync(file, damages[index]?.(readFileSync(file)) ?? '');
    }
    writeProgram('replaced', 42);
    expect(load([...names, 'replaced'])).toEqual([
      ...names.map((_, index) => ({ answer: 100 + index, isCached: false, directory })),
      { answer: 42, isCached: false, directory },
    ]);
  });
});

function flip(code: Buffer, at: number): Buffer {
  const copy = Buffer.from(code);
  copy[at] = (copy[at] ?? 0) ^ 0x10;
  return copy;
}
