// Routes that clients of InfluxDB 2 try.
import { sendError } from './answer.ts';
import type { Exchange } from './exchange.ts';

/** Flux is not supported; the answer names the alternative. */
export function handleFluxQuery(exchange: Exchange): void {
  sendError(
    exchange,
    403,
    'Flux is not supported. Send InfluxQL statements to /query, or a query file with content type application/vnd.influxql.',
  );
}
