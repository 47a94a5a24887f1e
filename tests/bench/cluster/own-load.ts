// Loads points through the service. BENCH_CLIENTS (4).
import { costOf, post } from './cluster-service.ts';
import type { ClusterService, Cost } from './cluster-service.ts';

export const CLIENTS = Number(process.env['BENCH_CLIENTS'] ?? 4);

/** So many clients, each with one request after the other; the bodies are there before. */
export function loadSlice(service: ClusterService, bodies: readonly Buffer[]): Promise<Cost> {
  let next = 0;
  return costOf(service, () =>
    Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        while (next < bodies.length)
          await post(`${service.tsdb}/write?db=d&precision=s`, bodies[next++]!);
      }),
    ),
  );
}
