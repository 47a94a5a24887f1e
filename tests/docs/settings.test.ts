// Settings that texts, limits and documents name exist; settings that exist are read.
import { readdirSync, readFileSync } from 'node:fs';

import type { SettingLimit } from '@tidemark/core';
import { ENGINE_CONFIG_SCHEMA } from '@tidemark/engine';
import type { ConfigSchema } from '@tidemark/settings';
import { TSDB_CONFIG } from '@tidemark/tsdb';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const schemas: readonly ConfigSchema[] = [TSDB_CONFIG, ENGINE_CONFIG_SCHEMA];

test('a limit that names a setting is the default of that setting', async () => {
  const limitFiles = sources().filter((file) => file.endsWith('/limits.ts'));
  const limits = (await Promise.all(limitFiles.map(limitsOf))).flat();

  const wrong = limits.filter(({ setting, value }) => !fallbacksOf(setting).includes(value));

  expect(limits.length).toBeGreaterThan(10);
  expect(wrong).toEqual([]);
});

test('settings that sources and documents name are keys of a configuration', () => {
  const sections = [...new Set(schemas.flatMap((schema) => Object.keys(schema)))].filter(
    (name) => name !== '',
  );
  const mention = new RegExp(
    String.raw`(?<![\w./-])((?:${sections.join('|')})\.[a-z][a-z0-9]*(?:-[a-z0-9]+)+)(?![\w./-]*\()`,
    'g',
  );
  const unknown = [...sources(), ...documents()].filter(namesOurSettings).flatMap((file) =>
    [...textOf(file).matchAll(mention)]
      .map((match) => match[1] ?? '')
      .filter((path) => fallbacksOf(path).length === 0)
      .map((path) => `${file}: ${path}`),
  );

  expect(unknown).toEqual([]);
});

test('every key is read by something', () => {
  const code = sources()
    .filter((file) => !/\/(config-sections|schema|settings)\.ts$/.test(file))
    .map(textOf)
    .join('\n');
  const unread = schemas.flatMap((schema) =>
    Object.entries(schema).flatMap(([section, { options }]) =>
      Object.entries(options)
        .filter(([, { doc }]) => !/^(Accepted for old files|Has no effect)/.test(doc))
        .map(([name, { type }]) => ({ path: `${section}.${name}`, name, type }))
        .filter(({ name, type }) => !readingOf(name, type).test(code))
        .map(({ path }) => path),
    ),
  );

  expect(unread).toEqual([]);
});

/**
 * Ways in which code reads a key: as a property of the resolved configuration, or by its name,
 * which in front of a colon only describes it.
 */
function readingOf(name: string, type: string): RegExp {
  const camel = name.replace(/[-_]([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  const unit = type === 'duration' ? 'Ms' : type === 'size' ? 'Bytes' : '';
  return new RegExp(
    String.raw`\.(?:${camel}${unit}|${name})\b|\b${camel}${unit}(?:,| })|'${name}'(?!:)`,
  );
}

/** Defaults of a key `section.key` in the schemas that have it. */
function fallbacksOf(path: string): readonly unknown[] {
  const dot = path.indexOf('.');
  return schemas.flatMap((schema) => {
    const options = schema[path.slice(0, dot)]?.options ?? {};
    const key = path.slice(dot + 1);
    return Object.hasOwn(options, key) ? [options[key]?.default] : [];
  });
}

async function limitsOf(file: string): Promise<readonly SettingLimit[]> {
  const module: unknown = await import(new URL(file, root).href);
  return settingLimits(module);
}

function settingLimits(value: unknown): readonly SettingLimit[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('setting' in value && 'reason' in value) return [value as SettingLimit];
  return Object.values(value).flatMap(settingLimits);
}

/** The converter of configurations names keys of other products. */
function namesOurSettings(file: string): boolean {
  return file !== 'packages/cli/src/config/convert.ts';
}

/** The shipped source files, without tests. */
function sources(): readonly string[] {
  return filesIn('packages').filter(
    (file) => /^packages\/[\w-]+\/src\/.*\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file),
  );
}

function documents(): readonly string[] {
  const pages = [...filesIn('docs'), 'README.md', 'ARCHITECTURE.md', 'SECURITY.md'];
  return pages.filter((file) => file.endsWith('.md'));
}

function filesIn(folder: string): readonly string[] {
  const found = readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' });
  return found.map((name) => `${folder}/${name}`);
}

function textOf(file: string): string {
  return readFileSync(new URL(file, root), 'utf8');
}
