import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { expect, test } from 'vitest';

import { AREAS } from '../abi/areas.mjs';
import { EXPORTS } from '../abi/exports.mjs';
import { outdatedFiles, parseSignature } from '../abi/generate.mjs';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const WASM_TYPES: Readonly<Record<string, string>> = {
  bool: 'i32',
  i32: 'i32',
  u32: 'i32',
  usize: 'i32',
  i64: 'i64',
  u64: 'i64',
  f64: 'f64',
};

test('both sides are as the description has them', () => {
  expect(outdatedFiles()).toEqual([]);
});

test('the compiled module exports what the description says', () => {
  const described = Object.values(EXPORTS)
    .flat()
    .map((signature) => {
      const { name, parameters, result } = parseSignature(signature);
      const types = parameters.map(([, type]) => WASM_TYPES[type]);
      return `${name}(${types.join(' ')}) ${result === 'void' ? '' : WASM_TYPES[result]}`;
    });

  const compiled = exportedFunctions(readFileSync(join(PACKAGE, 'build/kernels.wasm')));

  expect(compiled.toSorted()).toEqual(described.toSorted());
});

test.each([
  ['src/abi.gen.ts', 'export const BLOCK_VALUES_MAX = ', '1'],
  ['assembly/abi.gen.ts', 'export const BLOCK_VALUES_MAX: u32 = ', '1'],
  ['src/kernel-exports.gen.ts', 'setTimes(unit: bigint', ', extra: number'],
])('a change of %s alone fails the build', async (file, before, inserted) => {
  const copy = await mkdtemp(join(tmpdir(), 'kernels-'));
  try {
    for (const part of ['abi', 'assembly', 'src', 'build.mjs', 'package.json']) {
      await cp(join(PACKAGE, part), join(copy, part), { recursive: true });
    }
    const path = join(copy, file);
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace(before, `${before}${inserted}`));

    const build = promisify(execFile)(process.execPath, [join(copy, 'build.mjs')]);

    await expect(build).rejects.toThrow(`npm run abi -w @tidemark/kernels\`. files=${file}`);
  } finally {
    await rm(copy, { recursive: true });
  }
});

test('an area of memory has one owner, and nobody else names it', () => {
  const sources = readdirSync(join(PACKAGE, 'assembly')).filter(
    (file) => !file.endsWith('.gen.ts'),
  );
  const users = new Map<string, string[]>();
  for (const file of sources) {
    const text = readFileSync(join(PACKAGE, 'assembly', file), 'utf8');
    for (const area of new Set(text.match(/\bAREA_[A-Z_]+\b/g))) {
      if (area === 'AREA_COUNT') continue;
      users.set(area, [...(users.get(area) ?? []), file.replace('.ts', '')]);
    }
  }
  const owned = Object.entries(AREAS).filter(([, { owner }]) => owner !== undefined);

  expect(Object.fromEntries(users)).toEqual(
    Object.fromEntries(
      owned.map(([name, { owner }]) => [
        `AREA_${name.replaceAll(/[A-Z]/g, '_$&').toUpperCase()}`,
        [owner],
      ]),
    ),
  );
});

/** Functions that a module exports, each as `name(types) type`. */
function exportedFunctions(module: Uint8Array): string[] {
  const sections = new Map<number, Reader>();
  const reader = new Reader(module.subarray(8));
  while (!reader.isAtEnd) sections.set(reader.byte(), new Reader(reader.take(reader.varint())));
  const types = sections.get(1)!.list((section) => {
    expect(section.byte()).toBe(0x60);
    const parameters = section.list((type) => VALUE_TYPES[type.byte()]);
    return `(${parameters.join(' ')}) ${section.list((type) => VALUE_TYPES[type.byte()]).join(' ')}`;
  });
  expect(sections.has(2)).toBe(false); // Nothing is imported, so that functions are counted from 0.
  const functions = sections.get(3)!.list((section) => types[section.varint()]!);
  return sections
    .get(7)!
    .list((section) => {
      const name = new TextDecoder().decode(section.take(section.varint()));
      const kind = section.byte();
      const index = section.varint();
      return kind === 0 ? [`${name}${functions[index]}`] : [];
    })
    .flat();
}

const VALUE_TYPES: Readonly<Record<number, string>> = { 0x7f: 'i32', 0x7e: 'i64', 0x7c: 'f64' };

/** Reads the binary format of WebAssembly. */
class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  byte(): number {
    return this.#bytes[this.#at++]!;
  }

  varint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  take(length: number): Uint8Array {
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  list<T>(read: (reader: Reader) => T): T[] {
    return Array.from({ length: this.varint() }, () => read(this));
  }
}
