// Requests with their responses, without values that differ from run to run: generated ids, times,
// addresses, numbers. If a request is repeated until something has happened, the last response
// counts.

type Answer = { readonly status: number; readonly body: unknown };

/** Their content says how the process is doing. */
const STATUS_ONLY = /debug\/|handlers\/.*\/state|storage\/backup|logs|:routes|metrics|openapi/;

/** Lists have what earlier sentences have made. */
const LISTS = ['tasks', 'templates', 'recordings', 'replays', 'topics', 'events', 'services'];

export class Exchanges {
  #answers = new Map<string, Answer>();

  /** Forgets what was noted before. */
  begin(): void {
    this.#answers = new Map();
  }

  note(method: string, path: string, answer: Answer): void {
    const request = constant(`${method} ${path}`);
    // In the order of the last answers.
    this.#answers.delete(request);
    this.#answers.set(request, answer);
  }

  taken(): readonly string[] {
    return [...this.#answers].map(([request, { status, body }]) => {
      const shown = STATUS_ONLY.test(request) ? '' : ` ${JSON.stringify(shapeOf(body))}`;
      return `${request} -> ${status}${shown}`;
    });
  }
}

function constant(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, 'UUID')
    .replaceAll(/row-\d+/g, 'ID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/127\.0\.0\.1:\d+/g, 'HOST')
    .replaceAll(/\/tmp\/[^"' ]+/g, 'FILE')
    .replaceAll(/="[^"]*"/g, '="…"')
    .replaceAll(/\d+(?:\.\d+)?(?:ns|µs|ms|s)\b/g, 'SPAN');
}

function shapeOf(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return constant(value);
  if (typeof value === 'number') return 'number';
  if (Array.isArray(value)) {
    const items = LISTS.includes(key) ? value.slice(0, 1) : value;
    return items.map((item: unknown) => shapeOf(item));
  }
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, each]) => [
    constant(name),
    // The counters so far.
    name === 'stats' ? Object.keys(each as object) : shapeOf(each, name),
  ]);
  return Object.fromEntries(members);
}
