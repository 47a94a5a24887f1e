// Formats what the formatter cannot read (AssemblyScript), and lists the lines of sources that are
// wider than 100 columns; `--check` changes nothing.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

import { parseSync } from 'oxc-parser';
import { format } from 'oxfmt';

/** Columns that a line has at most. */
const WIDTH = 100;
const ASSEMBLY = 'packages/kernels/assembly/';
const SOURCES = ['*.ts', '*.tsx', '*.mjs', '*.cjs', '*.js'];
/** Texts and patterns: a line may be wider by them, since they cannot be broken. */
const LITERALS: ReadonlySet<string> = new Set(['Literal', 'TemplateLiteral', 'JSXText']);

/** Its decorators of functions are comments for the formatter. */
async function formatAssembly(file: string, text: string): Promise<string> {
  const hidden = text.replace(/^(\s*)@(\w+)$/gm, '$1//@$2');
  const { code, errors } = await format(file, hidden, { printWidth: WIDTH, singleQuote: true });
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]!.message}`);
  return code.replace(/^(\s*)\/\/@(\w+)$/gm, '$1@$2');
}

/** Numbers (from 1) of the lines that are wider, beside their literals. */
function wideLines(file: string, text: string): readonly number[] {
  const lines = text.split('\n');
  const excess = lines.map((line) => width(line) - WIDTH);
  if (!excess.some((columns) => columns > 0)) return [];
  // Decorators of functions are none of the grammar's.
  const plain = text.replace(/^\s*@\w+(\([^)\n]*\))?/gm, (all) => all.replace(/[^\n]/g, ' '));
  const { program, errors } = parseSync(file, plain);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]!.message}`);
  forEachLiteral(program, ({ start, end }) => {
    const first = text.slice(0, start).split('\n').length - 1;
    text
      .slice(start, end)
      .split('\n')
      .forEach((part, i) => (excess[first + i]! -= width(part)));
  });
  return excess.flatMap((columns, i) => (columns > 0 ? [i + 1] : []));
}

/** Characters, as an editor counts them. */
function width(line: string): number {
  return [...line].length;
}

type Span = { readonly start: number; readonly end: number };

function forEachLiteral(value: unknown, see: (literal: Span) => void): void {
  if (typeof value !== 'object' || value === null) return;
  if ('type' in value && LITERALS.has(String(value.type))) see(value as unknown as Span);
  else for (const child of Object.values(value)) forEachLiteral(child, see);
}

/** Of the repository, with what is not committed yet. */
function sourceFiles(): readonly string[] {
  const options = ['ls-files', '--cached', '--others', '--exclude-standard', ...SOURCES];
  const listed = execFileSync('git', options, { encoding: 'utf8' }).split('\n');
  // Recorded cases are kept as they were brought.
  const isOurs = (file: string): boolean => !/\.gen\.|^tests\/compat\/[^/]*\.mjs$/.test(file);
  return [...new Set(listed)].filter((file) => file !== '' && isOurs(file) && existsSync(file));
}

const isCheck = process.argv.includes('--check');
for (const file of sourceFiles()) {
  const before = readFileSync(file, 'utf8');
  const text = file.startsWith(ASSEMBLY) ? await formatAssembly(file, before) : before;
  const left = wideLines(file, text);
  if (text !== before && !isCheck) writeFileSync(file, text);
  const isChanged = isCheck && text !== before;
  if (!isChanged && left.length === 0) continue;
  process.exitCode = 1;
  const what = isChanged ? 'is not formatted' : `has wider lines: ${left.join()}`;
  console.error(`${file} ${what}; lines end at ${WIDTH} columns, see \`npm run format\``);
}
