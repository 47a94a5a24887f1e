// Request and response bodies of the web application's server.
import type { IncomingMessage, ServerResponse } from 'node:http';

import { SECURITY_HEADERS } from './ui-files.ts';

export function sendError(response: ServerResponse, status: number, message: string): void {
  sendJson(response, status, { error: message });
}

export function sendJson(response: ServerResponse, status: number, json: object): void {
  const body = JSON.stringify(json);
  response.writeHead(status, {
    ...SECURITY_HEADERS,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}

/** A small body; `undefined` for one that is too large. */
export async function readText(request: IncomingMessage, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > bytesMax) return '';
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
