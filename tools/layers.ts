// Which package may import which, and inside a package which folder, read from the maps in
// ARCHITECTURE.md, and the lint rules that enforce it.

/** A name of a map: a package, or a folder or file of its `src`, and what it may import. */
export type Layer = { readonly name: string; readonly imports: readonly string[] };

/** The maps: of all packages, and of the folders of those packages that have one. */
export type Maps = {
  readonly packages: readonly Layer[];
  readonly folders: ReadonlyMap<string, readonly Layer[]>;
};

const FOLDERS_HEADING = /^### Folders of `([\w-]+)`$/gm;
const ROW = /^\| (`[^|]*`) \| ([^|]*) \|/gm;
const NAME = /`([\w.-]+)`/g;
/** A cell that is spared naming every row. */
const ALL_ABOVE = 'all above';
const SCOPE = '@tidemark/';

/** Throws when a row names something that is not above it. */
export function mapsOf(architecture: string): Maps {
  const folders = [...architecture.matchAll(FOLDERS_HEADING)].map(
    ({ 0: heading, 1: name = '' }) => [name, rowsAfter(architecture, heading)] as const,
  );
  return { packages: rowsAfter(architecture, '## The map'), folders: new Map(folders) };
}

/**
 * Rows of the first table after a heading. A row of several names gives each of them the same
 * imports.
 */
function rowsAfter(architecture: string, heading: string): readonly Layer[] {
  const section = architecture.slice(architecture.indexOf(`${heading}\n`));
  const table = section.split('\n\n').find((block) => block.startsWith('|')) ?? '';
  const layers: Layer[] = [];
  for (const [, names = '', cell = ''] of table.matchAll(ROW)) {
    const above = layers.map(({ name }) => name);
    const imports = cell === ALL_ABOVE ? above : namesIn(cell);
    const unknown = imports.find((each) => !above.includes(each));
    if (unknown !== undefined) {
      throw new Error(`${names} imports ${unknown}, which is not above it`);
    }
    layers.push(...namesIn(names).map((name) => ({ name, imports })));
  }
  return layers;
}

function namesIn(cell: string): readonly string[] {
  return [...cell.matchAll(NAME)].map(([, name = '']) => name);
}

/** `.oxlintrc.layers.json`. The last package is the one that only tests import. */
export function lintRules({ packages, folders }: Maps): string {
  const overrides = packages.slice(0, -1).flatMap((layer) => {
    const { paths, patterns } = packageRules(layer, packages);
    const source = `packages/${layer.name}/src`;
    const rows = folders.get(layer.name) ?? [];
    return [
      override([`${source}/**/*.ts`, `${source}/**/*.tsx`], { paths, patterns }),
      // The last override that fits a file is the only one, so that it says what holds for its
      // package too.
      ...rows.map((row) =>
        override(filesOf(source, row.name), {
          paths,
          patterns: [...patterns, ...folderRules(row, { rows, packageName: layer.name })],
        }),
      ),
    ];
  });
  const document = { $schema: './node_modules/oxlint/configuration_schema.json', overrides };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

type Rules = { readonly paths: readonly object[]; readonly patterns: readonly object[] };

function override(files: readonly string[], rules: Rules): object {
  return { files, rules: { 'no-restricted-imports': ['error', rules] } };
}

function packageRules({ name, imports }: Layer, packages: readonly Layer[]): Rules {
  const message = `${name} may not import this package (ARCHITECTURE.md, map).`;
  const forbidden = packages.map((each) => each.name).filter((each) => !imports.includes(each));
  // Further entries of packages, such as `@tidemark/ui/part`.
  const group = forbidden.filter((each) => each !== name).map((each) => `${SCOPE}${each}/*`);
  return {
    paths: forbidden.map((each) => ({ name: SCOPE + each, message })),
    patterns: [
      {
        group: ['../../*/src/*', '../../../*/src/*'],
        message: 'Import another package by its name.',
      },
      ...(group.length === 0 ? [] : [{ group, message }]),
    ],
  };
}

/** A row with a file ending is that file, any other the folder with all folders in it. */
function filesOf(source: string, name: string): readonly string[] {
  if (isFile(name)) return [`${source}/${name}`];
  return [`${source}/${name}/**/*.ts`, `${source}/${name}/**/*.tsx`];
}

/**
 * Imports inside a package are relative, so that each begins with steps up to `src` and goes on
 * with a row's name.
 */
function folderRules(
  { name, imports }: Layer,
  { rows, packageName }: { readonly rows: readonly Layer[]; readonly packageName: string },
): readonly object[] {
  const forbidden = rows
    .map((row) => row.name)
    .filter((each) => each !== name && !imports.includes(each));
  if (forbidden.length === 0) return [];
  const names = forbidden.map((each) => each.replaceAll('.', '\\.') + (isFile(each) ? '$' : '/'));
  const up = isFile(name) ? '\\./' : '(\\.\\./)+';
  return [
    {
      regex: `^${up}(${names.join('|')})`,
      message: `${name} may not import this folder (ARCHITECTURE.md, folders of ${packageName}).`,
    },
  ];
}

function isFile(name: string): boolean {
  return /\.tsx?$/.test(name);
}
