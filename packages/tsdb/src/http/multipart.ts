// Multipart forms, for statements that are uploaded as a file. Limited like bodies; nothing is
// written to disk. An incomplete form is refused, because a truncated statement might do more than
// the whole one.
import { InvalidRequest } from '@tidemark/core';

import { LIMITS } from '../limits.ts';
import { Parameters } from './parameters.ts';

/** The boundary of a `multipart/form-data` content type; absent for other types. */
export function multipartBoundary(contentType: string): string | undefined {
  if (!/^multipart\/form-data\b/i.test(contentType)) return undefined;
  const match = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType);
  const boundary = match?.[1] ?? match?.[2];
  if (boundary === undefined) throw unusable('its content type names no boundary');
  return boundary;
}

/**
 * The fields of a form by name. Files count as fields; parts without a name are left out. Throws
 * InvalidRequest if the form does not end with its closing boundary, or has more parts than
 * `LIMITS.multipartParts`.
 */
export function parseMultipart(body: Uint8Array, boundary: string): Parameters {
  const parameters = new Parameters();
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  const [first, ...others] = findDelimiters(text, boundary);
  let start = first;
  for (const next of others) {
    if (start === undefined || start.isClosing) break;
    addPart(parameters, text.slice(start.end, next.start));
    start = next;
  }
  if (start?.isClosing !== true) {
    throw unusable(`it does not end with its closing boundary --${boundary}--`);
  }
  return parameters;
}

/**
 * A boundary on a line of its own; the line break before it belongs to it, the one after it does
 * not.
 */
type Delimiter = { readonly start: number; readonly end: number; readonly isClosing: boolean };

function findDelimiters(text: string, boundary: string): readonly Delimiter[] {
  const literal = boundary.replace(/[^\w]/g, String.raw`\$&`);
  const pattern = new RegExp(`(?:^|\r?\n)--${literal}(--)?[ \t]*(?=\r?\n|$)`, 'g');
  const delimiters: Delimiter[] = [];
  for (const match of text.matchAll(pattern)) {
    if (delimiters.length > LIMITS.multipartParts.value) {
      throw unusable(`it has more than ${LIMITS.multipartParts.value} parts`);
    }
    const isClosing = match[1] !== undefined;
    delimiters.push({ start: match.index, end: match.index + match[0].length, isClosing });
    if (isClosing) break;
  }
  return delimiters;
}

function addPart(parameters: Parameters, part: string): void {
  const separator = /\r?\n\r?\n/.exec(part);
  if (separator === null) throw unusable('a part has no empty line after its headers');
  const headers = part.slice(0, separator.index);
  const disposition = /^content-disposition:(.*)$/im.exec(headers)?.[1] ?? '';
  const match = /;\s*name=(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(disposition);
  const name = match?.[1]?.replace(/\\(.)/g, '$1') ?? match?.[2];
  if (name === undefined) return;
  parameters.add(name, part.slice(separator.index + separator[0].length));
}

function unusable(reason: string): InvalidRequest {
  return new InvalidRequest(`multipart form cannot be read: ${reason}; nothing was executed`);
}
