// Texts of the scripts that steps name, and what the specification says about defining and running
// them.
import type { DbrpSpec, ScriptSpec, VarsSpec } from './steps.ts';

/** How the engine shows a script. */
export function formatted(spec: ScriptSpec): string {
  switch (spec.form) {
    case 'stream':
      return streamScript(spec);
    case 'batch':
      return batchScript(spec);
    default:
      return broken(spec);
  }
}

/** How clients write it: the same script, badly laid out. */
export function written(spec: ScriptSpec): string {
  if (spec.form !== 'stream' && spec.form !== 'batch') return broken(spec);
  return formatted(spec)
    .replaceAll(/\n {8}/g, '\n  ')
    .replaceAll(/\n {4}/g, ' ');
}

function streamScript({ measurement, threshold, topic }: ScriptSpec): string {
  const limit = threshold === undefined ? 'var threshold int' : `var threshold = ${threshold}`;
  const source = `// the limit\n${limit}\n\nvar data = stream\n    |from()\n        .measurement('${measurement}')\n`;
  const output = `\ndata\n    |where(lambda: "v" != threshold)\n    |httpOut('out')\n`;
  if (topic === '') return source + output;
  const alert = [
    "    |alert()\n        .id('{{ .TaskName }}')",
    "        .message('{{ .Level }}')",
    '        .crit(lambda: "v" > threshold)',
    `        .topic('${topic}')\n`,
  ].join('\n');
  return `${source}${output}\ndata\n${alert}`;
}

function batchScript({ measurement, cluster }: ScriptSpec): string {
  return [
    `batch\n    |query('SELECT v FROM "d0"."r"."${measurement}"')`,
    '        .period(10s)',
    '        .every(100h)',
    `        .cluster('${cluster}')`,
    "    |httpOut('out')\n",
  ].join('\n');
}

function broken({ form }: ScriptSpec): string {
  switch (form) {
    case 'broken':
      return 'stream|from(';
    case 'unknown-node':
      return 'stream|from()|nope()';
    case 'sourceless':
      return 'var x = 1';
    default:
      return '';
  }
}

/** Variables that a script has, as the engine shows them of a template. */
export function varsOf(spec: ScriptSpec): Readonly<Record<string, object>> {
  if (spec.form !== 'stream') return {};
  const value = spec.threshold ?? null;
  return { threshold: { type: 'int', value, description: 'the limit' } };
}

/** Whether a template can have this script. */
export function isTemplateScript({ form }: ScriptSpec): boolean {
  return form === 'stream' || form === 'batch';
}

/** Whether vars can be read at all, whatever the script is. */
export function areVarsReadable(vars: VarsSpec | undefined): boolean {
  return Object.values(vars ?? {}).every(
    ({ type, value }) =>
      (type === 'int' && Number.isInteger(value)) ||
      (type === 'string' && typeof value === 'string'),
  );
}

/** Whether a task can be defined with this script and these vars. */
export function isDefinable(spec: ScriptSpec, vars: VarsSpec): boolean {
  if (!isTemplateScript(spec)) return false;
  if (spec.form === 'batch') return true;
  const given = vars['threshold'];
  return given === undefined ? spec.threshold !== undefined : given.type === 'int';
}

/** Whether a task starts: its query may ask only for what the task may access. */
export function isStartable(task: {
  readonly script: ScriptSpec;
  readonly dbrps: readonly DbrpSpec[];
}): boolean {
  return task.script.form === 'stream' || task.dbrps.some(({ db }) => db === 'd0');
}

/** The threshold that a stream task compares with. */
export function thresholdOf(spec: ScriptSpec, vars: VarsSpec): number {
  const given = vars['threshold']?.value;
  return typeof given === 'number' ? given : (spec.threshold ?? 0);
}
