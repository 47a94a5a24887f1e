// Answers of requests that no endpoint gets.
import type { ServerResponse } from 'node:http';
import { printJson } from '../formats/json.ts';

/** Ends a response with a line of JSON, beside the headers that are set. */
export function sendJson(response: ServerResponse, status: number, json: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(`${printJson(json)}\n`);
}
