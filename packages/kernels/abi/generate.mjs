// Generates both sides of the border from its description: constants, records, areas and exports.
// `node abi/generate.mjs` writes the files; the build compares them (build.mjs), and
// src/abi.test.ts compares the description with the compiled module.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { AREAS } from './areas.mjs';
import { GROUPS, NUMBERS } from './constants.mjs';
import { EXPORTS } from './exports.mjs';
import { RECORDS, WINDOW_RESULTS } from './records.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const HEADER = '// Generated from abi/ by `npm run abi -w @tidemark/kernels`; do not edit.\n';
const LINE_MAX = 100;
const SIZES = { u32: 4, i64: 8 };

const groups = [
  ...GROUPS,
  {
    name: 'WINDOW_RESULTS',
    prefix: 'RESULT',
    type: 'u32',
    doc: 'What can be asked of windows.',
    values: Object.fromEntries(WINDOW_RESULTS.map((name, code) => [name, code])),
  },
];

const areaNames = Object.keys(AREAS);

/** Every generated file by its path in the package. */
export function generatedFiles() {
  return new Map([
    ['assembly/abi.gen.ts', assemblyConstants()],
    ['assembly/index.gen.ts', assemblyExports()],
    ['src/abi.gen.ts', loaderConstants()],
    ['src/kernel-exports.gen.ts', loaderExports()],
  ]);
}

/** Generated files that differ from the description. */
export function outdatedFiles() {
  return [...generatedFiles()].filter(([path, text]) => readOptional(path) !== text).map(first);
}

/** Name, parameters and result of an export, each with its type. */
export function parseSignature(signature) {
  const parts = /^(\w+)\((.*)\): (\w+)$/.exec(signature);
  if (parts === null) throw new Error(`an export is \`name(a: type): type\`. export=${signature}`);
  const [, name, list, result] = parts;
  const parameters = list === '' ? [] : list.split(', ').map((parameter) => parameter.split(': '));
  return { name, parameters, result };
}

/** Offset of each field, and the size of the record. */
function layOut(fields) {
  let at = 0;
  const offsets = Object.entries(fields).map(([name, type]) => {
    const size = SIZES[type];
    const offset = Math.ceil(at / size) * size;
    at = offset + size;
    return [name, offset];
  });
  const alignment = Math.max(...Object.values(fields).map((type) => SIZES[type]));
  return { offsets, sizeBytes: Math.ceil(at / alignment) * alignment };
}

function assemblyConstants() {
  const lines = [HEADER];
  for (const { prefix, type, doc, values } of groups) {
    lines.push(...comment(doc, '// '));
    for (const [name, value] of Object.entries(values)) {
      lines.push(`export const ${prefix}_${upper(name)}: ${type} = ${value};`);
    }
    lines.push('');
  }
  for (const { name, type, value, doc } of NUMBERS) {
    lines.push(...docComment(doc), `export const ${name}: ${type} = ${value};`);
  }
  for (const { name, doc, fields } of RECORDS) {
    const { offsets, sizeBytes } = layOut(fields);
    lines.push('', ...comment(doc, '// '));
    for (const [field, offset] of offsets) {
      lines.push(`export const ${name}_${upper(field)}: usize = ${offset};`);
    }
    lines.push(`export const ${name}_BYTES: usize = ${sizeBytes};`);
  }
  lines.push('', '// Scratch areas, see abi/areas.mjs.');
  areaNames.forEach((name, i) => {
    if (AREAS[name].owner === undefined) return;
    lines.push(`/** ${areaDoc(name)} */`, `export const AREA_${upper(name)}: u32 = ${i};`);
  });
  lines.push(`export const AREA_COUNT: u32 = ${areaNames.length};`, '');
  return lines.join('\n');
}

function assemblyExports() {
  const lines = [HEADER];
  for (const [module, signatures] of Object.entries(EXPORTS)) {
    lines.push('export {');
    for (const signature of signatures) lines.push(`  ${parseSignature(signature).name},`);
    lines.push(`} from './${module}';`);
  }
  return `${lines.join('\n')}\n`;
}

function loaderConstants() {
  const lines = [HEADER];
  for (const { name, doc, values } of groups) {
    lines.push(...docComment(doc), `export const ${name} = {`);
    for (const [key, value] of Object.entries(values)) lines.push(`  ${quoted(key)}: ${value},`);
    lines.push('} as const;', '');
  }
  for (const { name, value, doc } of NUMBERS) {
    lines.push(...docComment(doc), `export const ${name} = ${value};`);
  }
  for (const { name, doc, fields } of RECORDS) {
    const { offsets, sizeBytes } = layOut(fields);
    lines.push('', ...docComment(`${doc} Offsets in bytes.`), `export const ${name} = {`);
    for (const [field, offset] of offsets) lines.push(`  ${field}: ${offset},`);
    lines.push('} as const;', `export const ${name}_BYTES = ${sizeBytes};`);
  }
  lines.push('', '/** Scratch areas of the loader, see abi/areas.mjs. */');
  lines.push('export const Area = {');
  areaNames.forEach((name, i) => {
    if (AREAS[name].owner !== undefined) return;
    lines.push(`  /** ${areaDoc(name)} */`, `  ${name}: ${i},`);
  });
  lines.push('} as const;', 'export type Area = (typeof Area)[keyof typeof Area];', '');
  return lines.join('\n');
}

function loaderExports() {
  const lines = [
    HEADER,
    "import type { WasmMemory } from './web-assembly.ts';",
    '',
    ...docComment(
      'Exports of the compiled kernels. Addresses and sizes are unsigned 32-bit numbers, given as signed ones.',
    ),
    'export type KernelExports = {',
    '  readonly memory: WasmMemory;',
  ];
  for (const [module, signatures] of Object.entries(EXPORTS)) {
    lines.push(`  // ${module}`);
    for (const signature of signatures) {
      const { name, parameters, result } = parseSignature(signature);
      const list = parameters.map(
        ([parameter, type]) => `${parameter}: ${known(PARAMETERS, type)}`,
      );
      const line = `  ${name}(${list.join(', ')}): ${known(RESULTS, result)};`;
      if (line.length <= LINE_MAX) lines.push(line);
      else {
        lines.push(`  ${name}(`, ...list.map((parameter) => `    ${parameter},`));
        lines.push(`  ): ${known(RESULTS, result)};`);
      }
    }
  }
  lines.push('};', '');
  return lines.join('\n');
}

const NUMERIC = {
  u32: 'number',
  i32: 'number',
  usize: 'number',
  f64: 'number',
  i64: 'bigint',
  u64: 'bigint',
};
const PARAMETERS = { ...NUMERIC, bool: 'boolean' };
const RESULTS = { ...NUMERIC, bool: '0 | 1', void: 'void' };

/** A text as a comment that describes what follows it. */
function docComment(text) {
  const line = `/** ${text} */`;
  return line.length <= LINE_MAX ? [line] : ['/**', ...comment(text, ' * '), ' */'];
}

/** A text in lines that begin with `start`. */
function comment(text, start) {
  const lines = [];
  let line = start;
  for (const word of text.split(' ')) {
    if (line.length > start.length && line.length + word.length > LINE_MAX) {
      lines.push(line.trimEnd());
      line = start;
    }
    line += `${word} `;
  }
  return [...lines, line.trimEnd()];
}

function known(types, type) {
  if (types[type] === undefined) throw new Error(`exports have no such type. type=${type}`);
  return types[type];
}

function areaDoc(name) {
  const { lifetime, owner, holds } = AREAS[name];
  const text = `${holds[0].toUpperCase()}${holds.slice(1)}.`;
  return owner === undefined ? text : `${text} Of ${owner}: ${lifetime}.`;
}

/** `minTime` and `new-series` as constants are spelled. */
function upper(name) {
  return name.replaceAll('-', '_').replaceAll(/[A-Z]/g, '_$&').toUpperCase();
}

function quoted(key) {
  return key.includes('-') ? `'${key}'` : key;
}

function first([path]) {
  return path;
}

function readOptional(path) {
  try {
    return readFileSync(`${ROOT}${path}`, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, text] of generatedFiles()) writeFileSync(`${ROOT}${path}`, text);
}
