// Which services respond. A request that finds a service unreachable reports it here; the service
// is then polled until it is back, and data from it is loaded again. Typed text stays.
import { effect, signal } from '@preact/signals';

import { SERVER_PATH } from './paths.ts';

export type Service = 'tsdb' | 'engine';

/** `absent`: the server of the page was started without the service. */
export type ServiceState = {
  readonly state: 'unknown' | 'up' | 'down' | 'absent';
  readonly version: string;
};

const UNKNOWN: ServiceState = { state: 'unknown', version: '' };

export const services = {
  tsdb: signal<ServiceState>(UNKNOWN),
  engine: signal<ServiceState>(UNKNOWN),
} as const;

/** Counts how often a service came back; resources load again when it grows. */
export const generation = signal(0);

const PINGS: Readonly<Record<Service, readonly [path: string, header: string]>> = {
  tsdb: ['api/tsdb/ping', 'x-tsdb-version'],
  engine: ['api/engine/engine/v1/ping', 'x-engine-version'],
};

const RETRY_MS = 1000;
const CHECK_MS = 10_000;

/** Reports that a call got no answer from a service. */
export function markDown(service: Service): void {
  if (services[service].value.state !== 'down') {
    services[service].value = { state: 'down', version: '' };
  }
}

async function check(service: Service): Promise<void> {
  const before = services[service].value;
  const [path, header] = PINGS[service];
  let now: ServiceState = { state: 'down', version: '' };
  try {
    const response = await fetch(SERVER_PATH + path);
    // This response means that the server was started without the service; only a restart changes
    // that.
    const isAbsent = response.status === 502 && (await response.text()).includes('not run here');
    if (isAbsent) now = { state: 'absent', version: '' };
    else if (response.ok || response.status === 401) {
      now = { state: 'up', version: response.headers.get(header) ?? '' };
    }
  } catch {
    // No answer at all: down, as assumed.
  }
  if (now.state !== before.state || now.version !== before.version) services[service].value = now;
  if (before.state === 'down' && now.state === 'up') generation.value++;
}

/** Polls both services occasionally, and often while one is down and the page is visible. */
export function startConnection(): void {
  for (const service of ['tsdb', 'engine'] as const) {
    let timer: number | undefined;
    const tick = async (): Promise<void> => {
      window.clearTimeout(timer);
      if (!document.hidden) await check(service);
      const isDown = services[service].value.state === 'down';
      timer = window.setTimeout(() => void tick(), isDown ? RETRY_MS : CHECK_MS);
    };
    effect(() => {
      // Also if a call discovered it rather than a tick.
      if (services[service].value.state === 'down') {
        window.clearTimeout(timer);
        timer = window.setTimeout(() => void tick(), RETRY_MS);
      }
    });
    // Somebody returns to the page: its state should be current.
    window.addEventListener('focus', () => void tick());
    void tick();
  }
}
