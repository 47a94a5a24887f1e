// Formats the logger's JSON objects as readable lines, or as `key=value` for tools.

type Entry = Readonly<Record<string, unknown>>;

/** Formats a line of JSON. */
export type LogForm = (line: string) => string;

/** `2024-05-01 10:11:12 INFO listening urls=["http://…"]`, followed by the stack of a bug. */
export const textForm: LogForm = (line) => {
  const { time, level, msg, ...fields } = parse(line);
  const shown = String(time).replace('T', ' ').slice(0, 'YYYY-MM-DD HH:MM:SS'.length);
  const values = pairs(fields);
  const stack = level === 'fatal' ? `\n${stackOf(fields['err'])}` : '';
  const text = `${shown} ${String(level).toUpperCase().padEnd(5)} ${String(msg ?? '')}`;
  return `${values === '' ? text : `${text}  ${values}`}${stack}\n`;
};

/** `ts=2024-05-01T10:11:12.123Z lvl=info msg=listening urls=…`. */
export const logfmtForm: LogForm = (line) => {
  const { time, level, msg, ...fields } = parse(line);
  return `${pairs({ ts: time, lvl: level, msg: msg ?? '', ...fields })}\n`;
};

const parse = (line: string): Entry => JSON.parse(line) as Entry;

function pairs(fields: Entry): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}=${quoted(shown(name, value))}`)
    .join(' ');
}

function shown(name: string, value: unknown): string {
  if (name === 'err' && typeof value === 'object' && value !== null && 'message' in value)
    return String(value.message);
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

const quoted = (text: string): string =>
  text === '' || /[\s"=\p{Cc}]/u.test(text) ? JSON.stringify(text) : text;

const stackOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'stack' in error ? String(error.stack) : '';
