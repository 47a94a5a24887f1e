// Which package may import which, read from the map in ARCHITECTURE.md, and the lint rules that enforce it.

/** A row of the map: a package and what it may import. */
export type Layer = { readonly name: string; readonly imports: readonly string[] };

const ROW = /^\| `([\w-]+)` \| ([^|]*) \|/gm;
const SCOPE = '@tidemark/';

/** Rows of the map in their order. Throws when a row names a package that is not above it. */
export function layersOf(architecture: string): readonly Layer[] {
  const table = architecture.slice(architecture.indexOf('## The map')).split('\n\n')[2] ?? '';
  const above = new Set<string>();
  return [...table.matchAll(ROW)].map(([, name = '', cell = '']) => {
    const imports = [...cell.matchAll(/`([\w-]+)`/g)].map((match) => match[1] ?? '');
    const unknown = imports.find((each) => !above.has(each));
    if (unknown !== undefined) throw new Error(`${name} imports ${unknown}, which is not above it`);
    above.add(name);
    return { name, imports };
  });
}

/** `.oxlintrc.layers.json`. The last row is of the package that only tests import. */
export function lintRules(layers: readonly Layer[]): string {
  const overrides = layers.slice(0, -1).map(({ name, imports }) => ({
    files: [`packages/${name}/src/**/*.ts`, `packages/${name}/src/**/*.tsx`],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: layers
            .filter((layer) => !imports.includes(layer.name))
            .map((layer) => ({
              name: SCOPE + layer.name,
              message: `${name} may not import this package (ARCHITECTURE.md, map).`,
            })),
          patterns: [
            {
              group: ['../../*/src/*', '../../../*/src/*'],
              message: 'Import another package by its name.',
            },
            ...forbiddenPaths(name, imports, layers),
          ],
        },
      ],
    },
  }));
  const document = { $schema: './node_modules/oxlint/configuration_schema.json', overrides };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

/** Further entries of packages, such as `@tidemark/core/thread`. */
function forbiddenPaths(
  name: string,
  imports: readonly string[],
  layers: readonly Layer[],
): readonly object[] {
  const group = layers
    .filter((layer) => layer.name !== name && !imports.includes(layer.name))
    .map((layer) => `${SCOPE}${layer.name}/*`);
  const message = `${name} may not import this package (ARCHITECTURE.md, map).`;
  return group.length === 0 ? [] : [{ group, message }];
}
