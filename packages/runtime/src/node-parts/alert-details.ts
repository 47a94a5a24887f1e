// The default details of alerts: `{{ json . }}` printed into HTML. They are written directly,
// because the template was two thirds of the cost of an alert, mostly for names and texts that are
// the same in every alert of a series.
import { formatRfc3339 } from '@tidemark/core';
import type { Point } from '../data/point.ts';
import { jsonFloat, jsonString } from '../data/rows.ts';
import type { Field, Schema, Value } from '../data/schema.ts';
import { SchemaCache } from '../data/schema.ts';
import type { AlertLevelName } from '../services.ts';
import { templateJson } from '../template/functions.ts';
import { escapeText } from '../template/html.ts';
import { OUTPUT_LENGTH_MAX } from '../template/template.ts';
import type { TemplateStruct } from '../template/value.ts';

export type DetailsParts = {
  readonly point: Point;
  readonly level: AlertLevelName;
  readonly time: bigint;
  readonly durationNanos: bigint;
  readonly message: string;
};

/**
 * Larger floats are printed with an exponent, whose plus sign is escaped; infinities are quoted
 * texts.
 */
const EXPONENT_MIN = 1e21;

const FIELDS = escapeText(',"Fields":{');
const LEVEL = escapeText('},"Level":"');
const TIME = escapeText('","Time":"');
const DURATION = escapeText('","Duration":');
const MESSAGE = escapeText(',"Message":');

export class DetailsWriter {
  readonly #names = new SchemaCache(namesOf);

  /**
   * The prefix of the details of all alerts of a series: its part of the data, up to the fields.
   */
  start(common: TemplateStruct): string {
    return escapeText(templateJson(common).slice(0, -1));
  }

  /** `undefined` when the text is too long: the template reports it. */
  write(start: string, parts: DetailsParts): string | undefined {
    const fields = this.#fields(parts.point);
    const { level, time, durationNanos, message } = parts;
    const text = `${start}${FIELDS}${fields}${LEVEL}${level}${TIME}${formatRfc3339(time)}${DURATION}${durationNanos}${MESSAGE}${escapeText(jsonString(message))}}\n`;
    return text.length > OUTPUT_LENGTH_MAX ? undefined : text;
  }

  #fields(point: Point): string {
    const names = this.#names.get(point.schema);
    const { sorted } = point.schema;
    let text = '';
    for (let i = 0; i < sorted.length; i++) {
      text += `${names[i]}${escapedJson((sorted[i] as Field).read(point))}`;
    }
    return text;
  }
}

/** `"name":` for each field in order, with the comma before it. */
function namesOf(schema: Schema): readonly string[] {
  return schema.sorted.map(({ name }, i) =>
    escapeText(`${i === 0 ? '' : ','}${jsonString(name)}:`),
  );
}

function escapedJson(value: Value): string {
  switch (typeof value) {
    case 'number': {
      const text = jsonFloat(value);
      return Math.abs(value) < EXPONENT_MIN ? text : escapeText(text);
    }
    case 'string':
      return escapeText(jsonString(value));
    default:
      return String(value);
  }
}
