// Multipart forms, for statements that are sent as a file. Bounded by the body's limit; nothing is written to disk.
import { Parameters } from './parameters.ts';
import { LIMITS } from '../limits.ts';

/** The boundary of a `multipart/form-data` content type. */
export function multipartBoundary(contentType: string): string | undefined {
  if (!/^multipart\/form-data\b/i.test(contentType)) return undefined;
  const match = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType);
  return match?.[1] ?? match?.[2];
}

/** The fields of a form by name. Files count as fields. Parts that make no sense are left out. */
export function parseMultipart(body: Uint8Array, boundary: string): Parameters {
  const parameters = new Parameters();
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  const parts = text.split(`--${boundary}`).slice(1, LIMITS.multipartParts.value + 1);
  for (const part of parts) {
    if (part.startsWith('--')) break;
    const headerEnd = part.indexOf('\r\n\r\n');
    if (headerEnd < 0) continue;
    const disposition = /^content-disposition:(.*)$/im.exec(part.slice(0, headerEnd))?.[1] ?? '';
    const name = /;\s*name="((?:[^"\\]|\\.)*)"/i.exec(disposition)?.[1];
    if (name === undefined) continue;
    parameters.add(name.replace(/\\(.)/g, '$1'), part.slice(headerEnd + 4).replace(/\r\n$/, ''));
  }
  return parameters;
}
