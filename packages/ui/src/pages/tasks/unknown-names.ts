// Names in a script that the database does not have: databases, retention policies, measurements,
// tags and fields. A task with them starts, but never sees a point that it could react to.
import { buildPipeline, effectsOf, placeOf } from '@tidemark/pipeline';
import type { NodeSpec, ReadPoints, SpecValue } from '@tidemark/pipeline';
import type { ExpressionNode } from '@tidemark/tickscript';

import type { SourceFinding } from '../../editor/language.ts';
import { texts } from '../../texts/texts.ts';

const t = texts.tasks.unknown;

type Names = Promise<readonly string[]>;

/** What the database has. */
export type Schema = {
  readonly databases: () => Names;
  readonly policies: (database: string) => Names;
  readonly measurements: (database: string) => Names;
  readonly fields: (database: string, measurement: string) => Names;
  readonly tags: (database: string, measurement: string) => Names;
};

type Dbrp = { readonly db: string; readonly rp: string };

export type Unknown = {
  /** About the databases and retention policies of the task. */
  readonly dbrps: readonly string[];
  /** With their positions in the script. */
  readonly script: readonly SourceFinding[];
};

/** Which names the points at a node have. */
type Scope = { readonly fields: ReadonlySet<string>; readonly tags: ReadonlySet<string> };

/** Only of streams: the queries of batches are checked by their own editor. */
export async function unknownNames(
  script: string,
  typed: readonly Dbrp[],
  schema: Schema,
): Promise<Unknown> {
  const { pipeline } = buildPipeline(script);
  const declared = (pipeline?.dbrps ?? []).map(({ database, retentionPolicy }) => ({
    db: database,
    rp: retentionPolicy,
  }));
  const dbrps = [...typed, ...declared];
  const known = new Set(await schema.databases());
  const problems: string[] = [];
  for (const { db, rp } of dbrps) {
    if (!known.has(db)) problems.push(t.database(db));
    else if (!(await schema.policies(db)).includes(rp)) problems.push(t.policy(rp, db));
  }
  const found: SourceFinding[] = [];
  const databases = [...new Set(dbrps.map(({ db }) => db))].filter((db) => known.has(db));
  if (pipeline?.type === 'stream' && databases.length > 0) {
    for (const node of pipeline.nodes) {
      const { readsPoints } = effectsOf(node);
      if (readsPoints === undefined) continue;
      await checkRead(node, readsPoints, { nodes: pipeline.nodes, databases, schema, found });
    }
  }
  return { dbrps: problems, script: found };
}

type Check = {
  readonly nodes: readonly NodeSpec[];
  readonly databases: readonly string[];
  readonly schema: Schema;
  readonly found: SourceFinding[];
};

async function checkRead(
  node: NodeSpec,
  { database, measurement }: ReadPoints,
  check: Check,
): Promise<void> {
  const { schema } = check;
  if (database !== '' && !check.databases.includes(database)) {
    report(check, node, 'database', t.notOfTask(database));
    return;
  }
  const databases = database === '' ? check.databases : [database];
  const union = async (ask: (name: string) => Names): Promise<ReadonlySet<string>> =>
    new Set((await Promise.all(databases.map(ask))).flat());
  if (measurement !== '' && !(await union(schema.measurements)).has(measurement)) {
    report(check, node, 'measurement', t.measurement(measurement, databases.join(', ')));
    return;
  }
  const [fields, tags] = await Promise.all([
    union((name) => schema.fields(name, measurement)),
    union((name) => schema.tags(name, measurement)),
  ]);
  // Without points there is nothing to compare with.
  if (fields.size > 0) checkBelow(node, { fields, tags }, check);
}

function checkBelow(node: NodeSpec, scope: Scope, check: Check): void {
  const { groupsBy = [], keepsNames = false, makesNames = [] } = effectsOf(node);
  const missing = groupsBy.filter((name) => !scope.tags.has(name));
  if (missing.length > 0) {
    report(check, node, 'groupBy', missing.map((name) => t.tag(name)).join('; '));
  }
  checkField(node, scope, check);
  const names = new Set([...scope.fields, ...scope.tags, ...makesNames]);
  for (const value of valuesOf(node)) {
    if (value.kind !== 'lambda') continue;
    for (const { name, span } of referencesOf(value.expression)) {
      if (names.has(name)) continue;
      check.found.push({ ...span, message: t.name(name), severity: 'warning' });
    }
  }
  if (!keepsNames) return;
  for (const id of node.children) {
    const child = check.nodes[id];
    // Of nodes with several parents, the names of the others are not known here.
    const isOther = child === undefined || effectsOf(child).readsPoints !== undefined;
    if (!isOther && child.parents.length === 1) checkBelow(child, scope, check);
  }
}

function checkField(node: NodeSpec, { fields }: Scope, check: Check): void {
  const { field } = node.options as { readonly field?: unknown };
  if (typeof field !== 'string' || fields.has(field)) return;
  report(check, node, '', t.field(field));
}

function report(check: Check, node: NodeSpec, property: string, message: string): void {
  const { span, calls } = node;
  const place = placeOf({ span, properties: calls?.properties ?? [] }, { properties: [property] });
  check.found.push({ start: place.start, end: place.end, message, severity: 'warning' });
}

const valuesOf = ({ calls }: NodeSpec): readonly SpecValue[] => [
  ...(calls?.arguments ?? []),
  ...(calls?.properties ?? []).flatMap(({ values }) => values),
];

type Reference = Extract<ExpressionNode, { readonly kind: 'reference' }>;

/** Fields and tags of an expression, except those that it asks whether they are there. */
function referencesOf(node: ExpressionNode): readonly Reference[] {
  switch (node.kind) {
    case 'reference':
      return [node];
    case 'function':
      return node.name === 'isPresent' ? [] : node.arguments.flatMap(referencesOf);
    case 'unary':
      return referencesOf(node.operand);
    case 'binary':
      return [...referencesOf(node.left), ...referencesOf(node.right)];
    case 'lambda':
      return referencesOf(node.expression);
    default:
      return [];
  }
}
